import { describe, expect, it } from 'vitest';
import { type BatchClient, BatchMessages } from '../../../src/cli/reader/batch-messages.js';
import { Reader } from '../../../src/cli/reader/reader.js';
import { Refused } from '../bulk/model-service.js';
import { VirtualClock } from '../bulk/virtual-clock.js';

type Batches = BatchClient['batches'];

function messagesAt(batches: Partial<Batches>, timeout = 60_000) {
  const clock = new VirtualClock();
  const client = {
    batches: { get: async () => ({}) as never, messages: async () => ({}) as never, ...batches },
  };
  const reader = new Reader({
    rateLimiter: { take: async (_, signal) => !signal?.aborted, block: () => {} },
    now: clock.now,
    sleep: clock.sleep,
    after: clock.after,
    timeout,
    stop: new AbortController().signal,
  });
  const messages = new BatchMessages(client, reader);
  return { of: (id: string) => clock.run(messages.of(id)) };
}

describe('the messages of a batch', () => {
  it('end where pages name each other as the next one', async () => {
    let pages = 0;
    const { of } = messagesAt({
      async messages(_, { after = 'b' }) {
        pages += 1;
        if (pages > 10) throw new Error('read for ever');
        return { data: [{ id: `m${pages}` } as never], next: after === 'a' ? 'b' : 'a' };
      },
    });
    expect(await of('batch')).toMatchObject({ messages: [{ id: 'm1' }, { id: 'm2' }, { id: 'm3' }] });
  });

  it('are unlisted where the batch exists and its list does not', async () => {
    const { of } = messagesAt({ messages: () => Promise.reject(new Refused('not_found', 404)) });
    expect(await of('batch')).toEqual({ unlisted: true });
  });

  it('are given up after the timeout', async () => {
    const { of } = messagesAt({ messages: () => Promise.reject(new Refused('rate_limited', 429)) }, 0);
    expect(await of('batch')).toEqual({ unread: 'timeout' });
  });
});
