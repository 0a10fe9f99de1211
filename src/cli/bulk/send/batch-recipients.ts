import { type MessagePage, messagePage, normalizeRecipient } from '../../../contract/index.js';
import { readError } from './answer.js';
import { backoff } from './retry-delay.js';
import type { RunOptions } from './run.js';

type Options = Pick<RunOptions, 'messageLister' | 'rateLimiter' | 'now' | 'sleep' | 'random' | 'stop'>;

/** The recipients of a batch, or why they are missing: the service does not list them, or cannot at present. */
export type BatchRecipients = ReadonlySet<string> | 'not listed' | 'not now';

/** Reads the recipients of a batch of `total`, until a time in milliseconds by `now`. */
export async function recipientsOfBatch(
  id: string,
  total: number,
  until: number,
  options: Options,
): Promise<BatchRecipients> {
  const recipients = new Set<string>();
  let listed = 0;
  let after: string | null = null;
  do {
    const page = await readPage(id, after, until, options);
    if (typeof page === 'string') return page;
    // A pruned message has lost its recipient, so any recipient may still be in the batch.
    if (page.data.some(({ to }) => to === '')) return 'not listed';
    for (const { to } of page.data) recipients.add(normalizeRecipient(to));
    listed += page.data.length;
    after = page.next;
  } while (after !== null && listed <= total);
  // A list of only part of the batch does not prove that a recipient is missing.
  return listed === total ? recipients : 'not listed';
}

async function readPage(
  id: string,
  after: string | null,
  until: number,
  { messageLister, rateLimiter, now, sleep, random, stop }: Options,
): Promise<MessagePage | Exclude<BatchRecipients, ReadonlySet<string>>> {
  for (let tries = 1; messageLister !== undefined; tries += 1) {
    if (!(await rateLimiter.take('reading', stop, Math.max(0, until - now())))) return 'not now';
    try {
      const from = after === null ? {} : { after };
      return await messageLister.batches.messages(id, { limit: messagePage.max, ...from });
    } catch (error) {
      const answer = readError(error);
      if (answer.kind === 'refusal' && (answer.status === 404 || answer.status === 405)) return 'not listed';
      if (answer.kind === 'refusal' && answer.status !== 429) return 'not now';
      const retryAfter = answer.kind === 'refusal' ? (answer.retryAfter ?? null) : null;
      const wait = retryAfter === null ? backoff(tries, random()) : retryAfter * 1_000;
      if (now() + wait > until) return 'not now';
      await sleep(wait, stop);
    }
  }
  return 'not listed';
}
