import type { Channel } from '../../contract/index.js';
import { ServiceError } from '../service-error.js';
import { capsOf } from '../settings.js';
import type {
  AcceptResult,
  BatchResult,
  ClaimedMessage,
  Content,
  Lease,
  MessageAcceptance,
  MessageRecord,
  Settled,
} from '../storage/store.js';
import type { OperationContext, Project } from './context.js';
import type { Recipient } from './fields.js';
import { resetTopic } from './outcomes.js';
import type { Price } from './pricing.js';

/** A send that has passed its field rules and has its price. */
export interface Send {
  project: Project;
  channel: Channel;
  content: Content;
  /** Of each message. */
  price: Price;
  idempotencyKey: string | null;
  dispatch: Dispatching;
}

/**
 * `before_answer`: the caller waits for the carrier's answer. `after_answer`: by this process, while it has room.
 * `queued`: by whichever process claims it.
 */
export type Dispatching = 'before_answer' | 'after_answer' | 'queued';

/** An SMS is submitted before its answer, an email is queued (interface, "What the service does"). */
export const singleDispatch = { sms: 'before_answer', email: 'queued' } as const;

/** The records of one try to accept a send. */
export interface Draft {
  messages: readonly MessageRecord[];
  /** Stores the records in one transaction; with a lease, this process dispatches the messages. */
  accept(lease: Lease | null): Promise<AcceptResult | BatchResult>;
}

export interface Accepted<Records> {
  kind: 'accepted';
  draft: Records;
  balance: number;
  /** Set only with `before_answer`, and then null while the outcome is not known. */
  finalized: Settled | null;
}

/** The idempotency key is taken; `answer` is null while its first request is running. */
export type Repeat = Extract<AcceptResult, { kind: 'repeat' }>;

/**
 * Accepts a send and dispatches its messages: the one way from an operation to store and carrier. Throws ServiceError
 * when the store refuses it. `newDraft` runs again, with new ids and times, after a reset that held the send back.
 */
export async function acceptAndDispatch<Records extends Draft>(
  context: OperationContext,
  send: Send,
  newDraft: () => Records,
): Promise<Accepted<Records> | Repeat> {
  const look = async () => {
    const tried = await accept(context, send, newDraft());
    return tried.kind === 'resetting' ? null : tried;
  };
  const tried = (await look()) ?? (await context.outcomes.wait(resetTopic, look));
  if (tried === null) {
    throw new ServiceError('unavailable', 'The service is being reset. Nothing was sent; try again', {
      retryAfter: 1,
    });
  }
  if (tried.kind === 'repeat') return tried;
  const { draft } = tried;
  if (tried.kind !== 'accepted') throw refusalOf(tried, draft.messages);
  return { kind: 'accepted', draft, balance: tried.balance, finalized: await tried.finalized };
}

async function accept<Records extends Draft>(context: OperationContext, send: Send, draft: Records) {
  const slot = openSlot(context, send, draft.messages.length);
  const result = await store(draft, slot);
  if (result.kind !== 'accepted') return { ...result, draft };
  const earlier = 'earlier' in result ? result.earlier : null;
  const claimed = slot.lease === null ? [] : claimedMessages(send, draft.messages, slot.lease, earlier);
  return { ...result, draft, finalized: slot.dispatch(claimed) };
}

async function store(draft: Draft, slot: Slot): Promise<AcceptResult | BatchResult> {
  let accepted = false;
  try {
    const result = await draft.accept(slot.lease);
    accepted = result.kind === 'accepted';
    return result;
  } finally {
    if (!accepted) slot.close();
  }
}

/** A place with the dispatcher. Needs one call: `dispatch`, or `close` when nothing was accepted. */
interface Slot {
  lease: Lease | null;
  dispatch(claimed: readonly ClaimedMessage[]): Promise<Settled | null> | null;
  close(): void;
}

function openSlot({ dispatcher }: OperationContext, send: Send, messages: number): Slot {
  const { settings } = send.project;
  if (send.dispatch === 'before_answer') {
    return {
      lease: dispatcher.newLease(),
      dispatch: ([claimed]) => (claimed === undefined ? null : dispatcher.deliver(claimed, settings)),
      close() {},
    };
  }
  const room = send.dispatch === 'after_answer' ? dispatcher.reserve(messages) : null;
  if (room === null) {
    return {
      lease: null,
      dispatch() {
        dispatcher.wake();
        return null;
      },
      close() {},
    };
  }
  return {
    lease: room.lease,
    dispatch(claimed) {
      room.deliver(claimed, settings);
      return null;
    },
    close: () => room.deliver([], settings),
  };
}

function claimedMessages(
  { content, idempotencyKey, dispatch }: Send,
  messages: readonly MessageRecord[],
  lease: Lease,
  earlier: ReadonlyMap<string, number[]> | null,
): ClaimedMessage[] {
  const pendingKey = dispatch === 'before_answer' ? idempotencyKey : null;
  return messages.map((message) => ({
    message,
    content,
    lease,
    pendingKey,
    attempts: 1,
    earlier: earlier === null ? null : (earlier.get(message.to) ?? []),
  }));
}

export function newMessage(
  { newId, clock }: OperationContext,
  { project, channel, price }: Send,
  recipient: Recipient,
): MessageRecord {
  return {
    id: newId(),
    projectId: project.id,
    batchId: null,
    channel,
    ...recipient,
    status: 'queued',
    ...price,
    error: null,
    createdAt: clock.now(),
    sentAt: null,
  };
}

/** A message as it is stored; its answer is bound when it is finalized. */
export function messageAcceptance(
  send: Send,
  message: MessageRecord,
  lease: Lease | null,
): MessageAcceptance {
  const { content, idempotencyKey, project } = send;
  return { message, content, idempotencyKey, caps: capsOf(project.settings), lease, answer: null };
}

function refusalOf(
  refused: Extract<AcceptResult, { kind: 'capped' | 'insufficient' }>,
  messages: readonly MessageRecord[],
): ServiceError {
  if (refused.kind === 'insufficient') {
    const { balance } = refused;
    const required = messages.reduce((sum, { credits }) => sum + credits, 0);
    return new ServiceError(
      'insufficient_credits',
      `The send costs ${required} credits; the balance is ${balance}`,
      { fields: { balance, required } },
    );
  }
  const wait = refused.until - (messages[0]?.createdAt ?? 0);
  return new ServiceError(
    'recipient_rate_limited',
    'The recipient already got as many messages as the caps allow',
    { retryAfter: Math.max(1, Math.ceil(wait / 1_000)) },
  );
}
