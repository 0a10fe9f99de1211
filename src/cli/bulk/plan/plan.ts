import type { Channel } from '../../../contract/index.js';
import type { TableFormat } from '../input/table.js';
import type { MessageTemplates } from './composer.js';

/** One request of a job: a batch, or a single send for a message with one recipient. */
export interface PlannedRequest {
  /** 0, 1, 2 ... in the order of sending; never changes. */
  number: number;
  kind: 'single' | 'batch';
  /** Recipients in their normal form, in the order of the body. */
  to: string[];
  /** The line of each recipient's row, in the same order. Read on first access. */
  readonly lines: number[];
  /** The exact JSON text of the request body. */
  body: string;
  /** Expected price; 0 without a price list. */
  credits: number;
}

/** A row of the input. */
export interface PlannedRow {
  line: number;
  /** The values of the input's own columns. */
  values: string[];
  /** Where it is sent; null for a rejected or excluded row. A merged row has the place of the row that it was merged into. */
  place: { request: number; index: number } | null;
  /** Why it was rejected; null for any other row. */
  error: string | null;
}

/** The base URL of the embedded service in a plan. */
export const sandboxBaseUrl = 'sandbox:';

/** Identifies a job's API key, to detect a key of another project: `hash` is over `salt` and key. */
export interface Account {
  salt: string;
  hash: string;
}

/** A job, which is another one once its name was used again for another plan. */
export interface Source {
  job: string;
  /** Null if the job was not on this machine; '' in records of earlier releases, which have names alone. */
  digest: string | null;
}

/** The recipients that `--first` left for later, and the options that say how their list is read. */
export interface Rest {
  recipients: number;
  options: Readonly<Record<string, string | number | boolean | undefined>>;
}

export interface PlanMeta {
  /**
   * Version 1 has no checksum, and its jobs derive their idempotency keys differently. Version 3 is held, and refused by
   * releases that would send it.
   */
  version: 1 | 2 | 3;
  channel: Channel;
  baseUrl: string;
  /** SHA-256 over the bodies of all requests; the same input has the same digest. */
  digest: string;
  /** The file's name as given, or `-` for standard input. */
  source: string;
  /** Its absolute path; absent for standard input, and in plans of earlier releases. */
  path?: string;
  columns: string[];
  created_at: string;
  /** The jobs that its rows come from; absent if there are none. */
  sources?: Source[];
  /** The random id of an `--again` run; null for the first run. */
  run: string | null;
  /** The texts, as templates, and the options that a job with `--like` takes over; absent in plans of earlier releases. */
  templates?: MessageTemplates;
  options?: object;
  /** The job that this one is like, and those that that one is like; absent without `--like`. */
  like?: readonly { job: string; digest: string }[];
  /** The maximum of credits that the job was made with; absent without one, and in plans of earlier releases. */
  limit?: number;
  /** What `--hold` showed of the list, for whoever starts the job; absent if it was not held. */
  held?: object;
  /** Null for the embedded service, which needs no key, and in version 1. */
  account: Account | null;
  recipients: number;
  merged: number;
  rejected: number;
  /** Rows that `--exclude` left out; absent without it. */
  excluded?: number;
  /** What `--first` left for later: absent without it. */
  rest?: Rest;
  repaired: number;
  requests: number;
  batches: number;
  singles: number;
  /** Parts and credits by kind of text; email has one kind. */
  cost: { kind: 'latin' | 'cyrillic' | 'email'; recipients: number; parts: number; credits: number }[];
  credits: number;
}

/** A plan on disk: durable before the first request, read as a stream. */
export interface FrozenPlan {
  readonly folder: string;
  readonly meta: PlanMeta;
  /** How the input is written, which reports and rejects files keep. */
  readonly input?: TableFormat;
  /** Requests in ascending order, starting at number `first`. */
  requests(first?: number): AsyncIterable<PlannedRequest>;
  /** Every row of the input, except skipped ones. */
  rows(): AsyncIterable<PlannedRow>;
}

/** What a job counts from. */
export type PlanFigures = Pick<PlanMeta, 'requests' | 'recipients' | 'rejected' | 'channel'> &
  Partial<Pick<PlanMeta, 'limit' | 'held' | 'credits'>>;
