import { describe, expect, it } from 'vitest';
import { batch, claimOf, type Fixture, message, other, project, sent } from './fixture.js';

const day = 86_400_000;
const mail = (to: string, caps = [5, 20]) => message({ to, caps, channel: 'email', operator: null });
const mails = (to: string[], isClaimed: boolean) =>
  batch(to, { channel: 'email', claim: isClaimed ? claimOf('mine') : null });

/** Spellings and tags of email addresses. */
export function mailboxConformance(fixture: () => Fixture): void {
  const kinds = async (...all: ReturnType<typeof mail>[]) => {
    const found: string[] = [];
    for (const one of all) found.push((await fixture().store.acceptMessage(one)).kind);
    return found;
  };
  const finish = async () => fixture().finalize(await fixture().mark(await fixture().claim()), sent);

  describe('a mailbox', () => {
    it('is capped in all spellings of its address, by whatever spelling came first', async () => {
      expect(
        await kinds(mail('Bat@b.mn', [3, 20]), mail('bat@b.mn', [3, 20]), mail('BAT@b.mn', [3, 20])),
      ).toEqual(['accepted', 'accepted', 'accepted']);
      expect(await kinds(mail('bAT@b.mn', [3, 20]), mail('bat@b.mn', [3, 20]))).toEqual(['capped', 'capped']);
      expect(await kinds(mail('bats@b.mn', [1, 20]), mail('bat@c.mn', [1, 20]))).toEqual([
        'accepted',
        'accepted',
      ]);
      expect(await kinds({ ...mail('BAT@b.mn', [3, 20]), projectId: other.id })).toEqual(['accepted']);
    });

    it('has each tag capped for itself, and all of them together by the highest caps', async () => {
      const { clock, store } = fixture();
      for (let count = 0; count < 20; count += 1) {
        expect(await kinds(mail(`bat+${count}@b.mn`, [1, 1]))).toEqual(['accepted']);
        clock.advance(1_000);
      }
      expect(await store.acceptMessage(mail('Bat+new@b.mn'))).toEqual({ kind: 'capped', waitMs: 580_000 });
      expect(await kinds(mail('bat@b.mn'), mail('b@b.mn'))).toEqual(['capped', 'accepted']);
      clock.advance(580_000);
      expect(await kinds(mail('bat+1@b.mn', [1, 1]), mail('bat+new@b.mn', [1, 1]))).toEqual([
        'capped',
        'accepted',
      ]);
    });

    it('is not capped more strictly at once than one after the other', async () => {
      const { store } = fixture();
      const all = await Promise.all(
        ['bat@b.mn', 'BAT@b.mn', 'bat+1@b.mn', 'Bat+1@b.mn'].map((to) =>
          store.acceptMessage(mail(to, [1, 1])),
        ),
      );
      expect(all.map(({ kind }) => kind).sort()).toEqual(['accepted', 'accepted', 'capped', 'capped']);
    });

    it.each([true, false])('is counted for a batch; claimed at once: %s', async (isClaimed) => {
      const { store, clock } = fixture();
      const at = clock.now();
      await kinds(mail('bat@b.mn'), mail('BAT@b.mn'), mail('bat+1@b.mn'));
      clock.advance(1_000);
      const singles = await fixture().claim();
      expect(singles).toHaveLength(3);
      const accepted = await store.acceptBatch(mails(['Bat@b.mn', 'bat+2@b.mn', 'c@b.mn'], isClaimed));
      const claimed = accepted.kind === 'accepted' && isClaimed ? accepted.claimed : await fixture().claim();
      const now = clock.now();
      expect(claimed.map(({ message: { to }, earlier }) => [to, earlier])).toEqual([
        ['Bat@b.mn', { own: [at, at], all: [at, at, at] }],
        ['bat+2@b.mn', { own: [], all: [now, at, at, at] }],
        ['c@b.mn', { own: [], all: [] }],
      ]);
    });

    it('is erased in all spellings of an address, not in its other tags, and the caps still count', async () => {
      const { store, clock } = fixture();
      await kinds(mail('Bat+x@b.mn'), mail('bat+X@b.mn'), mail('bat@b.mn'));
      await finish();
      clock.advance(1_000);
      const list = async (to: string) =>
        (
          await store.listMessages(
            project.id,
            { to, channel: null, status: null, delivery: null, batchId: null, since: null, until: null },
            { limit: 9, after: null },
          )
        )?.records.map((record) => record.to);
      expect([await list('BAT+x@b.mn'), await list('bat@b.mn')]).toEqual([
        ['bat+X@b.mn', 'Bat+x@b.mn'],
        ['bat@b.mn'],
      ]);
      expect(await store.countMessagesTo('bat+X@b.mn')).toBe(2);
      await store.pruneMessages(await store.listFinalTo('BAT+x@b.mn', null), 'BAT+x@b.mn');
      expect([await store.countMessagesTo('bat+x@b.mn'), await store.countMessagesTo('bat@b.mn')]).toEqual([
        0, 1,
      ]);
      expect(await kinds(mail('bat+x@b.mn', [2, 20]), mail('bat@b.mn', [2, 20]))).toEqual([
        'capped',
        'accepted',
      ]);
      // Three of four are counted by their pseudonyms and the last by its row.
      for (let count = 4; count < 20; count += 1) await kinds(mail(`bat+${count}@b.mn`));
      expect(await kinds(mail('bat+last@b.mn'))).toEqual(['capped']);
      clock.advance(day);
      expect(await kinds(mail('bat+last@b.mn'))).toEqual(['accepted']);
    });

    it('is suppressed in all spellings, by whatever spelling came first, and erased so', async () => {
      const { store } = fixture();
      await store.suppress(project.id, 'Bat@b.mn', 'unknown_recipient');
      await store.suppress(project.id, 'bat@b.mn', 'manual');
      const reasons = () => store.findSuppressions(project.id, ['bat@b.mn', 'BAT@b.mn', 'bat+1@b.mn']);
      expect(await reasons()).toEqual(['unknown_recipient', 'unknown_recipient', null]);
      expect(await store.eraseSuppressed('bAt@b.mn')).toBe(1);
      expect(await reasons()).toEqual(['unknown_recipient', 'unknown_recipient', null]);
      expect(await store.removeSuppression(project.id, 'baT@b.mn')).toBe(true);
      expect(await reasons()).toEqual([null, null, null]);
    });
  });
}
