import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import {
  answerOf,
  batch,
  claimOf,
  doubtMs,
  type Fixture,
  failed,
  leaseMs,
  message,
  sent,
} from './fixture.js';

export function fenceConformance(fixture: () => Fixture): void {
  /** One message, accepted with a claim: marked for its first attempt. */
  async function accepted(given: Parameters<typeof message>[0] = {}): Promise<ClaimedMessage> {
    const result = await fixture().store.acceptMessage(message({ claim: claimOf('mine'), ...given }));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    return result.claimed[0] as ClaimedMessage;
  }

  async function endLease(): Promise<void> {
    fixture().clock.advance(leaseMs);
    await fixture().store.endLeases();
  }

  describe('the mark', () => {
    it('is refused out of the lease, twice for one attempt, and for a stranger', async () => {
      const { store } = fixture();
      await store.acceptMessage(message());
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      expect(await fixture().mark([{ ...claimed, token: 'not mine' }])).toEqual([]);
      const marked = await fixture().mark([claimed]);
      expect(marked).toHaveLength(1);
      expect(await fixture().mark([claimed])).toEqual([]);
      // The next route, with the next attempt.
      const next = await fixture().mark(marked, 'no-link');
      expect(next).toMatchObject([{ mark: { attempt: 2, route: 'no-link' } }]);
      expect(await fixture().finalize(marked, failed)).toEqual([null]);
      expect(await fixture().finalize(next, sent)).toMatchObject([{ message: { status: 'sent' } }]);
      expect(await fixture().mark(next)).toEqual([]);
    });

    it('holds for each of a group by itself', async () => {
      const { store } = fixture();
      await store.acceptBatch(batch(['1', '2', '3', '4']));
      const claimed = await fixture().claim();
      await store.postponeMessages(
        claimed.slice(1, 2).map((one) => ({ claimed: one, delayMs: 0, isTry: false })),
      );
      const marked = await fixture().mark(claimed);
      expect(marked.map(({ message: { to } }) => to)).toEqual(['1', '3', '4']);
      expect(await fixture().finalize(claimed, failed)).toEqual([null, null, null, null]);
      const again = await fixture().claim();
      expect(again.map(({ message: { to } }) => to)).toEqual(['2']);
      const all = [...marked, ...(await fixture().mark(again))];
      const ends = await fixture().finalize(all, sent);
      expect(ends.map((end) => end?.message.to)).toEqual(['1', '3', '4', '2']);
      expect(await store.hasDue()).toBe(false);
    });

    it('cleared by its attempt makes the message due again, for the next attempt', async () => {
      const { store } = fixture();
      const claimed = await accepted();
      await store.postponeMessages([{ claimed, delayMs: 0, isTry: false }]);
      const again = await fixture().claim();
      expect(again).toMatchObject([{ attempts: 1, mark: null }]);
      const marked = await fixture().mark(again);
      expect(marked).toMatchObject([{ mark: { attempt: 2 } }]);
      // Whatever the first attempt still says is of the past.
      await store.postponeMessages([{ claimed, delayMs: 0, isTry: false }]);
      await store.leaveInDoubt([{ claimed, delayMs: 0 }]);
      expect(await fixture().finalize([claimed], failed)).toEqual([null]);
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().claimDoubts()).toEqual([]);
      expect(await fixture().finalize(marked, sent)).toMatchObject([{ message: { status: 'sent' } }]);
    });
  });

  describe('what is said twice about one message at once', () => {
    it.each([
      ['failed, twice', [failed, failed], 1_000],
      ['sent, then failed', [sent, failed], 990],
      ['failed, then sent', [failed, sent], 1_000],
    ])('counts once: %s', async (_, outcomes, balance) => {
      const claimed = await accepted();
      const ends = await fixture().store.finalizeMessages(
        outcomes.map((outcome) => ({ claimed, outcome })),
        answerOf,
      );
      expect(ends).toMatchObject([{ message: { status: outcomes[0]?.status }, balance }, null]);
      expect(await fixture().statusOf(claimed.message.id)).toMatchObject({ status: outcomes[0]?.status });
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([balance, balance]);
    });

    it('passes by what is of the past', async () => {
      const { store } = fixture();
      const past = await accepted();
      await store.postponeMessages([{ claimed: past, delayMs: 0, isTry: false }]);
      const [now] = (await fixture().mark(await fixture().claim())) as [ClaimedMessage];
      const both = [past, now].map((claimed) => ({ claimed, outcome: sent }));
      expect(await store.finalizeMessages(both, answerOf)).toMatchObject([null, { balance: 990 }]);
    });

    it('makes it due once', async () => {
      const { store } = fixture();
      const claimed = await accepted();
      const give = (delayMs: number) => ({ claimed, delayMs, isTry: true });
      await store.postponeMessages([give(0), give(5)]);
      fixture().clock.advance(5);
      expect(await fixture().claim()).toMatchObject([{ tries: 1 }]);
    });
  });

  it('a delay may end within a millisecond', async () => {
    const { store } = fixture();
    const claimed = await accepted();
    await store.postponeMessages([{ claimed, delayMs: 1_234.5, isTry: true }]);
    fixture().clock.advance(1_234);
    expect(await fixture().claim()).toEqual([]);
    fixture().clock.advance(1);
    const marked = await fixture().mark(await fixture().claim());
    expect(marked).toHaveLength(1);
    await store.leaveInDoubt(marked.map((one) => ({ claimed: one, delayMs: 200.25 })));
    fixture().clock.advance(201);
    expect(await fixture().claimDoubts()).toHaveLength(1);
  });

  describe('a marked message whose lease ends', () => {
    it('is in doubt: nobody submits it, and its attempt may still end it', async () => {
      const { store } = fixture();
      const claimed = await accepted({ idempotencyKey: 'k' });
      await endLease();
      expect(await fixture().claim()).toEqual([]);
      expect(await store.renewLeases(['mine'], leaseMs)).toEqual([false]);
      expect(await fixture().mark([claimed])).toEqual([]);
      expect(await store.nextWork(['sms'])).toMatchObject({ messages: null, doubts: 0 });
      expect(await fixture().finalize([claimed], sent)).toMatchObject([{ balance: 990 }]);
      expect(await store.nextWork(['sms'])).toMatchObject({ doubts: null });
    });

    it('is looked into by one process at a time, which leaves its deadline as it is', async () => {
      const { store, clock } = fixture();
      await accepted();
      await endLease();
      const [doubt] = (await fixture().claimDoubts()) as [ClaimedMessage];
      expect(doubt).toMatchObject({ doubtMs, mark: { attempt: 1, route: 'Mobicom' } });
      expect(await fixture().claimDoubts()).toEqual([]);
      await store.leaveInDoubt([{ claimed: doubt, delayMs: 1_000 }]);
      expect(await store.nextWork(['sms'])).toMatchObject({ doubts: 1_000, leases: null });
      clock.advance(1_000);
      expect(await fixture().claimDoubts()).toMatchObject([{ doubtMs: doubtMs - 1_000 }]);
      // Whoever looked into it died.
      await endLease();
      expect(await fixture().claimDoubts()).toMatchObject([{ doubtMs: doubtMs - 1_000 - leaseMs }]);
    });

    it('is ended by its attempt while another looks into it, and not by both', async () => {
      const { store } = fixture();
      const claimed = await accepted();
      await endLease();
      const doubts = await fixture().claimDoubts();
      expect(await fixture().finalize([claimed], sent)).toMatchObject([{ message: { delivery: null } }]);
      expect(await fixture().finalize(doubts, failed)).toEqual([null]);
      await store.postponeMessages(doubts.map((one) => ({ claimed: one, delayMs: 0, isTry: false })));
      expect(await fixture().claim()).toEqual([]);
      expect(await store.hasDue()).toBe(false);
      expect(await fixture().balance()).toBe(990);
    });

    it('that was not taken is submitted again, and no more by its attempt', async () => {
      const { store } = fixture();
      const claimed = await accepted();
      await endLease();
      const doubts = await fixture().claimDoubts();
      await store.postponeMessages(doubts.map((one) => ({ claimed: one, delayMs: 0, isTry: false })));
      expect(await fixture().finalize([claimed], sent)).toEqual([null]);
      const marked = await fixture().mark(await fixture().claim());
      expect(await fixture().finalize([claimed], failed)).toEqual([null]);
      expect(await fixture().finalize(marked, sent)).toMatchObject([{ balance: 990 }]);
    });

    it('that nobody can tell about ends as sent, with delivery unknown, charged', async () => {
      const claimed = await accepted();
      await endLease();
      const doubts = await fixture().claimDoubts();
      await fixture().finalize(doubts, { status: 'sent', carrierIds: [], delivery: 'unknown' });
      expect(await fixture().statusOf(claimed.message.id)).toMatchObject({
        status: 'sent',
        delivery: 'unknown',
      });
      expect(await fixture().finalize([claimed], failed)).toEqual([null]);
      expect(await fixture().balance()).toBe(990);
    });
  });

  describe('leases of others', () => {
    it('are not ended by a handle that was connected for less than they last', async () => {
      const { store, clock, handles } = fixture();
      await store.acceptMessage(message());
      await fixture().claim();
      expect(await store.nextWork(['sms'])).toMatchObject({ leases: leaseMs });
      clock.set(clock.now() + leaseMs);
      await store.endLeases();
      expect(await fixture().claim()).toEqual([]);
      expect(await store.nextWork(['sms'])).toMatchObject({ leases: leaseMs });
      clock.advance(leaseMs);
      await Promise.all(handles.map((handle) => handle.store.endLeases()));
      expect(await fixture().claim()).toHaveLength(1);
    });

    it('that end later than a lease can last were given before the clock was set back, and are over', async () => {
      const { store, clock } = fixture();
      const now = clock.now();
      clock.set(now + 3_600_000);
      await store.acceptMessage(message());
      await fixture().claim();
      await accepted({ to: '2' });
      clock.set(now);
      await store.endLeases();
      expect(await fixture().claim()).toHaveLength(1);
      expect(await fixture().claimDoubts()).toHaveLength(1);
    });
  });
}
