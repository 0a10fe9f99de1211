import { describe, expect, it } from 'vitest';
import type { BatchResult } from '../../../../src/service/storage/store.js';
import { batch, claimOf, type Fixture, failed, leaseMs, message, project, sent } from './fixture.js';

const stopped = { code: 'provider_failed', message: 'stopped' };
const to = ['88000001', '88000002', '88000003', '88000004'];

export function laneConformance(fixture: () => Fixture): void {
  type Given = Parameters<typeof batch>[1];
  async function accepted(given: Given = {}): Promise<Extract<BatchResult, { kind: 'accepted' }>> {
    const result = await fixture().store.acceptBatch(batch(to, given));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    return result;
  }
  const stop = (id: string) => fixture().store.stopBatch(id, stopped);
  const batchOf = (id: string) => fixture().store.getBatch(project.id, id);
  const pausedLanes = async () => (await fixture().store.nextWork(['sms'])).paused;

  describe('a lane', () => {
    it('is paused since its first pause, until it is resumed', async () => {
      const { store, clock } = fixture();
      const pausedAt = clock.now();
      await store.pauseLane('sms');
      clock.advance(1_000);
      await store.pauseLane('sms');
      expect(await store.lanePauses()).toEqual([{ lane: 'sms', pausedAt }]);
      await store.resumeLane('sms');
      expect(await store.lanePauses()).toEqual([]);
    });

    it('that is paused marks nothing, whoever has claimed it, until it is resumed', async () => {
      const { store } = fixture();
      await store.acceptMessage(message());
      await accepted();
      const claimed = await fixture().claim();
      await store.pauseLane('sms');
      await store.pauseLane('sms');
      expect([await pausedLanes(), await fixture().mark(claimed)]).toEqual([['sms'], []]);
      await store.postponeMessages(claimed.map((one) => ({ claimed: one, delayMs: 0, isTry: false })));
      const again = await fixture().claim();
      expect(again).toHaveLength(5);
      expect(await fixture().mark(again.slice(1))).toEqual([]);
      await store.resumeLane('sms');
      expect(await pausedLanes()).toEqual([]);
      expect(await fixture().mark(again)).toHaveLength(5);
    });

    it('that is paused takes the outcomes of what was marked before, and marks other lanes', async () => {
      const { store } = fixture();
      await store.acceptMessage(message());
      await store.acceptMessage(message({ lane: 'email', to: 'a@example.mn' }));
      const marked = await fixture().mark(await fixture().claim());
      await store.pauseLane('sms');
      expect(await fixture().finalize(marked, sent)).toMatchObject([{ message: { status: 'sent' } }]);
      expect(await fixture().mark(await fixture().claim(10, 'email'))).toHaveLength(1);
    });
  });

  describe('a batch that is stopped', () => {
    it('fails and refunds what waits and what is claimed', async () => {
      const { batch: record } = await accepted();
      const claimed = await fixture().claim(2);
      expect(await stop(record.id)).toEqual({
        ...{ channel: 'sms', total: 4, sent: 0, failed: 4, stopped: 4, refunded: 40 },
        lanes: [{ lane: 'sms', count: 4 }],
      });
      expect(await stop(record.id)).toMatchObject({ stopped: 0, lanes: [] });
      expect(await batchOf(record.id)).toMatchObject({ status: 'completed', sent: 0, failed: 4 });
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([1_000, 1_000]);
      expect(await fixture().mark(claimed)).toEqual([]);
      expect(await fixture().finalize(claimed, sent)).toEqual([null, null]);
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().store.hasDue()).toBe(false);
      const messages = await fixture().store.listBatchMessages(project.id, record.id, {
        limit: 9,
        after: null,
      });
      expect(messages?.map(({ error, credits }) => [error?.code, credits])).toEqual(
        Array(4).fill(['provider_failed', 0]),
      );
    });

    it('leaves nothing in the queue: not what was put off, given back or never tried', async () => {
      const { store, clock } = fixture();
      const { batch: record } = await accepted();
      const other = await accepted();
      const [one, two, ...rest] = await fixture().claim(4);
      await store.postponeMessages([
        { claimed: one as never, delayMs: 5_000, isTry: true },
        { claimed: two as never, delayMs: 0, isTry: false },
      ]);
      expect(rest).toHaveLength(2);
      clock.advance(leaseMs);
      await Promise.all(fixture().handles.map((handle) => handle.store.endLeases()));
      expect(await stop(record.id)).toMatchObject({ stopped: 4, failed: 4 });
      expect(await store.queueDepth()).toMatchObject([{ waiting: 4, claimed: 0, doubtful: 0 }]);
      expect(await store.countUnfinished()).toEqual({ messages: 4, submitting: 0 });
      await stop(other.batch.id);
      expect(await store.queueDepth()).toEqual([]);
      expect(await store.countUnfinished()).toEqual({ messages: 0, submitting: 0 });
    });

    it('keeps the outcome of what is marked or in doubt', async () => {
      const { batch: record } = await accepted();
      const [one, two, three] = await fixture().mark(await fixture().claim(3));
      await fixture().store.leaveInDoubt([{ claimed: three as never, delayMs: 0 }]);
      expect(await stop(record.id)).toMatchObject({ failed: 1, stopped: 1, refunded: 10 });
      expect(await batchOf(record.id)).toMatchObject({ status: 'processing', failed: 1 });
      expect(await stop(record.id)).toMatchObject({ failed: 1, stopped: 0, refunded: 0 });
      await fixture().finalize([one as never, three as never], sent);
      await fixture().finalize([two as never], failed);
      expect(await batchOf(record.id)).toMatchObject({ status: 'completed', sent: 2, failed: 2 });
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([980, 980]);
    });

    it('gives what certainly was not taken back as stopped', async () => {
      const { batch: record, claimed } = await accepted({ claim: claimOf('mine') });
      expect(claimed.map(({ isStopped }) => isStopped)).toEqual([false, false, false, false]);
      await stop(record.id);
      const { store } = fixture();
      await store.postponeMessages(claimed.map((one) => ({ claimed: one, delayMs: 0, isTry: true })));
      const again = await fixture().claim();
      expect(again.map(({ isStopped }) => isStopped)).toEqual([true, true, true, true]);
      // A call after it fails them too.
      expect(await stop(record.id)).toMatchObject({ stopped: 4, refunded: 40 });
      expect(await fixture().finalize(again, failed)).toEqual([null, null, null, null]);
      expect(await batchOf(record.id)).toMatchObject({ status: 'completed', failed: 4 });
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([1_000, 1_000]);
      fixture().clock.advance(leaseMs);
      await Promise.all(fixture().handles.map((handle) => handle.store.endLeases()));
      expect(await store.hasDue()).toBe(false);
    });

    it('has to be there, and other batches go on', async () => {
      const one = await accepted();
      const two = await accepted();
      expect(await stop('none')).toBeNull();
      await stop(one.batch.id);
      expect(await fixture().claim()).toHaveLength(4);
      expect(await batchOf(two.batch.id)).toMatchObject({ status: 'processing', failed: 0 });
    });

    it('while it is claimed, marked and ended by others is counted once', async () => {
      const { store } = fixture();
      const many = Array.from({ length: 60 }, (_, index) => `${88_000_000 + index}`);
      const result = await store.acceptBatch(batch(many, { credits: 1 }));
      if (result.kind !== 'accepted') throw new Error(result.kind);
      const work = async () => {
        for (let round = 0; round < 6; round += 1) {
          const marked = await fixture().mark(await fixture().claim(10));
          await fixture().finalize(marked, sent);
        }
      };
      const [, , ended] = await Promise.all([work(), work(), stop(result.batch.id), stop(result.batch.id)]);
      await work();
      const record = await batchOf(result.batch.id);
      expect(record).toMatchObject({ status: 'completed' });
      expect((record?.sent ?? 0) + (record?.failed ?? 0)).toBe(60);
      expect(ended?.failed).toBeLessThanOrEqual(record?.failed ?? 0);
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual(
        Array(2).fill(1_000 - (record?.sent ?? 0)),
      );
    });
  });
}
