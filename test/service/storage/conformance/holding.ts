import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/service/storage/store.js';
import { batch, claimOf, doubtMs, type Fixture, leaseMs, message, newId, project, sent } from './fixture.js';

const unknown: Outcome = { status: 'sent', carrierIds: [], delivery: 'unknown' };
const failed: Outcome = { status: 'failed', error: { code: 'provider_failed', message: 'no' } };

export function holdingConformance(fixture: () => Fixture): void {
  const claimUnfinished = (limit = 100) =>
    fixture().store.claimUnfinished({ token: fixture().newToken(), leaseMs, limit });

  /** Messages in every state that is not final, by that state. */
  async function unfinished() {
    const { store } = fixture();
    const ids = {
      waiting: message({ to: '1' }),
      leased: message({ to: '2' }),
      marked: message({ to: '3', claim: claimOf(fixture().newToken()) }),
      doubtful: message({ to: '4', claim: claimOf(fixture().newToken()) }),
    };
    await store.acceptMessage(ids.leased);
    const leased = await fixture().claim();
    await store.acceptMessage(ids.waiting);
    await store.acceptMessage(ids.marked);
    const doubtful = await store.acceptMessage(ids.doubtful);
    if (doubtful.kind !== 'accepted') throw new Error('not accepted');
    await store.leaveInDoubt(doubtful.claimed.map((claimed) => ({ claimed, delayMs: 1_000 })));
    const inBatch = await store.acceptBatch(batch(['5', '6'], { idempotencyKey: 'batch' }));
    if (inBatch.kind !== 'accepted') throw new Error('not accepted');
    const of = (name: keyof typeof ids) => fixture().statusOf(ids[name].recipient.id);
    return { leased, batchId: inBatch.batch.id, of };
  }

  it('the depth of the queue is told by lane', async () => {
    const { store, clock } = fixture();
    expect(await store.queueDepth()).toEqual([]);
    await unfinished();
    await store.acceptMessage(message({ to: '9', lane: 'email' }));
    const [one] = await fixture().claim(1, 'email');
    if (one !== undefined)
      await store.postponeMessages([{ claimed: one, delayMs: 60_000, isTry: true, lane: 'other' }]);
    clock.advance(3_000);
    const sms = { lane: 'sms', waiting: 3, oldestMs: 3_000, claimed: 2, doubtful: 1 };
    const other = { lane: 'other', waiting: 1, oldestMs: null, claimed: 0, doubtful: 0 };
    expect(await store.queueDepth()).toEqual([other, sms]);
    await fixture().claim();
    expect(await store.queueDepth()).toEqual([other, { ...sms, waiting: 0, oldestMs: null, claimed: 5 }]);
  });

  describe('while the store is held', () => {
    it('nothing is accepted, claimed or marked, and there is nothing to do', async () => {
      const { store, clock } = fixture();
      expect(await store.held()).toBeNull();
      const { leased } = await unfinished();
      await store.hold('restored');
      expect(await store.held()).toBe('restored');
      await store.hold('failed_over');
      expect(await store.held()).toBe('restored');
      const verification = { id: newId(), codeHash: Buffer.from('c'), attempts: 5, lifeMs: 1 };
      expect([
        await store.acceptMessage(message()),
        await store.acceptMessage(message({ claim: claimOf(fixture().newToken()) })),
        await store.acceptBatch(batch(['7'])),
        await store.acceptVerification({ ...message({ to: '8' }), verification }),
      ]).toEqual(Array(4).fill({ kind: 'held' }));
      expect(await fixture().balance()).toBe(940);
      expect(await fixture().mark(leased)).toEqual([]);
      clock.advance(2_000);
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().claimDoubts()).toEqual([]);
      expect(await store.nextWork(['sms'])).toEqual({
        messages: null,
        overdue: null,
        doubts: null,
        leases: leaseMs - 2_000,
        paused: [],
      });
      clock.advance(leaseMs);
      await store.endLeases();
      expect(await store.hasDue()).toBe(false);
      expect(await fixture().claim()).toEqual([]);
    });

    it('reads, receipts and the outcomes of attempts that are under way go on', async () => {
      const { store } = fixture();
      const one = message({ claim: claimOf(fixture().newToken()), idempotencyKey: 'k', to: '1' });
      const accepted = await store.acceptMessage(one);
      const receipt = {
        route: 'Mobicom',
        carrierId: 'c1',
        to: '1',
        state: 'delivered',
        reference: '',
        submittedAt: null,
      } as const;
      await store.hold('failed_over');
      if (accepted.kind !== 'accepted') throw new Error('not accepted');
      expect(
        await fixture().finalize(accepted.claimed, { status: 'sent', carrierIds: ['c1'], delivery: null }),
      ).toMatchObject([{ message: { status: 'sent' } }]);
      await store.recordReceipts([receipt], () => ({ status: 200, body: '' }));
      expect(await fixture().statusOf(one.recipient.id)).toMatchObject({ delivery: 'delivered' });
      expect(await store.findAnswer(project.id, 'k')).toMatchObject({ status: 200 });
      expect(await store.countUnfinished()).toEqual({ messages: 0, submitting: 0 });
    });

    it('everything that is not final can be ended, whoever has it, in portions', async () => {
      const { store } = fixture();
      const { leased, batchId, of } = await unfinished();
      expect(await claimUnfinished()).toEqual([]);
      await store.hold('restored');
      expect(await store.countUnfinished()).toEqual({ messages: 6, submitting: 2 });
      // A portion whose process dies comes again.
      expect(await claimUnfinished(1)).toHaveLength(1);
      expect(await store.countUnfinished()).toEqual({ messages: 6, submitting: 2 });
      let ended = 0;
      for (;;) {
        const portion = await claimUnfinished(4);
        if (portion.length === 0) break;
        const results = await fixture().finalize(portion, ended === 0 ? failed : unknown);
        expect(results).not.toContain(null);
        ended += portion.length;
      }
      expect(ended).toBe(6);
      expect(await store.countUnfinished()).toEqual({ messages: 0, submitting: 0 });
      const messages = [await of('waiting'), await of('leased'), await of('marked'), await of('doubtful')];
      for (const { id } of (await store.listBatchMessages(project.id, batchId, { limit: 9, after: null })) ??
        [])
        messages.push(await fixture().statusOf(id));
      const fates = messages.map((one) => `${one?.status} ${one?.delivery} ${one?.credits}`);
      expect(fates.sort()).toEqual([...Array(4).fill('failed null 0'), ...Array(2).fill('sent unknown 10')]);
      expect(await store.getBatch(project.id, batchId)).toMatchObject({ status: 'completed' });
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([980, 980]);
      expect(await fixture().finalize(leased, sent)).toEqual([null]);
      await store.release();
      expect(await store.hasDue()).toBe(false);
    });
  });

  describe('a release', () => {
    it('brings back what was not marked, at once, and leaves the rest in doubt', async () => {
      const { store, clock } = fixture();
      const { leased, of } = await unfinished();
      await store.hold('restored');
      clock.advance(1_000);
      await store.release();
      expect(await store.held()).toBeNull();
      expect(await store.acceptMessage(message({ to: '9' }))).toMatchObject({ kind: 'accepted' });
      expect(await fixture().mark(leased)).toEqual([]);
      expect((await fixture().claim()).map(({ message: { to } }) => to).sort()).toEqual([
        '1',
        '2',
        '5',
        '6',
        '9',
      ]);
      const doubts = await fixture().claimDoubts();
      expect(doubts.map(({ message: { to }, mark, doubtMs: left }) => [to, mark?.attempt, left])).toEqual(
        expect.arrayContaining([
          ['3', 1, doubtMs],
          ['4', 1, doubtMs - 1_000],
        ]),
      );
      expect(doubts).toHaveLength(2);
      expect(await of('marked')).toMatchObject({ status: 'queued' });
    });

    it('happens once: the next one leaves what is being sent alone', async () => {
      const { store } = fixture();
      await store.acceptMessage(message({ to: '1' }));
      await store.hold('restored');
      const released = await Promise.all(fixture().handles.map((handle) => handle.store.release()));
      expect(released.filter(Boolean)).toHaveLength(1);
      const claimed = await fixture().claim();
      expect(claimed).toHaveLength(1);
      expect(await store.release()).toBe(false);
      expect(await fixture().mark(claimed)).toHaveLength(1);
    });

    it('wakes who waits for something to do', async () => {
      const { store } = fixture();
      await store.hold('restored');
      let woken = 0;
      fixture().handles[0]?.changes.subscribe('due', () => (woken += 1));
      await fixture().handles[0]?.store.release();
      expect(woken).toBe(1);
    });
  });
}
