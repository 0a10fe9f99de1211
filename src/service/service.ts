import type { Channel } from '../contract/index.js';
import type { Administration } from './administration.js';
import type { ConfigurationSource } from './carriers/configured/configuration.js';
import type { Clock } from './clock.js';
import type { DataError } from './errors/data-error.js';
import type { Fault } from './report.js';
import type { SettingsPatch } from './settings.js';

export interface ServiceOptions {
  /** Folder of the durable data, created when missing; without it everything is in memory. */
  directory?: string;
  /**
   * A PostgreSQL database instead of a folder, for any number of instances: `postgres://user@host/name`. Whatever the
   * URL leaves out comes from the variables of libpq and its password file.
   */
  database?: string;
  /** 32 bytes that the database does not hold; the same in every instance. Required with `database`. */
  secret?: Uint8Array;
  /** Opens incomplete data as it is; without it, incomplete data is refused with DataError. */
  acceptData?: boolean;
  clock?: Clock;
  /** The file that configures the carriers; absent, the simulated operator takes everything. */
  configuration?: ConfigurationSource;
  /** Overrides the stored settings of all projects, in this service object. */
  settings?: SettingsPatch;
  /** `off` disables the request rate limits; `enforced` when absent. */
  rates?: 'enforced' | 'off';
  /** The same ids, keys and codes in every run that begins without data; never for real use. */
  seed?: string;
  /** Counts and measures, for listeners that show it. */
  metrics?: boolean;
  /** Called for every unexpected error, in a request or in the background; absent, they go to standard error. */
  report?(fault: Fault): void;
}

/** An answered request, as a log may keep it: without numbers, texts, codes and whole keys. */
export interface SeenRequest {
  request_id: string | null;
  method: string;
  /** `/v1/messages/:id`; null for no route. */
  route: string | null;
  /** Null where the connection was dropped. */
  status: number | null;
  /** Milliseconds. */
  ms: number;
  /** First 12 characters of the API key; null without a valid one. */
  key: string | null;
  /** Of the error that answered it. */
  code: string | null;
}

export interface ListenAddress {
  /** Loopback when absent. */
  host?: string;
  /** 0 takes a free one. */
  port?: number;
  /** PEM texts; plain HTTP when absent. */
  tls?: { cert: string; key: string };
  /** Called after every request. */
  log?(request: SeenRequest): void;
  /** Answers `GET /metrics` here, for anybody who can reach it; needs the option of the service. */
  metrics?: boolean;
  /** Serves the dashboard too; `publicUrl` is where people reach it, null for the address itself. */
  dashboard?: { publicUrl: string | null };
}

export interface Listening {
  /** Ends in `/v1`: the client's `baseUrl`. */
  url: string;
  /** Accepts no new connection, answers every request received, then resolves. */
  close(): Promise<void>;
}

export interface ServedListening extends Listening {
  /** Where people open the dashboard; null without it. */
  dashboard: string | null;
}

/** `url` is absolute: `http://embedded.invalid/v1/sms`. */
export interface PlainRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

/** Header names as on the wire. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Service {
  /** The service as a fetch function, for `new Urtuu(key, { fetch })`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The same without web objects, which take Node.js 20 16 ms to load. */
  exchange(request: PlainRequest): Promise<PlainAnswer>;
  listen(address?: ListenAddress): Promise<ServedListening>;
  /** Answers `GET /metrics`, and nothing else, on an address of its own; needs the option of the service. */
  listenForMetrics(address: { host: string; port: number }): Promise<Listening>;
  /** A key of the default project; in memory only, as long as this object lives. */
  readonly localKey: string;
  readonly administration: Administration;
  /** `off`: every send is refused. `real`: messages leave this machine. */
  readonly channels: Readonly<Record<Channel, 'simulated' | 'off' | 'real'>>;
  /** Resolves when a data file is lost or replaced; from then on every answer is 503 `unavailable`. */
  readonly lost: Promise<DataError>;
  /** Stops listening, finishes requests and messages in flight, and closes the data. */
  close(): Promise<void>;
}
