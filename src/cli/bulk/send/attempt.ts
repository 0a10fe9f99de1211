import type { JobState } from '../job/job-state.js';
import type { RequestEntry } from '../job/journal.js';
import type { RequestKey } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';
import type { BareEvent } from './events.js';
import { bodyOf, type RequestBody } from './send-once.js';
import { type Answer, countShort, type Sent, type Step } from './transitions.js';

/** A request on its way, in one revision and in this run. */
export interface Attempt {
  request: PlannedRequest;
  body: RequestBody;
  sent: Sent;
  tries: number;
  /** When this run tried it first, in whichever revision; null until then. */
  since: number | null;
}

export function startAttempt(
  keyOf: RequestKey,
  request: PlannedRequest,
  table: JobState,
  known: { since?: number | null; foreign?: number; tries?: number } = {},
): Attempt {
  const { number, kind } = request;
  const body = bodyOf(keyOf, request, table.revision(number), table.removed(number));
  // What an earlier run left in doubt has a copy without an answer, and no later answer can be that one's.
  const unanswered = table.phase(number) === 'doubt' ? 1 : 0;
  return {
    request,
    body,
    sent: { kind, to: body.to, unanswered, foreign: known.foreign ?? 0, short: null },
    tries: known.tries ?? 0,
    since: known.since ?? null,
  };
}

/** Remembers what an answer says about the balance. */
export function learnBalance(attempt: Attempt, table: JobState, answer: Answer): void {
  if (answer.kind === 'doubt' || answer.kind === 'unsent') return;
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

/** For a token that others take at the same time, however little `--max-wait` allows. */
const shortestWait = 1_000;

/** Milliseconds that a request may still wait for its turn; `since` is when its first try did not settle it. */
export function timeLeft(since: number | null, maxWait: number, now: number): number {
  return Math.max(shortestWait, maxWait - (since === null ? 0 : now - since));
}

/** The entry of an acceptance. An answer to a copy of this machine that had none is its own, however late. */
export function acceptedEntry(
  { request: { number, kind }, sent }: Attempt,
  revision: number,
  { id, credits, replayOf }: Extract<Step, { to: 'accepted' | 'compared' }>,
): Extract<RequestEntry, ['accepted', ...unknown[]]> {
  const entry = ['accepted', number, revision, id, credits, kind] as const;
  return replayOf === null || sent.unanswered > 0 ? [...entry] : [...entry, replayOf];
}

/** What is recorded and told of a step that settles a request other than by accepting it; null for the others. */
export function settledBy(
  { request: { number } }: Attempt,
  revision: number,
  step: Step,
): {
  entry: Extract<RequestEntry, ['alarm' | 'rejected' | 'failed', ...unknown[]]>;
  event: BareEvent;
} | null {
  switch (step.to) {
    case 'alarm':
      return {
        entry: ['alarm', number, revision, step.reason],
        event: { type: 'alarm', request: number, detail: step.reason },
      };
    case 'rejected':
      return {
        entry: ['rejected', number, revision, step.code],
        event: { type: 'rejected', request: number, detail: step.code },
      };
    case 'failed':
      return {
        entry: ['failed', number, revision, step.code, step.id],
        event: { type: 'failed', request: number, detail: step.code },
      };
    default:
      return null;
  }
}
