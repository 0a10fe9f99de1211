/**
 * What the journal remembers: of the whole job, or of a request and its revision. The members of a request never
 * change, so positions in it (`indexes`) stay true for ever.
 */
export type Entry = JobEntry | RequestEntry;

export type JobEntry =
  | { type: 'job'; id: string; digest: string }
  /** The most the job may spend from here on; null for no limit. */
  | { type: 'limit'; credits: number | null }
  /** A further API key of the same project, as a hash with the salt of the plan. */
  | { type: 'account'; hash: string }
  /** A run ended: when, its exit code, and the balance last seen. */
  | { type: 'end'; at: string; exit: number; balance: number | null };

export type RequestEntry =
  /** About to be sent to so many recipients. */
  | { type: 'send'; request: number; revision: number; recipients: number }
  | AcceptedEntry
  /** The answer is not for this request; needs a person. */
  | { type: 'alarm'; request: number; revision: number; reason: string }
  /** The service refused the rest of the request for good. */
  | { type: 'rejected'; request: number; revision: number; code: string }
  /** Refused recipients, taken out; the request continues as the next revision. */
  | { type: 'removed'; request: number; revision: number; indexes: number[] }
  /** Continues as the next revision: the refusal was bound to the key, or `--retry-failed` was given. */
  | { type: 'revised'; request: number; revision: number }
  | { type: 'failed'; request: number; revision: number; code: string; id: string | null }
  /**
   * Not sent, and free to be sent later with the same key. `unanswered`: copies under the key without an answer;
   * null in journals of earlier releases, which wrote the entry also where there were some.
   */
  | { type: 'refused'; request: number; revision: number; code: string; unanswered: 0 | null }
  /** Members of an accepted request that are not in its batch: not sent to under its key. */
  | { type: 'absent'; request: number; revision: number; indexes: number[] }
  /** So many members of an accepted request may not be in its batch, and the service does not list them. */
  | { type: 'unsure'; request: number; revision: number; recipients: number }
  /** The final figures of an accepted request, in messages. */
  | { type: 'final'; request: number; sent: number; failed: number; code: string | null }
  /** Rows taken over by another job, of a body with so many recipients: never sent by this job again. */
  | { type: 'moved'; request: number; revision: number; indexes: number[]; recipients: number };

export interface AcceptedEntry {
  type: 'accepted';
  request: number;
  revision: number;
  id: string;
  credits: number;
  kind: 'single' | 'batch';
  /**
   * When the earlier request with this key was accepted, which this machine did not send ('' where unknown);
   * null for a new acceptance.
   */
  replayOf: string | null;
}

export type EntryOf<Type extends Entry['type']> = Extract<Entry, { type: Type }>;

/** On the disk an entry is an array: its type, then these fields. */
const fields = {
  job: ['id', 'digest'],
  limit: ['credits'],
  account: ['hash'],
  end: ['at', 'exit', 'balance'],
  send: ['request', 'revision', 'recipients'],
  accepted: ['request', 'revision', 'id', 'credits', 'kind', 'replayOf'],
  alarm: ['request', 'revision', 'reason'],
  rejected: ['request', 'revision', 'code'],
  removed: ['request', 'revision', 'indexes'],
  revised: ['request', 'revision'],
  failed: ['request', 'revision', 'code', 'id'],
  refused: ['request', 'revision', 'code', 'unanswered'],
  absent: ['request', 'revision', 'indexes'],
  unsure: ['request', 'revision', 'recipients'],
  final: ['request', 'sent', 'failed', 'code'],
  moved: ['request', 'revision', 'indexes', 'recipients'],
} as const satisfies {
  [Type in Entry['type']]: readonly Exclude<keyof EntryOf<Type>, 'type'>[];
};

/** Left out on the disk where null, as before they were known. */
const isOptional = (field: string) => field === 'replayOf' || field === 'unanswered';

export function encodeEntry(entry: Entry): unknown[] {
  const values = entry as unknown as Record<string, unknown>;
  const encoded: unknown[] = [entry.type];
  for (const field of fields[entry.type]) {
    if (values[field] !== null || !isOptional(field)) encoded.push(values[field]);
  }
  return encoded;
}

/** Null for an entry of a type that this version does not know. */
export function decodeEntry(encoded: readonly unknown[]): Entry | null {
  const type = encoded[0] as Entry['type'];
  if (!Object.hasOwn(fields, type)) return null;
  const entry: Record<string, unknown> = { type };
  for (const [index, field] of fields[type].entries()) entry[field] = encoded[index + 1] ?? null;
  return entry as unknown as Entry;
}
