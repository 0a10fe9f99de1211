import type { Channel } from '../../contract/index.js';
import { capsOf } from '../admin/settings.js';
import { ServiceError } from '../service-error.js';
import type {
  AcceptResult,
  BatchRecord,
  BoundAnswer,
  ClaimedMessage,
  Content,
  MessageRecord,
} from '../storage/store.js';
import type { OperationContext, Project } from './context.js';
import type { Recipient } from './fields.js';
import type { Answer, Caller } from './operations.js';
import { batchAnswer, bound, messageAnswer, type SendAnswer } from './resources.js';
import { keyTopic, outcomeUnknown, removed, settledMessage, whenReady } from './waits.js';

/** What one message costs. */
export interface Price {
  parts: number | null;
  rateMultiplier: number | null;
  credits: number;
}

export interface SingleSend {
  project: Project;
  channel: Channel;
  recipient: Recipient;
  content: Content;
  price: Price;
  idempotencyKey: string | null;
}

/** Sends one message: handed over before the answer (SMS), or queued and answered at once (email). */
export async function sendSingle(context: OperationContext, send: SingleSend): Promise<Answer> {
  const { project, content, idempotencyKey } = send;
  const handsOver = send.channel === 'sms';
  const result = await whenReady(context, async () => {
    const message = newMessage(context, send);
    const lease = handsOver ? context.dispatch.newLease() : null;
    const accepted = await context.store.acceptMessage({
      message,
      content,
      idempotencyKey,
      caps: capsOf(project.settings),
      lease,
      answer: handsOver ? null : (balance) => bound(messageAnswer(message, balance)),
    });
    return { ...accepted, message, lease };
  });
  if (result.kind === 'repeat') return repeated(context, project.id, idempotencyKey ?? '', result.answer);
  const { message, lease } = result;
  const balance = acceptedBalance(result, message.credits, message.createdAt);
  if (lease === null) {
    context.dispatch.wake();
    return { ...messageAnswer(message, balance), replayed: false };
  }
  const pendingKey = idempotencyKey;
  const claimed = { message, content, lease, pendingKey, attempts: 1, earlier: null };
  const settled = await context.dispatch.deliver(claimed, project.settings);
  if (settled === null && pendingKey !== null) {
    return { ...(await ownAnswer(context, message, pendingKey)), replayed: false };
  }
  const end = settled ?? (await settledMessage(context, message));
  if (end === null) throw outcomeUnknown(`it is message ${message.id}`);
  return { ...messageAnswer(end.message, end.balance), replayed: false };
}

export interface BatchSend {
  project: Project;
  channel: Channel;
  recipients: readonly Recipient[];
  content: Content;
  each: Price;
  idempotencyKey: string | null;
}

/** Takes in one message for many recipients; it is charged whole and delivered in the background. */
export async function sendBatch(context: OperationContext, send: BatchSend): Promise<Answer> {
  const { project, idempotencyKey } = send;
  const result = await whenReady(context, () => acceptBatch(context, send));
  if (result.kind === 'repeat') return repeated(context, project.id, idempotencyKey ?? '', result.answer);
  const { batch } = result;
  const balance = acceptedBalance(result, batch.credits, batch.createdAt);
  return { ...batchAnswer(batch, balance), replayed: false };
}

async function acceptBatch(context: OperationContext, send: BatchSend) {
  const { project, channel, recipients, content, each, idempotencyKey } = send;
  const batch: BatchRecord = {
    id: context.newId(),
    status: 'processing',
    channel,
    total: recipients.length,
    sent: 0,
    failed: 0,
    credits: each.credits * recipients.length,
    createdAt: context.clock.now(),
    completedAt: null,
  };
  const messages = recipients.map((recipient): MessageRecord => {
    const message = newMessage(context, { project, channel, recipient, price: each });
    return { ...message, batchId: batch.id, createdAt: batch.createdAt };
  });
  const room = context.dispatch.reserve(messages.length);
  let claimed: ClaimedMessage[] = [];
  try {
    const result = await context.store.acceptBatch({
      projectId: project.id,
      batch,
      content,
      idempotencyKey,
      recipients: messages,
      lease: room?.lease ?? null,
      each,
      answer: (balance) => bound(batchAnswer(batch, balance)),
    });
    if (room !== null && result.kind === 'accepted') {
      claimed = messages.map((message) => ({
        message,
        content,
        lease: room.lease,
        pendingKey: null,
        attempts: 1,
        earlier: result.earlier.get(message.to) ?? [],
      }));
    }
    return { ...result, batch };
  } finally {
    if (room === null) context.dispatch.wake();
    else room.deliver(claimed, project.settings);
  }
}

export function newMessage(
  context: OperationContext,
  { project, channel, recipient, price }: Pick<SingleSend, 'project' | 'channel' | 'recipient' | 'price'>,
): MessageRecord {
  return {
    id: context.newId(),
    projectId: project.id,
    batchId: null,
    channel,
    ...recipient,
    status: 'queued',
    ...price,
    error: null,
    createdAt: context.clock.now(),
    sentAt: null,
  };
}

/** The balance after an accepted send; throws what a refused one is answered with. */
export function acceptedBalance(
  result: Exclude<AcceptResult, { kind: 'repeat' | 'resetting' }>,
  required: number,
  now: number,
): number {
  switch (result.kind) {
    case 'accepted':
      return result.balance;
    case 'insufficient':
      throw new ServiceError(
        'insufficient_credits',
        `This costs ${required} credits and ${result.balance} are left`,
        { fields: { balance: result.balance, required } },
      );
    case 'capped':
      throw new ServiceError(
        'recipient_rate_limited',
        'The recipient already got as many messages as the caps allow',
        { retryAfter: Math.max(1, Math.ceil((result.until - now) / 1_000)) },
      );
  }
}

/** The answer bound to a key, once its first request has one; null when the key is free. */
export async function findAnswer(
  context: OperationContext,
  { projectId }: Pick<Caller, 'projectId'>,
  key: string,
): Promise<Answer | null> {
  const answer = await context.store.findAnswer(projectId, key);
  return answer === undefined ? null : repeated(context, projectId, key, answer);
}

async function repeated(
  context: OperationContext,
  projectId: string,
  key: string,
  answer: BoundAnswer | null,
): Promise<Answer> {
  const look = async () => {
    const known = await context.store.findAnswer(projectId, key);
    if (known === undefined) throw removed();
    return known;
  };
  const final = answer ?? (await context.answers.wait(keyTopic(projectId, key), look));
  if (final === null) throw outcomeUnknown(repeatAdvice);
  return { ...parsed(final), replayed: true };
}

/** The answer to the request that sent a message: whoever settled it has bound it, with the balance of then. */
async function ownAnswer(
  context: OperationContext,
  { id, projectId }: MessageRecord,
  key: string,
): Promise<SendAnswer> {
  const { store, answers } = context;
  const answer = await answers.wait(keyTopic(projectId, key), async () => {
    const known = await store.findAnswer(projectId, key);
    if (known) return parsed(known);
    if ((await store.getMessage(projectId, id)) === null) throw removed();
    return null;
  });
  if (answer === null) throw outcomeUnknown(repeatAdvice);
  // After a reset the key is free, and may be bound to another message by now.
  if (messageIdOf(answer) !== id) throw removed();
  return answer;
}

const repeatAdvice = 'repeat the request with its key';

function messageIdOf({ body }: SendAnswer): unknown {
  const { id, error } = body as { id?: string; error: { id?: string } | null };
  return id ?? error?.id;
}

function parsed({ status, body }: BoundAnswer): SendAnswer {
  return { status, body: JSON.parse(body) };
}
