import { describe, expect, it } from 'vitest';
import { openOutboxDatabase, sqliteOutbox } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { systemClock } from '../../../src/service/clock.js';

describe('the outbox', () => {
  it.each([
    [{}, 1_200, 0],
    [{ limit: 700 }, 700, 500],
    [{ limit: 5_000 }, 1_200, 0],
    [{ limit: 0 }, 0, undefined],
    [{ to: '99112233', limit: 2 }, 2, 1_198],
    [{ to: '88112233', limit: 2 }, 0, undefined],
  ])('with %o shows the newest in their order', async (filter, count, first) => {
    const outbox = sqliteOutbox(await openOutboxDatabase(':memory:'), systemClock);
    const submission = { channel: 'sms', route: 'Mobicom', to: '99112233', text: 'Hello' } as const;
    const rest = { subject: null, html: null, from: null, replyTo: null };
    await Promise.all(
      Array.from({ length: 1_200 }, (_, index) =>
        outbox.deliver({ reference: `${index}`, attempt: 1, ...submission, ...rest }),
      ),
    );
    const found: number[] = [];
    for await (const { messageId } of outbox.read(filter)) found.push(Number(messageId));
    await outbox.close();
    expect(found).toHaveLength(count);
    expect(found[0]).toBe(first);
    expect(found).toEqual([...found].sort((a, b) => a - b));
  });
});
