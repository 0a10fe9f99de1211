import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import { answerOf, batch, type Fixture, failed, leaseMs, message, sent, unknown } from './fixture.js';

const withinMs = 60_000;
const bytes = (text: string) => new TextEncoder().encode(text);

export function repeatsConformance(fixture: () => Fixture): void {
  const mark = async (claimed: ClaimedMessage, request: string | null = 'request', route = 'Mobicom') => {
    const attempt = claimed.attempts + 1;
    const sealed = request === null ? null : bytes(request);
    const marks = [{ claimed, attempt, route, doubtMs: 300_000, request: sealed }];
    expect(await fixture().store.markSubmitting(marks)).toEqual([true]);
    return { ...claimed, attempts: attempt, mark: { attempt, route } };
  };
  /** A message that is marked with a request, and its doubt in the hands of another process. */
  async function inDoubt(
    request: string | null = 'request',
    to = '99112233',
  ): Promise<{ first: ClaimedMessage; doubt: ClaimedMessage }> {
    await fixture().store.acceptMessage(message({ to }));
    const [claimed] = (await fixture().claim()) as [ClaimedMessage];
    const first = await mark(claimed, request);
    fixture().clock.advance(leaseMs);
    await fixture().store.endLeases();
    const [doubt] = (await fixture().claimDoubts()) as [ClaimedMessage];
    return { first, doubt };
  }
  const repeat = (claimed: ClaimedMessage) => fixture().store.markRepeating(claimed, withinMs);
  const textOf = (request: Uint8Array | undefined) => request && new TextDecoder().decode(request);

  describe('a request that is repeated', () => {
    it('is the one that was marked, each time as an attempt of its own', async () => {
      const { doubt } = await inDoubt();
      const one = await repeat(doubt);
      expect(one?.claimed).toMatchObject({ attempts: 2, mark: { attempt: 2, route: 'Mobicom' } });
      expect(textOf(one?.request)).toBe('request');
      expect(await repeat(doubt)).toBeNull();
      const two = await repeat(one?.claimed as ClaimedMessage);
      expect(two?.claimed).toMatchObject({ attempts: 3 });
      await fixture().store.leaveInDoubt([{ claimed: two?.claimed as ClaimedMessage, delayMs: 1_000 }]);
      fixture().clock.advance(1_000);
      const [again] = (await fixture().claimDoubts()) as [ClaimedMessage];
      expect(again).toMatchObject({ attempts: 3, doubtMs: 300_000 - 1_000 });
      expect(textOf((await repeat(again))?.request)).toBe('request');
    });

    it('is what its first attempt is believed no more about', async () => {
      const { first, doubt } = await inDoubt();
      const { claimed } = (await repeat(doubt)) as { claimed: ClaimedMessage };
      const { store } = fixture();
      await store.postponeMessages([{ claimed: first, delayMs: 0, isTry: true }]);
      await store.leaveInDoubt([{ claimed: first, delayMs: 0 }]);
      expect(await fixture().finalize([first], failed)).toEqual([null]);
      expect([await fixture().claim(), await fixture().claimDoubts()]).toEqual([[], []]);
      expect(await fixture().finalize([claimed], sent)).toMatchObject([{ message: { status: 'sent' } }]);
      expect(await fixture().balance()).toBe(990);
    });

    it('is none without a request, out of its lease, or before there is a doubt', async () => {
      const { doubt } = await inDoubt(null);
      expect(await repeat(doubt)).toBeNull();
      const { first, doubt: other } = await inDoubt();
      expect(await repeat(first)).toBeNull();
      expect(await repeat({ ...other, token: 'not mine' })).toBeNull();
      await fixture().store.acceptMessage(message());
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      expect(await repeat(await mark(claimed))).toBeNull();
    });

    it('stays where it is while its lane is paused, or the store is held', async () => {
      const { store } = fixture();
      const { doubt } = await inDoubt();
      await store.pauseLane(doubt.lane);
      expect(await repeat(doubt)).toBeNull();
      await store.resumeLane(doubt.lane);
      await store.hold('restored');
      expect(await repeat(doubt)).toBeNull();
      await store.release();
      const [again] = (await fixture().claimDoubts()) as [ClaimedMessage];
      expect(await repeat(again)).not.toBeNull();
    });

    it('is as old as the first that went out of its message', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message());
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      await store.postponeMessages([{ claimed: await mark(claimed), delayMs: 20_000, isTry: true }]);
      clock.advance(20_000);
      const [later] = (await fixture().claim()) as [ClaimedMessage];
      await store.leaveInDoubt([{ claimed: await mark(later, 'second'), delayMs: 0 }]);
      clock.advance(withinMs - 20_000);
      const [doubt] = (await fixture().claimDoubts()) as [ClaimedMessage];
      const one = await repeat(doubt);
      expect(textOf(one?.request)).toBe('second');
      clock.advance(1);
      expect(await repeat(one?.claimed as ClaimedMessage)).toBeNull();
    });

    it('is none over a route that keeps none', async () => {
      const { store } = fixture();
      await store.acceptMessage(message());
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      const other = await mark(await mark(claimed), null, 'no-link');
      await store.leaveInDoubt([{ claimed: other, delayMs: 0 }]);
      const [doubt] = (await fixture().claimDoubts()) as [ClaimedMessage];
      expect(await repeat(doubt)).toBeNull();
    });

    it('is forgotten with the end of its message, however that ends', async () => {
      const { store } = fixture();
      const { doubt } = await inDoubt();
      await fixture().finalize([doubt], unknown);
      expect(await repeat(doubt)).toBeNull();
      expect(await fixture().countRequests()).toBe(0);
      const { first } = await inDoubt();
      await fixture().finalize([first], failed);
      const { doubt: awaited } = await inDoubt('request', '88112233');
      const receipt = { route: 'Mobicom', carrierId: 'c1', to: '88112233', state: 'delivered' } as const;
      await store.recordReceipts(
        [{ ...receipt, reference: awaited.message.id, submittedAt: null }],
        answerOf,
      );
      expect(await fixture().countRequests()).toBe(0);
      const stopped = batch(['1', '2']);
      await store.acceptBatch(stopped);
      const claimed = await fixture().claim();
      for (const one of claimed)
        await store.postponeMessages([{ claimed: await mark(one), delayMs: 60_000, isTry: true }]);
      expect(await fixture().countRequests()).toBe(2);
      await store.stopBatch(stopped.batchId, { code: 'provider_failed', message: 'no' });
      expect(await fixture().countRequests()).toBe(0);
    });
  });
}
