/**
 * An entry of the journal, for the whole job, or for a request in a revision. The members of a request never change, so
 * positions in it (`indexes`) stay valid.
 */
export type Entry = JobEntry | RequestEntry;

export type JobEntry =
  | { type: 'job'; id: string; digest: string }
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
  /** Continues as the next revision: the refusal was bound to the key, or `--retry-failed` was used. */
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
}

/** Rows of a body with so many recipients that another job took; this job never sends them again. */
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
interface Codec<OneEntry> {
  encode(entry: OneEntry): unknown[];
  decode(fields: Fields): OneEntry;
}

/** Unchecked, since the line has a checksum. */
type Fields = [type: never, never, never, never, never, never, never, never];

const codecs: { readonly [Type in Entry['type']]: Codec<EntryOf<Type>> } = {
  job: {
    encode: ({ id, digest }) => [id, digest],
    decode: ([, id, digest]) => ({ type: 'job', id, digest }),
  },
  limit: {
    encode: ({ credits }) => [credits],
    decode: ([, credits]) => ({ type: 'limit', credits }),
  },
  account: {
    encode: ({ hash, isChecked }) => [hash, ...(isChecked ? [true] : [])],
    decode: ([, hash, isChecked = false]) => ({ type: 'account', hash, isChecked }),
  },
  end: {
    encode: ({ at, exit, balance, rate }) => [at, exit, balance, ...unlessNull(rate)],
    decode: ([, at, exit, balance = null, rate = null]) => ({ type: 'end', at, exit, balance, rate }),
  },
  send: {
    encode: ({ request, revision, recipients }) => [request, revision, recipients],
    decode: ([, request, revision, recipients]) => ({ type: 'send', request, revision, recipients }),
  },
  accepted: {
    encode: ({ request, revision, id, credits, kind, replayOf, acceptedAt }) => [
      request,
      revision,
      id,
      credits,
      kind,
      ...(acceptedAt === null ? unlessNull(replayOf) : [replayOf, acceptedAt]),
    ],
    decode: ([, request, revision, id, credits, kind, replayOf = null, acceptedAt = null]) => ({
      type: 'accepted',
      request,
      revision,
      id,
      credits,
      kind,
      replayOf,
      acceptedAt,
    }),
  },
  alarm: {
    encode: ({ request, revision, reason }) => [request, revision, reason],
    decode: ([, request, revision, reason]) => ({ type: 'alarm', request, revision, reason }),
  },
  rejected: {
    encode: ({ request, revision, code }) => [request, revision, code],
    decode: ([, request, revision, code]) => ({ type: 'rejected', request, revision, code }),
  },
  removed: {
    encode: ({ request, revision, indexes }) => [request, revision, indexes],
    decode: ([, request, revision, indexes]) => ({ type: 'removed', request, revision, indexes }),
  },
  revised: {
    encode: ({ request, revision }) => [request, revision],
    decode: ([, request, revision]) => ({ type: 'revised', request, revision }),
  },
  failed: {
    encode: ({ request, revision, code, id }) => [request, revision, code, id],
    decode: ([, request, revision, code, id = null]) => ({ type: 'failed', request, revision, code, id }),
  },
  refused: {
    encode: ({ request, revision, code, unanswered }) => [request, revision, code, ...unlessNull(unanswered)],
    decode: ([, request, revision, code, unanswered = null]) => ({
      type: 'refused',
      request,
      revision,
      code,
      unanswered,
    }),
  },
  absent: {
    encode: ({ request, revision, indexes }) => [request, revision, indexes],
    decode: ([, request, revision, indexes]) => ({ type: 'absent', request, revision, indexes }),
  },
  unsure: {
    encode: ({ request, revision, recipients }) => [request, revision, recipients],
    decode: ([, request, revision, recipients]) => ({ type: 'unsure', request, revision, recipients }),
  },
  progress: {
    encode: ({ request, sent, failed, unknown }) => [request, sent, failed, unknown],
    decode: ([, request, sent, failed, unknown]) => ({ type: 'progress', request, sent, failed, unknown }),
  },
  final: {
    encode: ({ request, sent, failed, code, unknown }) => [
      request,
      sent,
      failed,
      code,
      ...unlessNull(unknown),
    ],
    decode: ([, request, sent, failed, code = null, unknown = null]) => ({
      type: 'final',
      request,
      sent,
      failed,
      code,
      unknown,
    }),
  },
  moved: {
    encode: ({ request, revision, indexes, recipients, job }) => [
      request,
      revision,
      indexes,
      recipients,
      ...unlessNull(job),
    ],
    decode: ([, request, revision, indexes, recipients, job = null]) => ({
      type: 'moved',
      request,
      revision,
      indexes,
      recipients,
      job,
    }),
  },
};

/** A field that journals omit if it is null. */
const unlessNull = (field: unknown) => (field === null ? [] : [field]);

export function encodeEntry(entry: Entry): unknown[] {
  const { encode } = codecs[entry.type] as Codec<Entry>;
  return [entry.type, ...encode(entry)];
}

/** Null for an entry of a type unknown to this version. */
export function decodeEntry(encoded: readonly unknown[]): Entry | null {
  const type = encoded[0] as Entry['type'];
  return Object.hasOwn(codecs, type) ? codecs[type].decode(encoded as unknown as Fields) : null;
}
