import type { Channel } from '../contract/index.js';
import type { Administration } from './administration.js';
import type { ConfigurationSource } from './carriers/configured/configuration.js';
import type { Clock } from './clock.js';
import type { DataError } from './errors/data-error.js';
import type { Fault } from './report.js';
import type { SettingsPatch } from './settings.js';

export interface ServiceOptions {
  /** Folder of the durable data, created if missing. Without one, everything is in memory. */
  directory?: string;
  /**
   * A PostgreSQL database instead of a folder, for any number of instances: `postgres://user@host/name`. Whatever is
   * missing in the URL comes from libpq's variables and password file.
   */
  database?: string;
  /** The schema of the service in `database`. Without it, the only one with a service; `urtuu` for a new one. */
  databaseSchema?: string | undefined;
  /** 32 bytes that are not in the database, the same in every instance. Required with `database`. */
  secret?: Uint8Array;
  /** Opens incomplete data as it is. Otherwise incomplete data is refused with DataError. */
  acceptData?: boolean;
  /**
   * A key for all requests of the default project, valid in this process alone and never stored. Refused with DataError
   * beside real carriers, and for data that was ever served with one.
   */
  sandboxKey?: string;
  clock?: Clock;
  /** The file that configures the carriers. Without one, everything goes to the simulated operator. */
  configuration?: ConfigurationSource;
  /** Overrides the stored settings of all projects for this service object, except for their quiet hours. */
  settings?: SettingsPatch;
  /** `off` disables the request rate limits. Default: `enforced`. */
  rates?: 'enforced' | 'off';
  /**
   * Makes codes the same in every run that starts without data, and ids too with a clock that starts at the same time;
   * never for real use.
   */
  seed?: string;
  /** Collects metrics, for listeners that show them. */
  metrics?: boolean;
  /** Called for every unexpected error, in a request or in the background. Default: they go to standard error. */
  report?(fault: Fault): void;
}

/** An answered request, safe to log: without numbers, texts, codes and whole keys. */
export interface SeenRequest {
  request_id: string | null;
  method: string;
  /** `/v1/messages/:id`; null if no route matches. */
  route: string | null;
  /** Null if the connection was dropped. */
  status: number | null;
  /** Milliseconds. */
  ms: number;
  /** First 12 characters of the API key; null without a valid one. */
  key: string | null;
  /** Of the error that answered it. */
  code: string | null;
  /** The address of the client; null inside this process. */
  client: string | null;
}

/** A certificate with its chain, and its key: PEM texts. */
export interface Certificate {
  cert: string;
  key: string;
}

/** `10.0.0.0/8`. */
export interface Network {
  address: string;
  prefix: number;
}

export interface ListenAddress {
  /** Default: loopback. */
  host?: string;
  /** 0 picks a free one. */
  port?: number;
  /** Without it, plain HTTP. */
  tls?: Certificate;
  /** Called after every request. */
  log?(request: SeenRequest): void;
  /** Proxies whose X-Forwarded-For is believed in the log. */
  proxies?: readonly Network[];
  /** Answers `GET /metrics` here, for everyone who can reach it; needs the service's option `metrics`. */
  metrics?: boolean;
  /** Also serves the dashboard; `publicUrl` is where people reach it, null for the listening address. */
  dashboard?: { publicUrl: string | null };
}

export interface Listening {
  /** Ends in `/v1`: the client's `baseUrl`. */
  url: string;
  /** Replaces the certificate for new connections; throws for one that cannot be used. Does nothing over plain HTTP. */
  renew(certificate: Certificate): void;
  /** Stops accepting connections, answers every request received, then resolves. */
  close(): Promise<void>;
}

export interface ServedListening extends Listening {
  /** The address of the dashboard; null without one. */
  dashboard: string | null;
}

/** `url` is absolute: `http://embedded.invalid/v1/sms`. */
export interface PlainRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

/** Header names as they are written on the wire. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Service {
  /** The service as a fetch function, for `new Urtuu(key, { fetch })`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The same without web objects, which Node.js 20 takes 16 ms to load. */
  exchange(request: PlainRequest): Promise<PlainAnswer>;
  listen(address?: ListenAddress): Promise<ServedListening>;
  /** Answers only `GET /metrics`, on its own address; needs the service's option `metrics`. */
  listenForMetrics(address: { host: string; port: number }): Promise<Listening>;
  /** A key of the default project, kept in memory as long as this object lives. */
  readonly localKey: string;
  readonly administration: Administration;
  /** `off`: every send is refused. `real`: messages leave this machine. */
  readonly channels: Readonly<Record<Channel, 'simulated' | 'off' | 'real'>>;
  /** Resolves when a data file is lost or replaced; after that, every answer is 503 `unavailable`. */
  readonly lost: Promise<DataError>;
  /** From now on it is not ready and takes no messages of batches from the queue; it answers every request. */
  drain(): void;
  /** Stops listening, finishes requests and messages in flight, and closes the data. */
  close(): Promise<void>;
}
