import type { Channel } from '../../contract/index.js';
import type { Slot, Way } from '../dispatch/slot.js';
import { boundMs, suppressed } from '../dispatch/tries.js';
import { ServiceError } from '../errors/service-error.js';
import { type QuietHours, untilOpenFor } from '../quiet/quiet-hours.js';
import type {
  AcceptedRecipient,
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  Content,
  Finalized,
  Refusal,
  VerificationResult,
} from '../storage/store.js';
import type { OperationContext, Project } from './context.js';
import type { Recipient } from './fields.js';
import type { Price } from './pricing.js';

/** A send that has passed its field rules, with its price. */
export interface Send {
  project: Project;
  channel: Channel;
  content: Content;
  /** Of each message. */
  price: Price;
  idempotencyKey: string | null;
  dispatch: DispatchTime;
  /** The hours in which it waits; null for none. */
  quiet?: QuietHours | null;
}

/**
 * `before_answer`: the caller waits for the carrier's answer. `after_answer`: dispatched by this process if it has
 * room, else by whichever process claims the message.
 */
export type DispatchTime = 'before_answer' | 'after_answer';

/** An SMS is submitted before its answer, an email is queued (interface, "What the service does"). */
export const singleDispatch = { sms: 'before_answer', email: 'after_answer' } as const;

/** The fields of every acceptance. */
export type Acceptance = Omit<BatchAcceptance, 'batchId' | 'recipients' | 'answer'>;

/** The idempotency key is in use; `answer` is null while its first request is running. */
export type Repeat = Extract<Refusal, { kind: 'repeat' }>;

type Result = AcceptResult | BatchResult | VerificationResult;
type AcceptedOf<R extends Result> = Extract<R, { kind: 'accepted' }> & {
  /** Only set with `before_answer`; null while the outcome is unknown. */
  finalized: Finalized | null;
};

/**
 * Accepts a send and dispatches its messages: the only way from an operation to store and carrier. Throws
 * ServiceError if the store refuses it. After a reset that held the send back, `accept` runs again with new ids.
 */
export async function acceptAndDispatch<R extends Result>(
  context: OperationContext,
  send: Send,
  recipients: readonly Recipient[],
  accept: (acceptance: Acceptance, recipients: readonly AcceptedRecipient[]) => Promise<R>,
): Promise<AcceptedOf<R> | Repeat> {
  const reason = context.closed.get(send.channel);
  if (reason !== undefined) throw new ServiceError('unavailable', `${reason}; nothing was done`);
  const look = async () => {
    const tried = await acceptOnce(context, send, recipients, accept);
    return tried.result.kind === 'resetting' ? null : tried;
  };
  const tried = (await look()) ?? (await context.outcomes.wait('reset', look));
  if (tried === null) throw beingReset();
  const result: Result = tried.result;
  if (result.kind === 'repeat') return result;
  if (result.kind !== 'accepted') throw refusalOf(result, send.price.credits * recipients.length);
  const finalized = send.dispatch === 'before_answer' ? await tried.finalized : null;
  return { finalized, ...(result as Extract<R, { kind: 'accepted' }>) };
}

async function acceptOnce<R extends Result>(
  { dispatcher, newId, isConnectedElsewhere, clock }: OperationContext,
  { project, channel, content, price, idempotencyKey, dispatch, quiet = null }: Send,
  recipients: readonly Recipient[],
  accept: (acceptance: Acceptance, recipients: readonly AcceptedRecipient[]) => Promise<R>,
): Promise<{ result: R; finalized: Promise<Finalized | null> }> {
  const slot = dispatcher.prepare(channel, recipients, project.settings);
  if (dispatch === 'before_answer' && slot.isPaused) throw paused();
  const { ways = [] } = slot;
  // Without a tick in between, sends are accepted in the order of their requests.
  const isDown = dispatch === 'before_answer' && ways[0]?.isDown === true;
  const routes = isDown ? [await reachable(ways, isConnectedElsewhere)] : slot.routes;
  const acceptance: Acceptance = {
    projectId: project.id,
    channel,
    parts: price.parts,
    rateMultiplier: price.rateMultiplier,
    credits: price.credits,
    content,
    idempotencyKey,
    // Only the mark of a claimed message asks whether it is quiet by now.
    claim: quiet === null ? slot.claim : null,
    boundMs: boundOf(dispatch, quiet, clock.now()),
  };
  let result: R | null = null;
  let finalized: Promise<Finalized | null> = Promise.resolve(null);
  try {
    result = await accept(acceptance, addressed(newId, recipients, routes));
  } finally {
    finalized = slot.dispatch(result?.kind === 'accepted' ? result.claimed : []);
  }
  return { result, finalized };
}

/** In open hours: a message must not fail because it waited for the end of a night. */
function boundOf(dispatch: DispatchTime, quiet: QuietHours | null, now: number): number {
  if (dispatch === 'before_answer') return boundMs.waited;
  return quiet === null ? boundMs.queued : untilOpenFor(quiet, now, boundMs.queued);
}

/** The first route that has had a connection here or elsewhere in the last while. */
async function reachable(
  ways: readonly Way[],
  isConnectedElsewhere: (lane: string) => Promise<boolean>,
): Promise<Way['route']> {
  for (const { route, isDown } of ways) if (!isDown || (await isConnectedElsewhere(route.lane))) return route;
  throw notConnected();
}

function addressed(
  newId: () => string,
  recipients: readonly Recipient[],
  routes: Slot['routes'],
): AcceptedRecipient[] {
  return recipients.map(({ to, operator }, index) => {
    const { lane = '', name = '' } = routes[index] ?? {};
    return { id: newId(), to, operator, lane, route: name };
  });
}

export const insufficient = (required: number, balance: number): ServiceError =>
  new ServiceError('insufficient_credits', `The send costs ${required} credits; the balance is ${balance}`, {
    fields: { balance, required },
  });

function refusalOf(refused: Exclude<Refusal, { kind: 'repeat' }>, required: number): ServiceError {
  if (refused.kind === 'insufficient') return insufficient(required, refused.balance);
  if (refused.kind === 'resetting') return beingReset();
  if (refused.kind === 'held') return held();
  if (refused.kind === 'suppressed') {
    const { reason } = refused;
    return new ServiceError('recipient_suppressed', suppressed(reason).message, { fields: { reason } });
  }
  return new ServiceError(
    'recipient_rate_limited',
    'The recipient already got as many messages as the caps allow',
    { retryAfter: Math.max(1, Math.ceil(refused.waitMs / 1_000)) },
  );
}

function notConnected(): ServiceError {
  const message = 'The operator of the number is not connected; nothing was done';
  return new ServiceError('unavailable', message, { retryAfter: 10 });
}

function held(): ServiceError {
  const message = 'The service is held until its owner releases it; nothing was done';
  return new ServiceError('unavailable', message, { retryAfter: 10 });
}

function paused(): ServiceError {
  const message = 'The lane of the number is paused; nothing was done';
  return new ServiceError('unavailable', message, { retryAfter: 10 });
}

function beingReset(): ServiceError {
  return new ServiceError('unavailable', 'The service is being reset; nothing was done', { retryAfter: 1 });
}
