import { ServiceError } from '../service-error.js';
import type { MessageRecord } from '../storage/store.js';
import type { OperationContext } from './context.js';

/** Topics of the answer board. */
export const keyTopic = (projectId: string, key: string) => `key ${projectId} ${key}`;
export const messageTopic = (id: string) => `message ${id}`;
export const resetTopic = 'reset';

/** Seconds after which a request whose outcome is not known may be repeated. */
const outcomeRetry = 10;

/**
 * Waits for a message that goes on in the background, here or in another process. Null when its end is not known
 * in time; throws when a reset has removed it.
 */
export function settledMessage(
  context: OperationContext,
  { id, projectId }: MessageRecord,
): Promise<{ message: MessageRecord; balance: number } | null> {
  return context.answers.wait(messageTopic(id), async () => {
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
    `The message was taken in and its outcome is not known yet; ${advice}`,
    { retryAfter: outcomeRetry },
  );
}

export function removed(): ServiceError {
  return new ServiceError('unavailable', 'The message was removed by a reset', { retryAfter: 1 });
}
