import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import { batch, content, type Fixture, message, project, start } from './fixture.js';

export function deliveryConformance(fixture: () => Fixture): void {
  describe('leases', () => {
    it('are given once, in the order of waiting, as many as asked for', async () => {
      await fixture().store.acceptBatch(batch(['1', '2', '3', '4', '5']));
      const groups = await Promise.all([
        fixture().claim(start, 2),
        fixture().claim(start, 2),
        fixture().claim(start, 2),
        fixture().claim(start, 2),
      ]);
      expect(groups.map((group) => group.map(({ message: { to } }) => to))).toEqual([
        ['1', '2'],
        ['3', '4'],
        ['5'],
        [],
      ]);
    });

    it('end: then the message is claimed again, and its former holder settles nothing', async () => {
      await fixture().store.acceptMessage(message());
      const [first] = await fixture().claim();
      expect(await fixture().claim(start + 4_999)).toEqual([]);
      const second = await fixture().claim(start + 5_000);
      expect(second).toMatchObject([{ attempts: 2 }]);
      expect(await fixture().settle(first ? [first] : [], 'failed')).toEqual([null]);
      expect(await fixture().settle(second, 'sent')).toMatchObject([{ message: { status: 'sent' } }]);
      expect(await fixture().settle(second, 'failed')).toEqual([null]);
      expect(await fixture().balance()).toBe(990);
    });

    it('of an acceptance count as the first claim', async () => {
      await fixture().store.acceptMessage(message({}, { lease: { token: 'mine', until: start + 5_000 } }));
      expect(await fixture().claim(start + 4_999)).toEqual([]);
      expect(await fixture().claim(start + 5_000)).toMatchObject([{ attempts: 2 }]);
    });

    it('of an accepted batch count as the first claim, and tell of earlier messages to its recipients', async () => {
      await fixture().store.acceptMessage(message({ to: '2' }));
      await fixture().store.acceptMessage(message({ to: '3', createdAt: start - 1_000 }));
      await fixture().settle(await fixture().claim(), 'failed');
      await fixture().store.acceptMessage(message({ to: '2', createdAt: start + 1 }));
      await fixture().store.acceptBatch(batch(['4']));
      await fixture().settle(await fixture().claim(start + 1), 'sent');
      const lease = { token: 'mine', until: start + 5_000 };
      const accepted = await fixture().store.acceptBatch(batch(['1', '2', '3'], { lease }));
      expect(accepted).toMatchObject({ kind: 'accepted', earlier: new Map([['2', [start + 1]]]) });
      expect(await fixture().store.nextDue(start)).toBe(start + 5_000);
      expect(await fixture().claim(start + 4_999)).toEqual([]);
      const again = await fixture().claim(start + 5_000);
      expect(again.map(({ message: { to }, attempts }) => [to, attempts])).toEqual([
        ['1', 2],
        ['2', 2],
        ['3', 2],
      ]);
    });

    it('can be renewed while they are held', async () => {
      await fixture().store.acceptBatch(batch(['1', '2']));
      const [first] = await fixture().claim();
      const token = first?.lease.token ?? '';
      expect(await fixture().store.renewLeases([token, 'unknown'], start + 20_000)).toEqual([true, false]);
      expect(await fixture().claim(start + 19_999)).toEqual([]);
      expect(await fixture().claim(start + 20_000)).toHaveLength(2);
      expect(await fixture().store.renewLeases([token], start + 40_000)).toEqual([false]);
    });

    it('can be given back, for later', async () => {
      await fixture().store.acceptMessage(message());
      const [first] = await fixture().claim();
      const { message: held, lease } = first as ClaimedMessage;
      await fixture().store.postponeMessages([{ messageId: held.id, token: 'not mine', at: start }]);
      expect(await fixture().claim(start)).toEqual([]);
      await fixture().store.postponeMessages([{ messageId: held.id, token: lease.token, at: start + 200 }]);
      expect(await fixture().store.hasDue(start)).toBe(false);
      expect(await fixture().store.nextDue(start)).toBe(start + 200);
      expect(await fixture().claim(start + 200)).toMatchObject([{ attempts: 2 }]);
    });

    it('and due messages show in nextDue and hasDue', async () => {
      expect(await fixture().store.nextDue(start)).toBeNull();
      expect(await fixture().store.hasDue(start)).toBe(false);
      await fixture().store.acceptBatch(batch(['1', '2']));
      expect(await fixture().store.nextDue(start)).toBe(start);
      const claimed = await fixture().claim();
      expect(await fixture().store.nextDue(start)).toBe(start + 5_000);
      expect(await fixture().store.hasDue(start)).toBe(true);
      await fixture().settle(claimed.slice(0, 1), 'sent');
      expect(await fixture().store.hasDue(start)).toBe(true);
      await fixture().settle(claimed.slice(1), 'failed');
      expect(await fixture().store.nextDue(start)).toBeNull();
      expect(await fixture().store.hasDue(start)).toBe(false);
    });

    it('hand out the content, and erase what was sealed when the message ends', async () => {
      const sealed = new Uint8Array([1, 2, 3]);
      await fixture().store.acceptMessage(message({}, { content: { ...content, text: null, sealed } }));
      const first = await fixture().claim();
      expect(Buffer.from(first[0]?.content.sealed ?? [])).toEqual(Buffer.from(sealed));
      await fixture().settle(first, 'sent');
    });
  });

  describe('batches', () => {
    it('are completed as soon as sent and failed make the total', async () => {
      const accepted = batch(['1', '2', '3']);
      await fixture().store.acceptBatch(accepted);
      const read = () => fixture().store.getBatch(project.id, accepted.batch.id);
      const claimed = await fixture().claim();
      await fixture().settle(claimed.slice(0, 1), 'failed', start + 1);
      expect(await read()).toMatchObject({ status: 'processing', sent: 0, failed: 1, completedAt: null });
      await fixture().settle(claimed.slice(1), 'sent', start + 2);
      expect(await read()).toMatchObject({
        status: 'completed',
        sent: 2,
        failed: 1,
        completedAt: start + 2,
      });
    });

    it('list their messages in order, page by page, and no others', async () => {
      await fixture().store.acceptMessage(message());
      const accepted = batch(Array.from({ length: 7 }, (_, n) => `${n}`));
      await fixture().store.acceptBatch(accepted);
      await fixture().store.acceptBatch(batch(['x']));
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page = await fixture().store.listBatchMessages(project.id, accepted.batch.id, {
          limit: 3,
          after,
        });
        if (page === null || page.length === 0) break;
        expect(page.every(({ batchId }) => batchId === accepted.batch.id)).toBe(true);
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id ?? null;
      }
      expect(seen).toEqual(accepted.recipients.map(({ id }) => id));
      const stray = await fixture().store.listBatchMessages(project.id, accepted.batch.id, {
        limit: 3,
        after: 'x',
      });
      expect(stray).toBeNull();
    });
  });
}
