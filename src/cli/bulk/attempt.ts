import type { ChunkTable } from './chunk-table.js';
import type { BareEvent } from './events.js';
import type { Entry } from './journal.js';
import type { RequestKey } from './keys.js';
import type { Chunk } from './plan.js';
import { type ChunkRequest, requestOf } from './requests.js';
import { type Answer, countShort, type Sent, type Step } from './states.js';

/** A chunk on its way, in one revision and in this run. */
export interface Attempt {
  chunk: Chunk;
  request: ChunkRequest;
  sent: Sent;
  tries: number;
  /** Whether an earlier request with this key is still unanswered. */
  doubtful: boolean;
  /** When its first try did not settle it. */
  since: number | null;
}

export function startAttempt(
  keyOf: RequestKey,
  chunk: Chunk,
  table: ChunkTable,
  known: { since?: number | null; foreign?: number } = {},
): Attempt {
  const { number, kind } = chunk;
  const request = requestOf(keyOf, chunk, table.revision(number), table.removed(number));
  return {
    chunk,
    request,
    sent: { kind, to: request.to, foreign: known.foreign ?? 0, short: null },
    tries: 0,
    doubtful: false,
    since: known.since ?? null,
  };
}

/** Remembers what an answer says about the balance. */
export function learnBalance(attempt: Attempt, table: ChunkTable, answer: Answer): void {
  if (answer.kind === 'doubt') return;
  if (answer.kind === 'refusal') {
    attempt.sent.short = countShort(attempt.sent.short, answer.balance);
    table.balance = answer.actual ?? answer.balance ?? table.balance;
  } else {
    table.balance = answer.balance ?? table.balance;
  }
}

/** Milliseconds before the next try: doubling up to half a minute, spread so that requests part. */
export function backoff(tries: number, random: number): number {
  return Math.min(500 * 2 ** (tries - 1), 30_000) * (0.75 + 0.25 * random);
}

/** What is recorded and told of a step that settles a chunk; null for the others. */
export function settledBy(
  { chunk: { number, kind }, doubtful }: Attempt,
  revision: number,
  step: Step,
): {
  entry: Extract<Entry, ['accepted' | 'alarm' | 'rejected' | 'failed', ...unknown[]]>;
  event: BareEvent;
} | null {
  switch (step.to) {
    case 'accepted':
      return {
        entry: [
          'accepted',
          number,
          revision,
          step.id,
          step.credits,
          kind,
          // An answer to a copy of this machine that had none is its own, however late.
          ...(step.replayOf === null || doubtful ? ([] as const) : ([step.replayOf] as const)),
        ],
        event: { type: 'accepted', chunk: number, detail: step.id },
      };
    case 'alarm':
      return {
        entry: ['alarm', number, revision, step.reason],
        event: { type: 'alarm', chunk: number, detail: step.reason },
      };
    case 'rejected':
      return {
        entry: ['rejected', number, revision, step.code],
        event: { type: 'rejected', chunk: number, detail: step.code },
      };
    case 'failed':
      return {
        entry: ['failed', number, revision, step.code, step.id],
        event: { type: 'failed', chunk: number, detail: step.code },
      };
    default:
      return null;
  }
}
