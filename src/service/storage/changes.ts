/** Changes: a message was finalized, an answer was bound to a key, a message is due, a reset has finished. */
export type Topic = `message:${string}` | `key:${string}` | 'due' | 'reset';

export const keyTopic = (projectId: string, key: string): Topic => `key:${projectId} ${key}`;
export const messageTopic = (id: string): Topic => `message:${id}`;

/**
 * Signals that something may have changed, in this process or another one. A wake-up is only a hint: there may be too
 * many, and they may be late by the engine's poll. Subscribe, look, and look again when woken.
 */
export interface Changes {
  /** Calls `wake` until the returned function is called. */
  subscribe(topic: Topic, wake: () => void): () => void;
}
