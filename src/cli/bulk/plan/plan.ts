import type { Channel } from '../../../contract/index.js';

/** One request of a job: a batch, or a single send when one recipient stands alone with its message. */
export interface PlannedRequest {
  /** 0, 1, 2 ... in the order of sending; never changes. */
  number: number;
  kind: 'single' | 'batch';
  /** Recipients in their normal form, in the order of the body. */
  to: string[];
  /** The input line of each recipient (where its row begins), in the same order. */
  lines: number[];
  /** The exact JSON text of the request body. */
  body: string;
  /** Expected price, when the price list was known. */
  credits: number;
}

/** A row of the input as the report shows it. */
export interface PlannedRow {
  line: number;
  /** The input's own columns. */
  values: string[];
  /** Where it is sent; null for a row that was left out. A merged row points to the one it was merged into. */
  place: { request: number; index: number } | null;
  /** Why it was left out. */
  error: string | null;
}

/** Stands in a plan for the embedded service, wherever its data are. */
export const sandboxBaseUrl = 'sandbox:';

/** Which API key a job was started with, so that another project's is noticed: `hash` is of it and `salt`. */
export interface Account {
  salt: string;
  hash: string;
}

export interface PlanMeta {
  /** 1 was written without a checksum, and its job has keys of its own. */
  version: 1 | 2;
  channel: Channel;
  baseUrl: string;
  /** SHA-256 over the bodies of all requests, in order; the same input gives the same digest. */
  digest: string;
  /** Name of the input as given, `-` for standard input. */
  source: string;
  columns: string[];
  created_at: string;
  /** The random id of a deliberate repeat; null for a job's first run. */
  run: string | null;
  /** Null where no key is needed, and in version 1. */
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

/** How the input was written, for what is written like it. */
export interface PlannedInput {
  /** It began with a byte order mark, which spreadsheets need to read UTF-8. */
  marked: boolean;
  /** Index of the recipient column; null where an earlier release made the plan. */
  recipient: number | null;
  /** The sheet of a workbook, and its column of each field: 0 for A. */
  sheet?: { name: string; columns: readonly number[] };
}

/** A plan frozen on disk: durable before the first request, read as a stream. */
export interface FrozenPlan {
  readonly folder: string;
  readonly meta: PlanMeta;
  readonly input?: PlannedInput;
  /** Requests in ascending order, from number `first` on. */
  requests(first?: number): AsyncIterable<PlannedRequest>;
  /** Every row of the input in its order. */
  rows(): AsyncIterable<PlannedRow>;
}
