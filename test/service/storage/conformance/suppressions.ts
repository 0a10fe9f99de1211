import { describe, expect, it } from 'vitest';
import type { SuppressionReason } from '../../../../src/contract/index.js';
import type { ClaimedMessage, Content } from '../../../../src/service/storage/store.js';
import {
  batch,
  claimOf,
  content,
  doubtMs,
  type Fixture,
  leaseMs,
  message,
  newId,
  other,
  project,
} from './fixture.js';

const code: Content = { ...content, text: null, encrypted: new Uint8Array([1]), isBulk: false };
const single: Content = { ...content, isBulk: false };
const email = { channel: 'email', lane: 'email', to: 'bat@b.mn' } as const;

export function suppressionConformance(fixture: () => Fixture): void {
  const page = (limit = 10, after: string | null = null) => ({ limit, after });
  const list = (projectId = project.id, ...rest: Parameters<typeof page>) =>
    fixture().store.listSuppressions(projectId, page(...rest));
  const suppress = (to: string, reason: SuppressionReason = 'manual', projectId = project.id) =>
    fixture().store.suppressAll(projectId, [to], reason);
  const find = (...to: string[]) => fixture().store.findSuppressions(project.id, to);
  const accept = (given: Parameters<typeof message>[0] = {}) =>
    fixture().store.acceptMessage(message({ claim: claimOf(fixture().newToken()), ...given }));
  const mark = async (lane = 'sms') => {
    const claimed = await fixture().claim(100, lane);
    return fixture().store.markSubmitting(
      claimed.map((one) => ({ claimed: one, attempt: one.attempts + 1, route: 'Mobicom', doubtMs })),
    );
  };

  describe('a suppressed recipient', () => {
    it('is one of its project, since it was added, until it is removed', async () => {
      const { store, clock } = fixture();
      expect(await suppress('a@b.mn', 'unknown_recipient')).toBe(1);
      const first = { to: 'a@b.mn', reason: 'unknown_recipient', createdAt: clock.now() };
      clock.advance(1_000);
      expect(await Promise.all([suppress('a@b.mn'), suppress('A@b.mn', 'unknown_recipient')])).toEqual([
        0, 0,
      ]);
      expect(await list()).toEqual({ records: [first], next: null });
      expect(await store.findSuppressions(other.id, ['a@b.mn'])).toEqual([null]);
      expect(await store.removeSuppression(other.id, 'a@b.mn')).toBe(false);
      expect(await store.removeSuppression(project.id, 'a@b.mn', 'opt_out')).toBe(false);
      expect(await store.removeSuppression(project.id, 'a@b.mn')).toBe(true);
      expect(await store.removeSuppression(project.id, 'a@b.mn')).toBe(false);
      expect(await find('a@b.mn')).toEqual([null]);
    });

    it('is added and found among many', async () => {
      const { store } = fixture();
      await suppress('99112233', 'opt_out');
      const all = ['99112233', '88112233', '88112233', 'Dorj@b.mn'];
      expect(await store.suppressAll(project.id, all, 'manual')).toBe(2);
      expect(await store.suppressAll(project.id, all, 'manual')).toBe(0);
      expect(await find('88112233', '99000000', '99112233', 'dorj@b.mn', '88112233')).toEqual([
        'manual',
        null,
        'opt_out',
        'manual',
        'manual',
      ]);
      expect(await store.suppressAll(project.id, [], 'manual')).toBe(0);
      expect(await find()).toEqual([]);
    });

    it('is listed, newest first, in pages', async () => {
      for (const to of ['1', '2', '3']) await suppress(to);
      expect(await list(project.id, 2)).toMatchObject({ records: [{ to: '3' }, { to: '2' }], next: '2' });
      expect(await list(project.id, 2, '2')).toMatchObject({ records: [{ to: '1' }], next: null });
      expect(await list(other.id, 2, '2')).toBeNull();
    });

    it.each<[string, SuppressionReason, SuppressionReason, SuppressionReason]>([
      ['99112233', 'opt_out', 'manual', 'opt_out'],
      ['99112233', 'manual', 'opt_out', 'manual'],
      ['99112233', 'opt_out', 'unknown_recipient', 'opt_out'],
      ['99112233', 'unknown_recipient', 'opt_out', 'opt_out'],
      ['a@b.mn', 'opt_out', 'manual', 'opt_out'],
      ['a@b.mn', 'opt_out', 'unknown_recipient', 'unknown_recipient'],
      ['a@b.mn', 'unknown_recipient', 'opt_out', 'unknown_recipient'],
      ['a@b.mn', 'manual', 'unknown_recipient', 'manual'],
    ])('%s keeps the reason that holds for more: %s, then %s, is %s', async (to, one, then, is) => {
      await suppress(to, one);
      await suppress(to, then);
      expect(await find(to)).toEqual([is]);
    });

    it('that opted out did so for all tags of its address, and is erased so', async () => {
      const { store } = fixture();
      await suppress('Bat+news@b.mn', 'opt_out');
      await suppress('bat+shop@b.mn');
      const all = ['bat@b.mn', 'BAT+x@b.mn', 'bat+shop@b.mn', 'dorj@b.mn'];
      expect(await find(...all)).toEqual(['opt_out', 'opt_out', 'manual', null]);
      expect((await list())?.records.map(({ to }) => to)).toEqual(['bat+shop@b.mn', 'bat@b.mn']);
      expect(await store.eraseSuppressed('bat+news@b.mn')).toBe(1);
      expect(await find(...all)).toEqual(['opt_out', 'opt_out', 'manual', null]);
      expect(await suppress('bat+other@b.mn', 'opt_out')).toBe(0);
      expect(await store.removeSuppression(project.id, 'bat+x@b.mn')).toBe(true);
      expect(await find(...all)).toEqual([null, null, 'manual', null]);
    });

    it.each<SuppressionReason>(['manual', 'unknown_recipient'])(
      'that opted out under a tag did so where its address itself is suppressed as %s',
      async (reason) => {
        const { store } = fixture();
        await suppress('bat@b.mn', reason);
        expect([
          await suppress('Bat+news@b.mn', 'opt_out'),
          await suppress('bat+news@b.mn', 'opt_out'),
        ]).toEqual([1, 0]);
        const all = ['bat@b.mn', 'bat+news@b.mn'];
        expect(await find(...all)).toEqual([reason, 'opt_out']);
        const send = (isBulk: boolean) =>
          accept({ ...email, to: 'bat+news@b.mn', content: { ...content, isBulk } });
        for (const to of all) {
          expect([(await send(true)).kind, (await send(false)).kind]).toEqual(['suppressed', 'accepted']);
          expect(await store.eraseSuppressed(to)).toBe(1);
        }
        expect(await find(...all)).toEqual([reason, 'opt_out']);
      },
    );

    it('whose number was unknown and erased exists once it opts out', async () => {
      await suppress('99112233', 'unknown_recipient');
      await fixture().store.eraseSuppressed('99112233');
      expect(await suppress('99112233', 'opt_out')).toBe(0);
      expect(await find('99112233')).toEqual(['opt_out']);
    });

    it.each<[string, SuppressionReason]>([
      ['bat@b.mn', 'unknown_recipient'],
      ['bat+news@b.mn', 'unknown_recipient'],
      ['bat+news@b.mn', 'manual'],
    ])('whose address opted out and was erased is suppressed for more: %s as %s', async (to, reason) => {
      const { store } = fixture();
      await suppress('bat@b.mn', 'opt_out');
      await store.eraseSuppressed('bat@b.mn');
      await suppress(to, reason);
      expect(await accept({ ...email, to, content: single })).toEqual({ kind: 'suppressed', reason });
    });
  });

  describe('a send to a suppressed recipient', () => {
    it.each<[string, Parameters<typeof message>[0], string[]]>([
      ['an SMS', {}, ['opt_out', 'unknown_recipient', 'manual']],
      ['an SMS with a code', { content: code }, ['unknown_recipient', 'manual']],
      ['an email', { ...email, content: single }, ['unknown_recipient', 'manual']],
      ['an email of a list', email, ['opt_out', 'unknown_recipient', 'manual']],
      [
        'an email with a code',
        { ...email, content: { ...code, isBulk: true } },
        ['unknown_recipient', 'manual'],
      ],
    ])('is refused: %s', async (_, given, expected) => {
      const { store } = fixture();
      const to = given?.to ?? '99112233';
      const refused: SuppressionReason[] = [];
      for (const reason of ['opt_out', 'unknown_recipient', 'manual'] as const) {
        await store.suppress(project.id, to, reason);
        const result = await accept(given);
        if (result.kind === 'suppressed') refused.push(result.reason);
        await store.removeSuppression(project.id, to);
        expect(await accept(given)).toMatchObject({ kind: 'accepted' });
      }
      expect(refused).toEqual(expected);
    });

    it('is refused before caps and funds, and leaves nothing, neither a bound key', async () => {
      const { store } = fixture();
      await suppress('99112233');
      const given = message({ credits: 5_000, caps: [0, 0], idempotencyKey: 'k' });
      expect(await store.acceptMessage(given)).toEqual({ kind: 'suppressed', reason: 'manual' });
      expect(await store.findAnswer(project.id, 'k')).toBeUndefined();
      expect(await store.getMessage(project.id, given.recipient.id)).toBeNull();
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([1_000, 1_000]);
      await store.removeSuppression(project.id, '99112233');
      expect(await accept({ idempotencyKey: 'k' })).toMatchObject({ kind: 'accepted' });
    });

    it('is replayed under the key of one that was accepted before', async () => {
      await accept({ idempotencyKey: 'k' });
      await suppress('99112233');
      expect(await accept({ idempotencyKey: 'k' })).toEqual({ kind: 'repeat', answer: null });
      expect(await accept()).toMatchObject({ kind: 'suppressed' });
    });

    it('is refused beside others that are accepted', async () => {
      await suppress('99000001');
      await suppress('99112244', 'manual', other.id);
      const results = await Promise.all(
        ['99112233', '99000001', '99112244', '99000001'].map((to) => accept({ to })),
      );
      expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'suppressed', 'accepted', 'suppressed']);
    });

    it('is refused when it was erased since', async () => {
      const { store } = fixture();
      await suppress('99112233', 'opt_out');
      await suppress('bat+x@b.mn', 'opt_out');
      await store.eraseSuppressed('99112233');
      await store.eraseSuppressed('bat@b.mn');
      expect(
        await Promise.all([accept(), accept({ ...email, to: 'Bat+y@b.mn' }), accept({ to: '99112244' })]),
      ).toMatchObject([
        { kind: 'suppressed', reason: 'opt_out' },
        { kind: 'suppressed', reason: 'opt_out' },
        { kind: 'accepted' },
      ]);
    });

    it('is refused as a verification, and nothing is stored', async () => {
      const { store } = fixture();
      const given = {
        ...message({ content: code }),
        verification: { id: newId(), codeHash: new Uint8Array(32), attempts: 5, lifeMs: 600_000 },
      };
      await suppress('99112233');
      expect(await store.acceptVerification(given)).toEqual({ kind: 'suppressed', reason: 'manual' });
      expect(await store.getVerification(project.id, given.verification.id)).toBeNull();
    });
  });

  describe('a mark', () => {
    it('is not made for suppressed recipients of a batch, which fail in their lease', async () => {
      const { store } = fixture();
      const given = batch(['99112233', '99112244', '99112255'], { claim: claimOf('t') });
      await suppress('99112233', 'opt_out');
      // Not marked at once: the marks ask.
      expect(await store.acceptBatch(given)).toMatchObject({ kind: 'accepted', claimed: [] });
      const claimed = await fixture().claim();
      await suppress('99112255');
      const marks = claimed.map((one) => ({ claimed: one, attempt: 1, route: 'Mobicom', doubtMs }));
      expect(await store.markSubmitting(marks)).toEqual(['opt_out', true, 'manual']);
      const error = { code: 'recipient_suppressed', message: 'no' };
      const [finalized] = await fixture().finalize(claimed.slice(0, 1), { status: 'failed', error });
      expect(finalized?.message).toMatchObject({ status: 'failed', credits: 0, error });
      expect(await store.getBatch(project.id, given.batchId)).toMatchObject({ failed: 1, sent: 0 });
    });

    it.each<[string, Parameters<typeof message>[0], SuppressionReason, boolean | SuppressionReason]>([
      ['an email', { ...email, content: single }, 'opt_out', true],
      ['an email', { ...email, content: single }, 'unknown_recipient', 'unknown_recipient'],
      ['an email of a list', email, 'opt_out', 'opt_out'],
      ['an email with a code', { ...email, content: code }, 'opt_out', true],
      ['an email with a code', { ...email, content: code }, 'manual', 'manual'],
      ['an SMS, whose caller waits', {}, 'manual', true],
    ])('asks again: %s, %s since it was accepted', async (_, given, reason, expected) => {
      await accept({ ...given, claim: null });
      await suppress(given?.to ?? '99112233', reason);
      expect(await mark(given?.lane)).toEqual([expected]);
    });

    it('asks for recipients that were erased since, with requests too', async () => {
      const { store } = fixture();
      await store.acceptBatch(batch(['99112233', '99112244']));
      await suppress('99112244', 'opt_out');
      await store.eraseSuppressed('99112244');
      const claimed = await fixture().claim();
      const request = new Uint8Array([7]);
      const marks = claimed.map((one) => ({ claimed: one, attempt: 1, route: 'Mobicom', doubtMs, request }));
      expect(await store.markSubmitting(marks)).toEqual([true, 'opt_out']);
      expect(await fixture().countRequests()).toBe(1);
    });

    it('is not made for the repeat of a request in doubt either, while its recipient is suppressed', async () => {
      const { store, clock } = fixture();
      await store.acceptBatch(batch(['99112233']));
      const [claimed] = (await fixture().claim()) as [ClaimedMessage];
      const request = new Uint8Array([7]);
      await store.markSubmitting([{ claimed, attempt: 1, route: 'Mobicom', doubtMs, request }]);
      clock.advance(leaseMs);
      await store.endLeases();
      const [doubt] = (await fixture().claimDoubts()) as [ClaimedMessage];
      await suppress('99112233', 'opt_out');
      await store.eraseSuppressed('99112233');
      expect(await store.markRepeating(doubt, 60_000)).toBeNull();
      await store.removeSuppression(project.id, '99112233');
      expect(await store.markRepeating(doubt, 60_000)).not.toBeNull();
    });

    it('asks each project of its messages', async () => {
      const { store } = fixture();
      for (const projectId of [project.id, other.id])
        await store.acceptBatch(batch(['99112233'], { projectId }));
      await suppress('99112233', 'manual', other.id);
      const claimed = await fixture().claim();
      const marked = await store.markSubmitting(
        claimed.map((one) => ({ claimed: one, attempt: 1, route: 'Mobicom', doubtMs })),
      );
      expect(
        Object.fromEntries(claimed.map(({ message: { projectId } }, index) => [projectId, marked[index]])),
      ).toEqual({ [project.id]: true, [other.id]: 'manual' });
    });
  });
}
