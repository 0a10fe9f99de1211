import { ServiceError } from '../errors/service-error.js';
import { messageTopic } from '../storage/changes.js';
import type { Finalized, MessageRecord } from '../storage/store.js';
import type { OperationContext } from './context.js';

/** Retry-After, in seconds, of a request with an unknown outcome. */
const retryAfter = 10;

/**
 * Waits for the outcome of a message that is dispatched in the background, here or in another process. Null if it is
 * not known in time. Throws if a reset has removed the message.
 */
export function finalizedMessage(
  context: OperationContext,
  { id, projectId }: MessageRecord,
): Promise<Finalized | null> {
  return context.outcomes.wait(messageTopic(id), async () => {
    const message = await context.store.getMessage(projectId, id);
    if (message === null) throw removed();
    if (message.status === 'queued') return null;
    const project = await context.store.getProject(projectId);
    return { message, balance: project?.balance ?? 0 };
  });
}

export function outcomeUnknown(advice: string): ServiceError {
  return new ServiceError(
    'unavailable',
    `The message was accepted, but its outcome is not known yet; ${advice}`,
    { retryAfter },
  );
}

export function removed(): ServiceError {
  return new ServiceError('unavailable', 'The message was removed by a reset', { retryAfter: 1 });
}
