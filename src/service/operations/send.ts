import type { BatchRecord } from '../storage/store.js';
import {
  acceptAndDispatch,
  messageAcceptance,
  newMessage,
  type Send,
  singleDispatch,
} from './accept-and-dispatch.js';
import type { OperationContext } from './context.js';
import type { Recipient } from './fields.js';
import { ownAnswer, repeatedAnswer } from './idempotency.js';
import type { Answer } from './operations.js';
import { finalizedMessage, outcomeUnknown } from './outcomes.js';
import { batchAnswer, bound, messageAnswer } from './resources.js';

/** Sends one message: its carrier has answered before this does (SMS), or it is queued (email). */
export async function sendSingle(
  context: OperationContext,
  single: Omit<Send, 'dispatch'> & { recipient: Recipient },
): Promise<Answer> {
  const { project, recipient, idempotencyKey } = single;
  const send: Send = { ...single, dispatch: singleDispatch[single.channel] };
  const queued = send.dispatch === 'queued';
  const sent = await acceptAndDispatch(context, send, () => {
    const message = newMessage(context, send, recipient);
    return {
      message,
      messages: [message],
      accept: (lease) =>
        context.store.acceptMessage({
          ...messageAcceptance(send, message, lease),
          answer: queued ? (balance) => bound(messageAnswer(message, balance)) : null,
        }),
    };
  });
  if (sent.kind === 'repeat') return repeatedAnswer(context, project.id, idempotencyKey ?? '', sent.answer);
  const { draft, balance, finalized } = sent;
  const { message } = draft;
  if (queued) return { ...messageAnswer(message, balance), replayed: false };
  if (finalized === null && idempotencyKey !== null) {
    return { ...(await ownAnswer(context, message, idempotencyKey)), replayed: false };
  }
  const end = finalized ?? (await finalizedMessage(context, message));
  if (end === null) throw outcomeUnknown(`it is message ${message.id}`);
  return { ...messageAnswer(end.message, end.balance), replayed: false };
}

/** Sends one message to many recipients: charged whole, dispatched in the background. */
export async function sendBatch(
  context: OperationContext,
  batchSend: Omit<Send, 'dispatch'> & { recipients: readonly Recipient[] },
): Promise<Answer> {
  const { project, channel, recipients, content, price, idempotencyKey } = batchSend;
  const send: Send = { ...batchSend, dispatch: 'after_answer' };
  const sent = await acceptAndDispatch(context, send, () => {
    const batch: BatchRecord = {
      id: context.newId(),
      status: 'processing',
      channel,
      total: recipients.length,
      sent: 0,
      failed: 0,
      credits: price.credits * recipients.length,
      createdAt: context.clock.now(),
      completedAt: null,
    };
    const messages = recipients.map((recipient) => ({
      ...newMessage(context, send, recipient),
      batchId: batch.id,
      createdAt: batch.createdAt,
    }));
    return {
      batch,
      messages,
      accept: (lease) =>
        context.store.acceptBatch({
          projectId: project.id,
          batch,
          content,
          idempotencyKey,
          recipients: messages,
          lease,
          each: price,
          answer: (balance) => bound(batchAnswer(batch, balance)),
        }),
    };
  });
  if (sent.kind === 'repeat') return repeatedAnswer(context, project.id, idempotencyKey ?? '', sent.answer);
  return { ...batchAnswer(sent.draft.batch, sent.balance), replayed: false };
}
