/**
 * An entry of the journal, for the whole job, or for a request in a revision. The members of a request never change, so
 * positions in it (`indexes`) stay valid.
 */
export type Entry = JobEntry | RequestEntry;

export type JobEntry =
  | { type: 'job'; id: string; digest: string }
  /** The rows that the job has from others are its own from now on; a held job is started. */
  | { type: 'confirmed' }
  /** The maximum that the job may spend from now on; null for no limit. */
  | { type: 'limit'; credits: number | null }
  /**
   * From now on another API key of the same project, as a hash with the plan's salt. `isChecked`: it found what the job
   * had sent.
   */
  | { type: 'account'; hash: string; isChecked: boolean }
  /** A run ended: when, its exit code, the last known balance, and its own limit of requests a second. */
  | { type: 'end'; at: string; exit: number; balance: number | null; rate: number | null };

export type RequestEntry =
  /** About to be sent to so many recipients. */
  | { type: 'send'; request: number; revision: number; recipients: number }
  | AcceptedEntry
  /** The answer belongs to another request; needs a person. */
  | { type: 'alarm'; request: number; revision: number; reason: string }
  /** The service refused the rest of the request for good. */
  | { type: 'rejected'; request: number; revision: number; code: string }
  /** Refused recipients were removed; the request continues as the next revision. */
  | { type: 'removed'; request: number; revision: number; indexes: number[] }
  /** Continues as the next revision: the refusal was bound to the key; in journals of earlier releases, also after `--retry-failed`. */
  | { type: 'revised'; request: number; revision: number }
  | { type: 'failed'; request: number; revision: number; code: string; id: string | null }
  /**
   * Not sent, and may be sent later with the same key. `unanswered`: copies under the key without an answer; null in
   * journals of earlier releases, which also wrote the entry if there were some.
   */
  | { type: 'refused'; request: number; revision: number; code: string; unanswered: 0 | null }
  /** Members of an accepted request that are not in its batch, so nothing was sent to them under its key. */
  | { type: 'absent'; request: number; revision: number; indexes: number[] }
  /** How many members of an accepted request may be missing from its batch, if the service does not list them. */
  | { type: 'unsure'; request: number; revision: number; recipients: number }
  /** The figures of an accepted request so far, in messages. */
  | ({ type: 'progress'; request: number } & MessageFigures)
  /** Its final figures; a later entry updates the count of unknown ones. */
  | ({ type: 'final'; request: number; code: string | null } & MessageFigures)
  | MovedEntry;

/** Messages by status, according to the service. */
export interface MessageFigures {
  sent: number;
  failed: number;
  /** How many of `sent` may or may not have arrived; null if the service does not say. */
  unknown: number | null;
  /** How many of `failed` are suppressed. In a journal only with final figures, of batches that have some. */
  suppressed?: number | null;
}

/** Written by earlier releases: rows of a body with so many recipients that another job took. */
export interface MovedEntry {
  type: 'moved';
  request: number;
  revision: number;
  indexes: number[];
  recipients: number;
  /** The other job; null in journals of earlier releases. */
  job: string | null;
}

export interface AcceptedEntry {
  type: 'accepted';
  request: number;
  revision: number;
  id: string;
  credits: number;
  kind: 'single' | 'batch';
  /**
   * When the earlier request with this key was accepted, which this machine did not send ('' if unknown); null for a
   * new acceptance.
   */
  replayOf: string | null;
  /** By the service's clock, in milliseconds; null if unknown, and in journals of earlier releases. */
  acceptedAt: number | null;
}

export type EntryOf<Type extends Entry['type']> = Extract<Entry, { type: Type }>;

/** On disk, an entry is an array: its type, then its fields in this order. */
const fields: { readonly [Type in Entry['type']]: readonly Exclude<keyof EntryOf<Type>, 'type'>[] } = {
  job: ['id', 'digest'],
  confirmed: [],
  limit: ['credits'],
  account: ['hash', 'isChecked'],
  end: ['at', 'exit', 'balance', 'rate'],
  send: ['request', 'revision', 'recipients'],
  accepted: ['request', 'revision', 'id', 'credits', 'kind', 'replayOf', 'acceptedAt'],
  alarm: ['request', 'revision', 'reason'],
  rejected: ['request', 'revision', 'code'],
  removed: ['request', 'revision', 'indexes'],
  revised: ['request', 'revision'],
  failed: ['request', 'revision', 'code', 'id'],
  refused: ['request', 'revision', 'code', 'unanswered'],
  absent: ['request', 'revision', 'indexes'],
  unsure: ['request', 'revision', 'recipients'],
  progress: ['request', 'sent', 'failed', 'unknown'],
  final: ['request', 'sent', 'failed', 'code', 'unknown', 'suppressed'],
  moved: ['request', 'revision', 'indexes', 'recipients', 'job'],
};

/** How many fields are always written; those after them are left out from the end as long as they are absent, null or false. */
const written: { readonly [Type in Entry['type']]?: number } = {
  account: 1,
  end: 3,
  accepted: 5,
  refused: 3,
  final: 4,
  moved: 4,
};

export function encodeEntry(entry: Entry): unknown[] {
  const { type } = entry;
  const encoded = fields[type].map((name) => (entry as unknown as Record<string, unknown>)[name]);
  const fewest = written[type] ?? encoded.length;
  while (encoded.length > fewest && (encoded.at(-1) ?? false) === false) encoded.pop();
  return [type, ...encoded];
}

/** Null for an entry of a type unknown to this version. Unchecked, since the line has a checksum. */
export function decodeEntry(encoded: readonly unknown[]): Entry | null {
  const type = encoded[0] as Entry['type'];
  if (!Object.hasOwn(fields, type)) return null;
  const entry: Record<string, unknown> = { type };
  const names = fields[type];
  for (let at = 0; at < names.length; at += 1) entry[names[at] ?? ''] = encoded[at + 1] ?? null;
  if (type === 'account') entry.isChecked ??= false;
  return entry as unknown as Entry;
}
