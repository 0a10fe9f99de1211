import { describe, expect, it } from 'vitest';
import { overdueBefore } from '../../../../src/service/storage/dispatching.js';
import type { ClaimedMessage } from '../../../../src/service/storage/store.js';
import {
  batch,
  boundMs,
  claimOf,
  content,
  type Fixture,
  failed,
  leaseMs,
  message,
  newId,
  other,
  project,
  sent,
} from './fixture.js';

const toOf = (claimed: readonly ClaimedMessage[]) => claimed.map(({ message: { to } }) => to);

export function dispatchConformance(fixture: () => Fixture): void {
  describe('claims', () => {
    it('are given once, in the order of waiting, as many as asked for', async () => {
      await fixture().store.acceptBatch(batch(['1', '2', '3', '4', '5']));
      const groups: string[][] = [];
      for (let claim = 0; claim < 4; claim += 1) groups.push(toOf(await fixture().claimClass('batch', 2)));
      expect(groups).toEqual([['1', '2'], ['3', '4'], ['5'], []]);
    });

    it('are of one lane, and of one class', async () => {
      const { store } = fixture();
      await store.acceptBatch(batch(['1']));
      await store.acceptMessage(message({ to: '2' }));
      await store.acceptMessage(message({ to: '3', lane: 'email' }));
      expect(toOf(await fixture().claimClass('single'))).toEqual(['2']);
      expect(toOf(await fixture().claimClass('single', 10, 'email'))).toEqual(['3']);
      expect(toOf(await fixture().claimClass('batch'))).toEqual(['1']);
    });

    it('tell how often a message was tried, and how long it may still be', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message());
      clock.advance(5_000);
      const [first] = await fixture().claim();
      expect(first).toMatchObject({
        attempts: 0,
        tries: 0,
        mark: null,
        lifeMs: null,
        boundMs: boundMs - 5_000,
      });
      const marked = await fixture().mark(first ? [first] : []);
      await store.postponeMessages(marked.map((claimed) => ({ claimed, delayMs: 0, isTry: true })));
      clock.advance(20_000);
      expect(await fixture().claim()).toMatchObject([
        { attempts: 1, tries: 1, mark: null, boundMs: -10_000 },
      ]);
    });

    it('of what has waited for its bound take nothing else', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message({ to: '1' }));
      const [postponed] = await fixture().claim();
      const again = { claimed: postponed as ClaimedMessage, delayMs: 60_000, isTry: true };
      await store.postponeMessages([again]);
      await store.acceptMessage(message({ to: '2', boundMs: 60_000 }));
      const overdue = () => fixture().claimClass('single', 10, 'sms', true);
      expect(await overdue()).toEqual([]);
      const soon = boundMs - overdueBefore.single;
      expect(await store.nextWork(['sms'])).toMatchObject({ overdue: soon });
      clock.advance(soon - 1);
      await store.acceptMessage(message({ to: '3', boundMs: overdueBefore.single + 1 }));
      await store.acceptBatch(batch(['4'], { boundMs: overdueBefore.single + 1 }));
      expect(await overdue()).toEqual([]);
      clock.advance(1);
      // A single one takes its next route before its bound, unless it waits for its next try.
      expect(await store.nextWork(['sms'])).toMatchObject({ overdue: 0 });
      expect(toOf(await overdue())).toEqual(['3']);
      clock.advance(overdueBefore.single);
      expect(toOf(await overdue())).toEqual(['1']);
      expect(toOf(await fixture().claimClass('batch', 10, 'sms', true))).toEqual(['4']);
    });

    it('of a verification tell how long its code lives', async () => {
      const { store, clock } = fixture();
      const encrypted = new Uint8Array([1]);
      await store.acceptVerification({
        ...message({ content: { ...content, text: null, encrypted } }),
        verification: { id: newId(), codeHash: new Uint8Array([7]), attempts: 3, lifeMs: 60_000 },
      });
      clock.advance(20_000);
      expect(await fixture().claim()).toMatchObject([{ lifeMs: 40_000 }]);
    });

    it('hand out the content, and erase what was encrypted when the message ends', async () => {
      const encrypted = new Uint8Array([1, 2, 3]);
      const own = message({ content: { ...content, text: null, encrypted } });
      await fixture().store.acceptMessage(own);
      const [first] = await fixture().claim();
      expect(Buffer.from(first?.content.encrypted ?? [])).toEqual(Buffer.from(encrypted));
      const marked = await fixture().mark(first ? [first] : []);
      // In doubt it is still there, for the message may have to be submitted again.
      await fixture().store.leaveInDoubt(marked.map((claimed) => ({ claimed, delayMs: 0 })));
      const [doubt] = await fixture().claimDoubts();
      expect(Buffer.from(doubt?.content.encrypted ?? [])).toEqual(Buffer.from(encrypted));
      await fixture().finalize(doubt ? [doubt] : [], { status: 'sent', carrierIds: [], delivery: 'unknown' });
      expect(await fixture().handles[0]?.contents()).toEqual([{ text: null, encrypted: null }]);
    });
  });

  describe('leases', () => {
    it('end: then the message is claimed again, and its former holder cannot mark it', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message());
      const first = await fixture().claim();
      clock.advance(leaseMs - 1);
      await store.endLeases();
      expect(await fixture().claim()).toEqual([]);
      clock.advance(1);
      await store.endLeases();
      const second = await fixture().claim();
      expect(second).toMatchObject([{ attempts: 0 }]);
      expect(await fixture().mark(first)).toEqual([]);
      expect(await fixture().finalize(first, failed)).toEqual([null]);
      const marked = await fixture().mark(second);
      expect(await fixture().finalize(marked, sent)).toMatchObject([{ message: { status: 'sent' } }]);
      expect(await fixture().finalize(marked, failed)).toEqual([null]);
      expect(await fixture().balance()).toBe(990);
    });

    it('can be renewed while they are held, also when they are over and not yet ended', async () => {
      const { store, clock } = fixture();
      await store.acceptBatch(batch(['1', '2']));
      const [first] = await fixture().claim();
      const token = first?.token ?? '';
      clock.advance(leaseMs + 5_000);
      expect(await store.renewLeases([token, 'unknown'], leaseMs)).toEqual([true, false]);
      clock.advance(leaseMs - 1);
      await store.endLeases();
      expect(await fixture().claim()).toEqual([]);
      clock.advance(1);
      await store.endLeases();
      expect(await fixture().claim()).toHaveLength(2);
      expect(await store.renewLeases([token], leaseMs)).toEqual([false]);
    });

    it('can be given back, for later, and for another lane', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message());
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      const stranger = { ...claimed, token: 'not mine' };
      await store.postponeMessages([{ claimed: stranger, delayMs: 0, isTry: false }]);
      expect(await fixture().claim()).toEqual([]);
      await store.postponeMessages([{ claimed, delayMs: 200, isTry: false, lane: 'no-link' }]);
      expect(await store.hasDue()).toBe(false);
      expect(await store.nextWork(['sms'])).toMatchObject({ messages: null, leases: null });
      expect(await store.nextWork(['no-link'])).toMatchObject({ messages: 200 });
      clock.advance(200);
      expect(await fixture().claim(10, 'sms')).toEqual([]);
      expect(await fixture().claim(10, 'no-link')).toMatchObject([{ lane: 'no-link', tries: 0 }]);
    });

    it('and due messages show in nextWork and hasDue', async () => {
      const { store } = fixture();
      expect(await store.nextWork(['sms'])).toEqual({
        messages: null,
        overdue: null,
        doubts: null,
        leases: null,
        paused: [],
      });
      expect(await store.hasDue()).toBe(false);
      await store.acceptBatch(batch(['1', '2']));
      expect(await store.nextWork(['email'])).toMatchObject({ messages: null });
      expect(await store.nextWork(['email', 'sms'])).toMatchObject({ messages: 0, leases: null });
      const claimed = await fixture().claim();
      expect(await store.nextWork(['sms'])).toMatchObject({ messages: null, leases: leaseMs });
      expect(await store.hasDue()).toBe(true);
      await fixture().finalize(claimed.slice(0, 1), sent);
      expect(await store.hasDue()).toBe(true);
      await fixture().finalize(claimed.slice(1), failed);
      expect(await store.nextWork(['sms'])).toMatchObject({ leases: null });
      expect(await store.hasDue()).toBe(false);
    });

    it('and who waits in a lane, of either class, and until when', async () => {
      const { store } = fixture();
      const ask = (lane = 'sms') => store.findWaiting(lane, [project.id, other.id, 'unknown']);
      expect([await ask(), await store.findWaiting('sms', [])]).toEqual([[], []]);
      await store.acceptBatch(batch(['1', '2']));
      expect([await ask(), await ask('email')]).toEqual([[project.id], []]);
      await store.acceptMessage(message({ to: '3', projectId: other.id }));
      expect([(await ask()).sort(), await store.findWaiting('sms', [other.id])]).toEqual([
        [project.id, other.id],
        [other.id],
      ]);
      // What is claimed or ended does not wait; what was postponed does.
      const claimed = await fixture().claim();
      expect(await ask()).toEqual([]);
      const [first, second, third] = claimed as [ClaimedMessage, ClaimedMessage, ClaimedMessage];
      await fixture().finalize([first, second], failed);
      expect(await ask()).toEqual([]);
      await store.postponeMessages([{ claimed: third, delayMs: 3_600_000, isTry: true }]);
      expect(await ask()).toEqual([third.message.projectId]);
    });

    it('of an acceptance are marked at once, and tell of earlier messages to its recipients', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message({ to: '2' }));
      await store.acceptMessage(message({ to: '3' }));
      await fixture().finalize(await fixture().claim(), failed);
      const before = clock.now();
      await store.acceptMessage(message({ to: '2' }));
      await store.acceptBatch(batch(['4']));
      await fixture().finalize(await fixture().claim(), sent);
      const accepted = await store.acceptBatch(batch(['1', '2', '3'], { claim: claimOf('mine') }));
      const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
      expect(claimed.map(({ earlier, mark }) => [earlier?.all, mark])).toEqual([
        [[], { attempt: 1, route: 'Mobicom' }],
        [[before], { attempt: 1, route: 'Mobicom' }],
        [[], { attempt: 1, route: 'Mobicom' }],
      ]);
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().finalize(claimed, sent)).toMatchObject(
        Array(3).fill({ message: { status: 'sent' } }),
      );
      expect(await store.hasDue()).toBe(false);
    });
  });

  describe('batches', () => {
    it('are completed as soon as sent and failed make the total', async () => {
      const { store, clock } = fixture();
      const accepted = batch(['1', '2', '3']);
      await store.acceptBatch(accepted);
      const read = () => store.getBatch(project.id, accepted.batchId);
      const claimed = await fixture().claim();
      await fixture().finalize(claimed.slice(0, 1), failed);
      expect(await read()).toMatchObject({ status: 'processing', sent: 0, failed: 1, completedAt: null });
      clock.advance(2);
      const marked = await fixture().mark(claimed.slice(1));
      await fixture().finalize(marked, sent);
      expect(await read()).toMatchObject({
        status: 'completed',
        sent: 2,
        failed: 1,
        completedAt: clock.now(),
      });
    });

    it.each([
      ['sent', sent, 0, 4],
      ['failed', failed, 40, 0],
    ] as const)(
      'end as %s what is left of them where some have ended already, each once',
      async (_, outcome, refunded, taken) => {
        const { store } = fixture();
        const accepted = batch(['1', '2', '3', '4', '5'], { claim: claimOf('mine') });
        const result = await store.acceptBatch(accepted);
        const claimed = result.kind === 'accepted' ? result.claimed : [];
        await fixture().finalize(claimed.slice(1, 2), failed);
        const balance = await fixture().balance();
        const ends = await fixture().finalize(claimed, outcome);
        expect(ends.map((end) => end?.message.to)).toEqual(['1', undefined, '3', '4', '5']);
        expect(await fixture().finalize(claimed, outcome)).toEqual(Array(5).fill(null));
        expect(await store.getBatch(project.id, accepted.batchId)).toMatchObject({
          status: 'completed',
          sent: taken,
          failed: 5 - taken,
        });
        expect(await fixture().balance()).toBe(Number(balance) + refunded);
        expect(await store.hasDue()).toBe(false);
      },
    );

    it('keep operator, lane and route of each recipient, in their order', async () => {
      const { store } = fixture();
      const ways = [
        { operator: 'Mobicom', lane: 'sms', route: 'Mobicom' },
        { operator: 'Unitel', lane: 'sms', route: 'no-link' },
        { operator: null, lane: 'email', route: 'email' },
      ];
      const recipients = Array.from({ length: 12 }, (_, index) => ({
        id: newId(),
        to: `"${index}" \\ ж@example.com`,
        ...(ways[(index * 2) % 3] as (typeof ways)[number]),
      }));
      const accepted = batch([], { recipients, claim: claimOf('mine') });
      await store.acceptBatch(accepted);
      const page = { limit: 100, after: null };
      const stored = await store.listBatchMessages(project.id, accepted.batchId, page);
      const idAndTo = recipients.map(({ id, to, operator }) => ({ id, to, operator }));
      expect(stored?.map(({ id, to, operator }) => ({ id, to, operator }))).toEqual(idAndTo);
      // What it was marked with comes back with its doubt.
      fixture().clock.advance(leaseMs);
      await store.endLeases();
      const doubts = (lane: string) =>
        store.claimDoubts({ token: fixture().newToken(), leaseMs, limit: 100, lane });
      const claimed = [...(await doubts('sms')), ...(await doubts('email'))];
      const found = claimed.map(({ message, lane, mark }) => [message.id, lane, mark?.route]);
      expect(found.sort()).toEqual(recipients.map(({ id, lane, route }) => [id, lane, route]).sort());
    });

    it('list their messages in order, page by page, and no others', async () => {
      await fixture().store.acceptMessage(message());
      const accepted = batch(Array.from({ length: 7 }, (_, n) => `${n}`));
      await fixture().store.acceptBatch(accepted);
      await fixture().store.acceptBatch(batch(['x']));
      const list = (after: string | null) =>
        fixture().store.listBatchMessages(project.id, accepted.batchId, { limit: 3, after });
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page = await list(after);
        if (page === null || page.length === 0) break;
        expect(page.every(({ batchId }) => batchId === accepted.batchId)).toBe(true);
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id ?? null;
      }
      expect(seen).toEqual(accepted.recipients.map(({ id }) => id));
      expect(await list('x')).toBeNull();
    });
  });
}
