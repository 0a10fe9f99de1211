import { keyTopic } from '../storage/changes.js';
import type { BoundAnswer, MessageRecord } from '../storage/store.js';
import type { OperationContext } from './context.js';
import type { Answer } from './operations.js';
import { outcomeUnknown, removed } from './outcomes.js';
import type { SendAnswer } from './resources.js';

/** The answer to a repeat. While the first request is running (`answer` is null), it waits. */
export async function repeatedAnswer(
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
  const final = answer ?? (await context.outcomes.wait(keyTopic(projectId, key), look));
  if (final === null) throw outcomeUnknown(repeatAdvice);
  return { ...parsed(final), replayed: true };
}

/**
 * The answer to the first request with a key, as bound by the process that finalized its message, with the balance at
 * that time.
 */
export async function ownAnswer(
  context: OperationContext,
  { id, projectId }: MessageRecord,
  key: string,
): Promise<SendAnswer> {
  const { store, outcomes } = context;
  const answer = await outcomes.wait(keyTopic(projectId, key), async () => {
    const known = await store.findAnswer(projectId, key);
    if (known) return parsed(known);
    if ((await store.getMessage(projectId, id)) === null) throw removed();
    return null;
  });
  if (answer === null) throw outcomeUnknown(repeatAdvice);
  // After a reset the key is free, and may already be bound to another message.
  if (messageIdOf(answer) !== id) throw removed();
  return answer;
}

const repeatAdvice = 'repeat the request with the same idempotency key';

function messageIdOf({ body }: SendAnswer): unknown {
  const { id, error } = body as { id?: string; error: { id?: string } | null };
  return id ?? error?.id;
}

function parsed({ status, body }: BoundAnswer): SendAnswer {
  return { status, body: JSON.parse(body) };
}
