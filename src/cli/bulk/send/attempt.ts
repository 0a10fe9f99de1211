import type { JobState } from '../job/job-state.js';
import type { AcceptedEntry, EntryOf } from '../job/journal/entries.js';
import type { RequestKey } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';
import type { Answer } from './answer.js';
import type { BareEvent } from './events.js';
import { bodyOf, type RequestBody } from './request-body.js';
import { type SentRequest, type Step, type StepOf, shortageAfter } from './transitions.js';

/** A request in one revision, during this run. */
export interface Attempt {
  request: PlannedRequest;
  body: RequestBody;
  facts: SentRequest;
  tries: number;
  /** The number of redirects answered. */
  redirects: number;
  /** When this run first tried it, in any revision; null before that. */
  since: number | null;
}

export function startAttempt(
  keyOf: RequestKey,
  request: PlannedRequest,
  state: JobState,
  known: { since?: number | null; foreignRefusals?: number; tries?: number } = {},
): Attempt {
  const { number, kind } = request;
  const body = bodyOf(keyOf, request, state.revision(number), state.removed(number));
  // An earlier run left a copy in doubt, and no later answer can belong to that copy.
  const unanswered = state.phase(number) === 'doubt' ? 1 : 0;
  const { foreignRefusals = 0 } = known;
  return {
    request,
    body,
    facts: { kind, body, unanswered, foreignRefusals, shortage: null },
    tries: known.tries ?? 0,
    redirects: 0,
    since: known.since ?? null,
  };
}

/** Keeps the balance in an answer; that of a repeated one is old. */
export function learnBalance({ facts }: Attempt, state: JobState, answer: Answer): void {
  if (answer.kind === 'doubt' || answer.kind === 'unsent') return;
  if (answer.kind === 'refusal') {
    facts.shortage = shortageAfter(facts.shortage, answer.balance);
    state.balance = answer.actual ?? answer.balance ?? state.balance;
  } else if (answer.replayOf === null) {
    state.balance = answer.balance ?? state.balance;
  }
}

/** A late answer to this machine's own unanswered copy is not a replay. */
export function acceptedEntry(
  { request: { number, kind }, facts }: Attempt,
  revision: number,
  { id, credits, replayOf, acceptedAt }: StepOf<'accept' | 'compare'>,
): AcceptedEntry {
  const isOwn = facts.unanswered > 0;
  return {
    type: 'accepted',
    request: number,
    revision,
    id,
    credits,
    kind,
    replayOf: isOwn ? null : replayOf,
    acceptedAt,
  };
}

/** The entry and the event for a step that ends a request without an acceptance; null for other steps. */
export function endedBy(
  { request: { number: request } }: Attempt,
  revision: number,
  step: Step,
): { entry: EntryOf<'alarm' | 'rejected' | 'failed'>; event: BareEvent } | null {
  switch (step.kind) {
    case 'alarm':
      return {
        entry: { type: 'alarm', request, revision, reason: step.reason },
        event: {
          type: 'alarm',
          request,
          detail: step.reason,
          ...(step.mixUp && { mixUp: step.mixUp }),
        },
      };
    case 'reject':
      return {
        entry: { type: 'rejected', request, revision, code: step.code },
        event: { type: 'rejected', request, detail: step.code },
      };
    case 'fail':
      return {
        entry: { type: 'failed', request, revision, code: step.code, id: step.id },
        event: { type: 'failed', request, detail: step.code },
      };
    default:
      return null;
  }
}
