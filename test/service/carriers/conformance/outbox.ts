import { expect, it } from 'vitest';
import { everyAttempt } from '../../../../src/service/carriers/carrier.js';
import type { Outbox, OutboxFilter } from '../../../../src/service/carriers/simulated/outbox.js';
import { submissionOf as submission } from '../../../support/smpp.js';

export async function delivered(outbox: Outbox, filter: OutboxFilter = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const { messageId } of outbox.read(filter)) ids.push(messageId);
  return ids;
}

/** The rules of an outbox. `open`: two handles of one that is empty. */
export function outboxConformance(open: () => Promise<readonly [Outbox, Outbox]>): void {
  it.each([
    [{}, 900, '0'],
    [{ limit: 700 }, 700, '200'],
    [{ limit: 5_000 }, 900, '0'],
    [{ limit: 0 }, 0, undefined],
    [{ to: '99112233', limit: 2 }, 2, '898'],
    [{ to: '88112233', limit: 2 }, 0, undefined],
    [{ after: '798' }, 101, '799'],
    [{ after: '899' }, 0, undefined],
    [{ after: 'nothing' }, 0, undefined],
    [{ to: '88112233', after: '7' }, 0, undefined],
    [{ isNewestFirst: true }, 900, '899'],
    [{ to: '88112233', isNewestFirst: true }, 0, undefined],
  ])('with %o shows those in their order', async (filter, count, first) => {
    const [outbox] = await open();
    await Promise.all(Array.from({ length: 900 }, (_, index) => outbox.deliver(submission(`${index}`))));
    const found = await delivered(outbox, filter);
    expect([found.length, found[0]]).toEqual([count, first]);
    const sorted = found.map(Number).sort((a, b) => a - b);
    expect(found.map(Number)).toEqual('isNewestFirst' in filter ? sorted.reverse() : sorted);
  });

  it('finds and forgets the deliveries of messages', async () => {
    const [outbox] = await open();
    for (const reference of ['a', 'b', 'c']) await outbox.deliver(submission(reference));
    await outbox.forget(['a', 'nothing']);
    const found = await outbox.find(['c', 'a', 'b']);
    expect(found.map(({ messageId }) => messageId)).toEqual(['b', 'c']);
    expect(found[0]).toMatchObject({ channel: 'sms', to: '99112233', from: null, replyTo: null });
  });

  it('holds back attempts below a fence, after a reset those of fences for every attempt', async () => {
    const [outbox] = await open();
    await outbox.ageOrFence('a', 2);
    await outbox.ageOrFence('b', everyAttempt);
    expect(await outbox.deliver(submission('a'))).toBe(false);
    expect(await outbox.deliver(submission('a', { attempt: 2 }))).toBe(true);
    expect(await outbox.ageOrFence('a', 3)).toBeGreaterThanOrEqual(0);
    await outbox.reset();
    expect(await outbox.deliver(submission('a'))).toBe(true);
    expect(await outbox.deliver(submission('b', { attempt: 9 }))).toBe(false);
  });

  it('counts repeats, and knows a name once, until a reset', async () => {
    const [one, two] = await open();
    expect(await one.repeats()).toBe(0);
    await one.deliver(submission('a'));
    await two.deliver(submission('a', { attempt: 2 }));
    expect(await one.repeats()).toBe(1);
    expect([await one.isFirst('n'), await two.isFirst('n')]).toEqual([true, false]);
    await two.reset();
    expect([await one.isFirst('n'), await one.repeats()]).toEqual([true, 0]);
  });
}
