import { boundMs } from '../dispatch/tries.js';
import { ServiceError } from '../errors/service-error.js';
import { nightAt, type QuietSettings, quietHoursOf } from '../quiet/quiet-hours.js';
import { capsOf } from '../settings.js';
import { acceptAndDispatch, type Send, singleDispatch } from './accept-and-dispatch.js';
import type { OperationContext } from './context.js';
import type { Recipient } from './fields.js';
import { ownAnswer, repeatedAnswer } from './idempotency.js';
import type { Answer } from './operations.js';
import { finalizedMessage, outcomeUnknown } from './outcomes.js';
import { batchAnswer, bound, messageAnswer } from './resources.js';

/** Sends one message. For SMS, it returns after the carrier has answered; email is queued. */
export async function sendSingle(
  context: OperationContext,
  single: Omit<Send, 'dispatch'> & { recipient: Recipient },
): Promise<Answer> {
  const { project, recipient: to, idempotencyKey } = single;
  // Spread last: objects that get properties after a spread are slow.
  const { settings } = project;
  const quiet = single.content.isBulk === true ? quietHoursOf(settings) : null;
  const send: Send = { dispatch: singleDispatch[single.channel], quiet, ...single };
  if (quiet !== null && send.dispatch === 'before_answer') refuseAtNight(settings, context.clock.now());
  const isQueued = send.dispatch === 'after_answer';
  const sent = await acceptAndDispatch(context, send, [to], (acceptance, [recipient]) =>
    context.store.acceptMessage({
      recipient: recipient as NonNullable<typeof recipient>,
      caps: capsOf(project.settings),
      answer: isQueued ? (message, balance) => bound(messageAnswer(message, balance)) : null,
      ...acceptance,
    }),
  );
  if (sent.kind === 'repeat') return repeatedAnswer(context, project.id, idempotencyKey ?? '', sent.answer);
  const { message, balance, finalized } = sent;
  if (isQueued) return { replayed: false, ...messageAnswer(message, balance) };
  if (finalized === null && idempotencyKey !== null) {
    return { ...(await ownAnswer(context, message, idempotencyKey)), replayed: false };
  }
  const end = finalized ?? (await finalizedMessage(context, message));
  if (end === null) throw outcomeUnknown(`it is message ${message.id}`);
  return { replayed: false, ...messageAnswer(end.message, end.balance) };
}

/** Sends one message to many recipients. The batch is charged as a whole and dispatched in the background. */
export async function sendBatch(
  context: OperationContext,
  { recipients: to, ...batch }: Omit<Send, 'dispatch'> & { recipients: readonly Recipient[] },
): Promise<Answer> {
  const { project, idempotencyKey } = batch;
  const send: Send = { ...batch, dispatch: 'after_answer', quiet: quietHoursOf(project.settings) };
  const sent = await acceptAndDispatch(context, send, to, (acceptance, recipients) =>
    context.store.acceptBatch({
      ...acceptance,
      batchId: context.newId(),
      recipients,
      answer: (record, balance) => bound(batchAnswer(record, balance)),
    }),
  );
  if (sent.kind === 'repeat') return repeatedAnswer(context, project.id, idempotencyKey ?? '', sent.answer);
  return { ...batchAnswer(sent.batch, sent.balance), replayed: false };
}

/** Its answer would say that it was sent, so it cannot wait. Nothing is stored, and its key is free. */
function refuseAtNight(settings: QuietSettings, now: number): void {
  const night = nightAt(settings, now) ?? nightAt(settings, now + boundMs.waited);
  if (night === null) return;
  const { until, clock, zone } = night;
  throw new ServiceError(
    'rate_limited',
    `The project is quiet until ${clock} (${zone}), and a single SMS of a list cannot wait; nothing was done`,
    { retryAfter: Math.ceil((until - now) / 1_000) },
  );
}
