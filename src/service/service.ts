import type { Clock } from './clock.js';
import type { DataError } from './data-error.js';
import type { Fault } from './report.js';
import type { Settings, SettingsPatch } from './settings.js';
import type { LedgerReason } from './storage/store.js';

export interface ServiceOptions {
  /** Folder of the durable data, created when missing; without it everything is in memory. */
  directory?: string;
  /** Opens incomplete data as it is; without it, incomplete data is refused with DataError. */
  acceptData?: boolean;
  clock?: Clock;
  /** Overrides the stored settings of all projects, in this service object. */
  settings?: SettingsPatch;
  /** `off` takes no request rate into account; `enforced` when absent. */
  rates?: 'enforced' | 'off';
  /** The same ids, keys and codes in every run that begins without data; never for real use. */
  seed?: string;
  /** Called for every unexpected error, in a request or in the background; absent, they go to standard error. */
  report?(fault: Fault): void;
}

export interface ApiKey {
  id: string;
  created_at: string;
  revoked_at: string | null;
}

export interface ProjectSummary {
  id: string;
  name: string;
  created_at: string;
}

/** A change of a balance; a project's entries add up to it. */
export interface LedgerEntry {
  amount: number;
  reason: LedgerReason;
  /** The message, batch or verification it was for. */
  subject_id: string | null;
  created_at: string;
}

/** A message as the simulated operator or mail carrier delivered it. */
export interface Delivery {
  /** The message's id. */
  message_id: string;
  channel: 'sms' | 'email';
  to: string;
  /** The text as delivered: without links where the route carries none. */
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  reply_to: string | null;
  /** The route or operator that took it. */
  route: string;
  delivered_at: string;
}

/** What an owner of the data may do to a project without the API. Refusals throw `invalid_request`. */
export interface ProjectAdministration {
  /** A new key; the secret is shown this once. Refused over 10 active keys. */
  createKey(): Promise<ApiKey & { secret: string }>;
  listKeys(): Promise<ApiKey[]>;
  /** From the next request on. False when there is no such active key. */
  revokeKey(id: string): Promise<boolean>;
  /** Adds credits (negative takes them away, never below 0) and gives the new balance. */
  credit(amount: number): Promise<number>;
  /** Every change of the balance, the oldest first. */
  ledger(): Promise<LedgerEntry[]>;
  settings: {
    get(): Promise<Settings>;
    /** Changes the fields that are named and gives all settings. */
    update(patch: SettingsPatch): Promise<Settings>;
  };
}

/** What an owner of the data may do without the API; the project's part is that of the default project. */
export interface Administration extends ProjectAdministration {
  createProject(name: string): Promise<ProjectSummary>;
  listProjects(): Promise<ProjectSummary[]>;
  /** Another project than the default one; null when there is none with this id. */
  project(id: string): Promise<ProjectAdministration | null>;
  /** Deliveries in their order, the oldest first; `limit` keeps the newest. */
  outbox(filter?: { to?: string; limit?: number }): AsyncIterable<Delivery>;
  /**
   * Empties everything but projects, their settings and keys, and restores the first balance. Sends that are under
   * way end before it; those that come meanwhile, in any process, wait and come after it.
   */
  reset(): Promise<void>;
  /** Resolves when no message is waiting for delivery that could be delivered now. */
  settled(): Promise<void>;
}

export interface Listening {
  /** Ends in `/v1`: the client's `baseUrl`. */
  url: string;
  /** Takes no new connection, answers what has arrived, then resolves. */
  close(): Promise<void>;
}

/** `url` is whole: `http://embedded.invalid/v1/sms`. */
export interface PlainRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

/** Header names are spelt as they go over the wire. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Service {
  /** The whole service as a fetch function: what `new Urtuu(key, { fetch })` takes. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The same without web objects, for Node.js 20 takes 16 ms to load them. */
  exchange(request: PlainRequest): Promise<PlainAnswer>;
  listen(address?: { host?: string; port?: number }): Promise<Listening>;
  /** A key of the default project that lives in memory as long as this object and is stored nowhere. */
  readonly localKey: string;
  readonly administration: Administration;
  /** Resolves when a data file is gone or replaced; from then on every answer is 503 `unavailable`. */
  readonly lost: Promise<DataError>;
  /** Stops listening, lets what is on its way end, and closes the data. */
  close(): Promise<void>;
}
