import { describe, expect, it } from 'vitest';
import { openOutboxDatabase, sqliteOutbox } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { systemClock } from '../../../src/service/clock.js';
import { submissionOf } from '../../support/smpp.js';

describe('the outbox', () => {
  it.each([
    [{}, 1_200, 0],
    [{ limit: 700 }, 700, 500],
    [{ limit: 5_000 }, 1_200, 0],
    [{ limit: 0 }, 0, undefined],
    [{ to: '99112233', limit: 2 }, 2, 1_198],
    [{ to: '88112233', limit: 2 }, 0, undefined],
    [{ after: '1098' }, 101, 1_099],
    [{ after: '1199' }, 0, undefined],
    [{ after: 'nothing' }, 0, undefined],
    [{ to: '88112233', after: '7' }, 0, undefined],
    [{ isNewestFirst: true }, 1_200, 1_199],
    [{ to: '88112233', isNewestFirst: true }, 0, undefined],
  ])('with %o shows those in their order', async (filter, count, first) => {
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
    const sorted = [...found].sort((a, b) => a - b);
    expect(found).toEqual('isNewestFirst' in filter ? sorted.reverse() : sorted);
  });
});

it('the outbox looks for a recipient among the newest 30,000, if the newest come first', async () => {
  const outbox = sqliteOutbox(await openOutboxDatabase(':memory:'), systemClock);
  await outbox.deliver(submissionOf('old', { to: '88112233' }));
  const deliver = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) => outbox.deliver(submissionOf(`${from + index}`))),
    );
  const isFound = async () => {
    for await (const { messageId } of outbox.read({ to: '88112233', isNewestFirst: true }))
      return messageId === 'old';
    return false;
  };
  await deliver(0, 29_999);
  expect(await isFound()).toBe(true);
  await deliver(29_999, 30_000);
  expect(await isFound()).toBe(false);
  await outbox.close();
});
