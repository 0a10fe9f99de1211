import type { Channel } from '../../../contract/index.js';

/** One request of a job: a batch, or a single send for a message with one recipient. */
export interface PlannedRequest {
  /** 0, 1, 2 ... in the order of sending; never changes. */
  number: number;
  kind: 'single' | 'batch';
  /** Recipients in their normal form, in the order of the body. */
  to: string[];
  /** The line on which the row of each recipient begins, in the same order. Read when they are first asked for. */
  readonly lines: number[];
  /** The exact JSON text of the request body. */
  body: string;
  /** Expected price; 0 without a price list. */
  credits: number;
}

/** A row of the input. */
export interface PlannedRow {
  line: number;
  /** The input's own columns. */
  values: string[];
  /** Where it is sent; null for a rejected row. A merged row has the place of the row it was merged into. */
  place: { request: number; index: number } | null;
  /** Why it was rejected; null for a row that is sent. */
  error: string | null;
}

/** The base URL of the embedded service in a plan. */
export const sandboxBaseUrl = 'sandbox:';

/** Identifies the API key of a job, to notice a key of another project: `hash` is over `salt` and key. */
export interface Account {
  salt: string;
  hash: string;
}

export interface PlanMeta {
  /** 1 has no checksum, and its job derives its idempotency keys in another way. */
  version: 1 | 2;
  channel: Channel;
  baseUrl: string;
  /** SHA-256 over the bodies of all requests; the same input gives the same digest. */
  digest: string;
  /** The file's name as given, `-` for standard input. */
  source: string;
  /** Its absolute path; absent for standard input, and in plans of earlier releases. */
  path?: string;
  columns: string[];
  created_at: string;
  /** The random id of an `--again` run; null for the first run. */
  run: string | null;
  /** Null for the embedded service, which needs no key, and in version 1. */
  account: Account | null;
  recipients: number;
  merged: number;
  rejected: number;
  repaired: number;
  requests: number;
  batches: number;
  singles: number;
  /** Parts and credits by kind of text; email has one kind. */
  cost: { kind: 'latin' | 'cyrillic' | 'email'; recipients: number; parts: number; credits: number }[];
  credits: number;
}

/** The form of the input, which reports and rejects files keep. */
export interface PlannedInput {
  /** It began with a byte order mark. */
  marked: boolean;
  /** Index of the recipient column; null in a plan of an earlier release. */
  recipient: number | null;
  /** The sheet of a workbook, and its column of each field: 0 for A. */
  sheet?: { name: string; columns: readonly number[] };
}

/** A plan on disk: durable before the first request, read as a stream. */
export interface FrozenPlan {
  readonly folder: string;
  readonly meta: PlanMeta;
  readonly input?: PlannedInput;
  /** Requests in ascending order, from number `first` on. */
  requests(first?: number): AsyncIterable<PlannedRequest>;
  /** Every row of the input, without those that were skipped. */
  rows(): AsyncIterable<PlannedRow>;
}
