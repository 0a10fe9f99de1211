import { describe, expect, it } from 'vitest';
import { batch, claimOf, type Fixture, message, newId, other, project, sent, wholeKey } from './fixture.js';

/** Tables that every engine has, and those that have rows in a store without any message. */
const emptied = [
  ...['batches', 'contents', 'erasures', 'event_lines', 'events', 'idempotency', 'inbox', 'leases', 'ledger'],
  ...['messages', 'receipts', 'requests', 'suppressions', 'turns', 'verifications'],
];
const kept = ['hold', 'installation', 'projects', 'urtuu_schema'];

export function resetConformance(fixture: () => Fixture): void {
  const accepts = async () => {
    const { store } = fixture();
    const kinds = await Promise.all([
      store.acceptMessage(message()),
      store.acceptBatch(batch(['1'])),
      store.acceptVerification({
        ...message({ to: '2' }),
        verification: { id: newId(), codeHash: Buffer.from('c'), attempts: 5, lifeMs: 1 },
      }),
    ]);
    return kinds.map(({ kind }) => kind);
  };
  const held = ['resetting', 'resetting', 'resetting'];
  const open = ['accepted', 'accepted', 'accepted'];
  const begin = (owner: string) => fixture().store.beginReset(owner, 4_000);

  describe('a reset', () => {
    it('begins every project anew, with its keys', async () => {
      const { store } = fixture();
      await store.addKey({ ...wholeKey, id: 'k1', projectId: project.id, hash: Buffer.from('h') }, 10);
      const one = message({ idempotencyKey: 'k' });
      await store.acceptMessage(one);
      await store.acceptBatch(batch(['1']));
      await store.reset(700, 0);
      expect(await fixture().balance()).toBe(700);
      expect(await fixture().ledgerSum()).toBe(700);
      expect(await fixture().statusOf(one.recipient.id)).toBeNull();
      expect(await store.findAnswer(project.id, 'k')).toBeUndefined();
      expect(await store.nextWork(['sms'])).toMatchObject({ messages: null, leases: null });
      expect(await store.listKeys(project.id)).toHaveLength(1);
    });

    it('leaves no row of what was sent, received or erased, nor of what was to be sent', async () => {
      const { store } = fixture();
      await store.beginEvents(project.id, 1);
      await store.suppress(project.id, '9', 'opt_out');
      const incoming = {
        projectId: project.id,
        channel: 'sms',
        from: '1',
        to: '139911',
        subject: null,
      } as const;
      await store.keepIncoming({ ...incoming, id: newId(), text: 'a', fingerprint: null, part: null });
      await store.acceptMessage(message({ to: '1', idempotencyKey: 'k' }));
      await store.acceptBatch(batch(['2']));
      const outcome = { status: 'sent', carrierIds: ['c'], delivery: 'unknown' } as const;
      await fixture().finalize(await fixture().mark(await fixture().claim()), outcome);
      await store.pruneMessages(await store.listFinalTo('1', null), '1');
      await store.acceptMessage(message({ to: '3', claim: claimOf('leased') }));
      for (const projectId of [project.id, other.id])
        for (const to of ['4', '5', '6']) await store.acceptMessage(message({ to, projectId }));
      for (const claimed of await fixture().claim(5))
        await store.markSubmitting([
          { claimed, attempt: 1, route: 'Mobicom', doubtMs: 1_000, request: Buffer.from('secret') },
        ]);
      await accepts();
      const before = await fixture().rows();
      expect(emptied.filter((table) => !before[table])).toEqual([]);
      await store.reset(0, 0);
      const left = Object.entries(await fixture().rows()).filter(([, rows]) => rows > 0);
      expect(left.map(([table]) => table).filter((table) => !kept.includes(table))).toEqual([]);
    });

    it('forgets no lane of a real carrier', async () => {
      const { store } = fixture();
      expect(await store.recordLanes([])).toEqual([]);
      expect(await store.recordLanes(['Unitel', 'Mobicom'])).toEqual(['Mobicom', 'Unitel']);
      expect(await store.recordLanes(['Mobicom', 'email'])).toEqual(['Mobicom', 'Unitel', 'email']);
      await store.reset(700, 0);
      expect(await store.recordLanes([])).toEqual(['Mobicom', 'Unitel', 'email']);
    });

    it('lets nobody end a message that it has removed, nor the one that has its place', async () => {
      const { store } = fixture();
      const before = await store.acceptMessage(message({ claim: claimOf('before') }));
      await store.reset(1_000, 0);
      const after = await store.acceptMessage(message({ claim: claimOf('after') }));
      if (before.kind !== 'accepted' || after.kind !== 'accepted') throw new Error('not accepted');
      const [late] = before.claimed;
      await store.leaveInDoubt(before.claimed.map((claimed) => ({ claimed, delayMs: 0 })));
      await store.postponeMessages(before.claimed.map((claimed) => ({ claimed, delayMs: 0, isTry: true })));
      expect(await fixture().finalize(late ? [late] : [], sent)).toEqual([null]);
      expect(await fixture().statusOf(after.message.id)).toMatchObject({ status: 'queued' });
      expect(await fixture().finalize(after.claimed, sent)).toMatchObject([{ balance: 990 }]);
    });
  });

  describe('a reset under way', () => {
    it('holds back everything new, for everyone, and nothing else', async () => {
      const { store } = fixture();
      await store.acceptMessage(message({ idempotencyKey: 'k' }));
      const claimed = await fixture().mark(await fixture().claim());
      await store.acceptMessage(message());
      expect(await begin('one')).toBe(true);
      expect(await accepts()).toEqual(held);
      expect(await store.acceptMessage(message({ idempotencyKey: 'k' }))).toEqual({ kind: 'resetting' });
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().finalize(claimed, sent)).toMatchObject([{ balance: 980 }]);
      await store.endReset('one');
      expect(await accepts()).toEqual(open);
      expect(await fixture().claim()).toHaveLength(4);
    });

    it('is one at a time, goes on while its owner says so, and ends with it', async () => {
      const { store, clock } = fixture();
      expect(await begin('one')).toBe(true);
      clock.advance(3_999);
      expect(await begin('two')).toBe(false);
      expect(await begin('one')).toBe(true);
      clock.advance(3_999);
      expect(await begin('two')).toBe(false);
      await store.endReset('two');
      expect(await accepts()).toEqual(held);
      clock.advance(1);
      expect(await accepts()).toEqual(open);
      expect(await begin('two')).toBe(true);
      // The one that died is not brought back by the one that empties.
      await store.reset(700, 20_000);
      await store.endReset('two');
      expect(await accepts()).toEqual(open);
    });

    it('begun before the clock was set back is over', async () => {
      const { clock } = fixture();
      const now = clock.now();
      clock.set(now + 3_600_000);
      expect(await begin('one')).toBe(true);
      clock.set(now);
      expect(await accepts()).toEqual(open);
      expect(await begin('two')).toBe(true);
    });

    it('holds back for as long as it said when it emptied, and names what may still be submitted', async () => {
      const { store, clock } = fixture();
      const marked = message({ to: '2', claim: claimOf('mine') });
      const doubtful = message({ to: '3', claim: claimOf('other') });
      await store.acceptMessage(marked);
      const accepted = await store.acceptMessage(doubtful);
      const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
      await store.leaveInDoubt(claimed.map((one) => ({ claimed: one, delayMs: 0 })));
      await store.acceptMessage(message({ to: '1' }));
      await store.acceptMessage(message({ to: '4' }));
      await fixture().claim(1);
      await begin('one');
      const named = await store.reset(700, 9_000);
      expect(named).toHaveLength(2);
      expect(named).toEqual(
        expect.arrayContaining([
          { id: marked.recipient.id, to: '2' },
          { id: doubtful.recipient.id, to: '3' },
        ]),
      );
      clock.advance(8_999);
      expect(await accepts()).toEqual(held);
      await store.endReset('one');
      expect(await store.nextWork(['sms'])).toMatchObject({ messages: null });
    });
  });
}
