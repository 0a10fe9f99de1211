import { normalizeRecipient } from '../../../contract/index.js';
import { messagesOfBatch } from '../../reader/batch-messages.js';
import { isNotOffered, Reader } from '../../reader/reader.js';
import type { RunOptions } from './run.js';

type Options = Pick<RunOptions, 'messageLister' | 'rateLimiter' | 'now' | 'sleep' | 'stop'>;

/** The recipients of a batch, or why they are missing: the service does not list them, or cannot at present. */
export type BatchRecipients = ReadonlySet<string> | 'not listed' | 'not now';

const never = new AbortController().signal;

/** Reads the recipients of a batch of `total`, for so many milliseconds. */
export async function recipientsOfBatch(
  id: string,
  total: number,
  milliseconds: number,
  { messageLister, rateLimiter, now, sleep, stop = never }: Options,
): Promise<BatchRecipients> {
  if (messageLister === undefined) return 'not listed';
  const until = now() + milliseconds;
  const timeout = () => until - now();
  const reader = new Reader({ rateLimiter, now, sleep, stop, timeout, mostTries: Number.POSITIVE_INFINITY });
  const messages = await messagesOfBatch(messageLister, reader, id, total);
  if (!Array.isArray(messages)) return isNotOffered(messages) ? 'not listed' : 'not now';
  // A pruned message has lost its recipient, so any recipient may still be in the batch.
  if (messages.some(({ to }) => to === '')) return 'not listed';
  const recipients = new Set(messages.map(({ to }) => normalizeRecipient(to)));
  // A list of only part of the batch, perhaps a page of it twice, does not prove that a recipient is missing.
  return recipients.size === total && messages.length === total ? recipients : 'not listed';
}
