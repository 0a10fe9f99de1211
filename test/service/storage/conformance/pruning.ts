import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/service/storage/store.js';
import { batch, claimOf, type Fixture, failed, message, newId, other, project, sent } from './fixture.js';

const day = 86_400_000;

export function pruningConformance(fixture: () => Fixture): void {
  /** Everything that can be pruned. */
  async function prunable(olderMs = 2 * day) {
    const found = [];
    let after: number | null = 0;
    while (after !== null) {
      const portion: Awaited<ReturnType<Fixture['store']['listPrunable']>> =
        await fixture().store.listPrunable({ olderMs, after });
      found.push(...portion.messages);
      after = portion.next;
    }
    return found;
  }
  /** Erases everything final to a recipient; gives how many there were. */
  async function erase(to: string): Promise<number> {
    const found = await fixture().store.listFinalTo(to, null);
    await fixture().store.pruneMessages(found, to);
    return found.length;
  }
  const finish = async (outcome: Outcome = sent) =>
    fixture().finalize(await fixture().mark(await fixture().claim()), outcome);
  const answer = () => ({ status: 200, body: '{}' });

  describe('pruning', () => {
    it('erases what is old and has ended, with its content and receipts, and nothing else', async () => {
      const { store, clock } = fixture();
      const old = message({ to: '1' });
      const broken = message({ to: '2' });
      await store.acceptMessage(old);
      await finish({ status: 'sent', delivery: null, carrierIds: ['c1'] });
      await store.acceptMessage(broken);
      await finish(failed);
      const waiting = message({ to: '3' });
      await store.acceptMessage(waiting);
      clock.advance(3 * day);
      const young = message({ to: '1' });
      await store.acceptMessage(young);
      const balance = await fixture().balance();
      const sum = await fixture().ledgerSum();

      const found = await prunable();
      expect(found.map(({ id }) => id)).toEqual([old.recipient.id, broken.recipient.id]);
      expect((await store.listFinalTo('1', 2 * day)).map(({ id }) => id)).toEqual([old.recipient.id]);
      expect(await store.countMessagesTo('1')).toBe(2);
      await store.pruneMessages(found, null);
      expect(await prunable()).toEqual([]);
      expect(await fixture().statusOf(old.recipient.id)).toMatchObject({
        to: '',
        status: 'sent',
        credits: 10,
      });
      expect(await fixture().statusOf(broken.recipient.id)).toMatchObject({
        to: '',
        error: { code: 'provider_failed', message: 'pruned' },
      });
      expect(await fixture().statusOf(waiting.recipient.id)).toMatchObject({ to: '3', status: 'queued' });
      expect(await fixture().statusOf(young.recipient.id)).toMatchObject({ to: '1' });
      expect(await fixture().handles[0]?.contents()).toHaveLength(2);
      expect([await fixture().balance(), await fixture().ledgerSum()]).toEqual([balance, sum]);
      // A late receipt finds nobody any more.
      const late = {
        route: 'Mobicom',
        carrierId: 'c1',
        to: '1',
        state: 'undelivered',
        submittedAt: null,
        reference: '',
      } as const;
      await store.recordReceipts([late], answer);
      expect(await fixture().statusOf(old.recipient.id)).toMatchObject({ delivery: null });
    });

    it('never touches a message that has not ended, whoever asks', async () => {
      const { store } = fixture();
      const waiting = message({ to: '3' });
      await store.acceptMessage(waiting);
      const [claimed] = await fixture().claim();
      for (const erased of [null, '3'])
        await store.pruneMessages([{ seq: claimed?.seq ?? 0, id: waiting.recipient.id }], erased);
      expect(await fixture().statusOf(waiting.recipient.id)).toMatchObject({ to: '3', status: 'queued' });
      expect(await fixture().handles[0]?.contents()).toHaveLength(1);
    });

    it('never touches a message that came after a reset', async () => {
      const { store } = fixture();
      await store.acceptMessage(message({ to: '1' }));
      await finish();
      const found = await store.listFinalTo('1', null);
      await store.beginReset('me', 1_000);
      await store.reset(1_000, 0);
      await store.endReset('me');
      const young = message({ to: '2' });
      await store.acceptMessage(young);
      await finish();
      await store.pruneMessages(found, '1');
      expect(await fixture().statusOf(young.recipient.id)).toMatchObject({ to: '2', status: 'sent' });
    });

    it('keeps the counts of a batch, and its content until its last message', async () => {
      const { store, clock } = fixture();
      const accepted = await store.acceptBatch(batch(['1', '2', '3']));
      if (accepted.kind !== 'accepted') throw new Error('not accepted');
      await finish();
      clock.advance(3 * day);
      const found = await prunable();
      await store.pruneMessages(found.slice(0, 2), null);
      expect(await fixture().handles[0]?.contents()).toHaveLength(1);
      const id = accepted.batch.id;
      expect(await store.getBatch(project.id, id)).toMatchObject({ prunedAt: null });
      await store.pruneMessages(found, null);
      expect(await fixture().handles[0]?.contents()).toHaveLength(0);
      const whole = { total: 3, sent: 3, status: 'completed', prunedAt: clock.now() };
      expect(await store.getBatch(project.id, id)).toMatchObject(whole);
      const listed = await store.listBatchMessages(project.id, id, { limit: 9, after: null });
      expect(listed?.map(({ to, status }) => `${to} ${status}`)).toEqual([' sent', ' sent', ' sent']);
    });

    it('finds everything, in portions', async () => {
      const { store, clock } = fixture();
      await store.acceptBatch(
        batch(
          Array.from({ length: 210 }, (_, index) => `${index}`),
          { credits: 0 },
        ),
      );
      for (let times = 0; times < 3; times += 1) await finish();
      clock.advance(3 * day);
      const found = await prunable();
      expect(new Set(found.map(({ id }) => id)).size).toBe(210);
      expect(found).toHaveLength(210);
      await store.pruneMessages(found, null);
      expect(await prunable()).toEqual([]);
    });

    it('lists the answers about what was pruned, which keep their keys', async () => {
      const { store, clock } = fixture();
      const ids = [newId(), newId()] as const;
      for (const [index, id] of ids.entries()) {
        const bound = { status: 200, body: JSON.stringify({ id, to: `${index}` }) };
        await store.acceptMessage(
          message({ id, to: `${index}`, idempotencyKey: `k${index}`, answer: () => bound }),
        );
        if (index === 0) await finish();
      }
      clock.advance(3 * day);
      expect((await store.listPrunedAnswers(null)).answers).toEqual([]);
      await store.pruneMessages(await prunable(), null);
      const { answers, next } = await store.listPrunedAnswers(null);
      expect({ keys: answers.map(({ key }) => key), next }).toEqual({ keys: ['k0'], next: null });
      await store.replaceAnswers(answers.map((one) => ({ ...one, body: '{"to":""}' })));
      expect(await store.findAnswer(project.id, 'k0')).toEqual({ status: 200, body: '{"to":""}' });
      expect(await store.findAnswer(project.id, 'k1')).toMatchObject({
        body: expect.stringContaining('"1"'),
      });
      expect(await store.acceptMessage(message({ idempotencyKey: 'k0' }))).toMatchObject({ kind: 'repeat' });
    });

    it('erases one recipient at any age, and the caps still count', async () => {
      const { store, clock } = fixture();
      for (let count = 0; count < 2; count += 1) await store.acceptMessage(message({ to: '1' }));
      await finish();
      await store.acceptMessage(message({ to: '1' }));
      // Refunded, it never counted.
      await finish(failed);
      await store.acceptMessage(message({ to: '2' }));
      await finish();
      clock.advance(60_000);
      expect(await erase('1')).toBe(3);
      expect(await erase('1')).toBe(0);
      expect(await store.countMessagesTo('1')).toBe(0);
      expect(await store.countMessagesTo('2')).toBe(1);

      const capped = await store.acceptMessage(message({ to: '1', caps: [2, 80] }));
      expect(capped).toEqual({ kind: 'capped', waitMs: 540_000 });
      const elsewhere = message({ to: '1', caps: [2, 80], projectId: other.id });
      expect(await store.acceptMessage(elsewhere)).toMatchObject({ kind: 'accepted' });
      expect(await store.acceptMessage(message({ to: '1', caps: [3, 80] }))).toMatchObject({
        kind: 'accepted',
      });
      expect(await store.acceptMessage(message({ to: '1', caps: [3, 80] }))).toMatchObject({
        kind: 'capped',
      });
      expect(await store.acceptMessage(message({ to: '2', caps: [2, 80] }))).toMatchObject({
        kind: 'accepted',
      });
      clock.advance(day);
      expect(await store.acceptMessage(message({ to: '1', caps: [1, 1] }))).toMatchObject({
        kind: 'accepted',
      });
    });

    it.each([true, false])(
      'tells a batch of the sends that were erased; claimed at once: %s',
      async (isClaimed) => {
        const { store, clock } = fixture();
        await store.acceptBatch(batch(['1', '2']));
        await finish();
        const at = clock.now();
        clock.advance(60_000);
        expect(await erase('1')).toBe(1);
        const given = { claim: isClaimed ? claimOf('mine') : null };
        const accepted = await store.acceptBatch(batch(['1', '2', '3'], given));
        const claimed =
          accepted.kind === 'accepted' && isClaimed ? accepted.claimed : await fixture().claim();
        expect(claimed.map(({ message: { to }, earlier }) => [to, earlier?.own])).toEqual([
          ['1', [at]],
          ['2', [at]],
          ['3', []],
        ]);
      },
    );

    it('counts a send that was erased while a batch waited, once', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message({ to: '1' }));
      await finish();
      const at = clock.now();
      clock.advance(1_000);
      await store.acceptBatch(batch(['1']));
      expect(await erase('1')).toBe(1);
      expect((await fixture().claim()).map(({ earlier }) => earlier)).toEqual([{ own: [at], all: [at] }]);
    });

    it('forgets the sends that were erased when no cap counts them, and with a reset', async () => {
      const { store, clock } = fixture();
      const isCapped = async () =>
        (await store.acceptMessage(message({ to: '1', caps: [1, 1] }))).kind === 'capped';
      await store.acceptMessage(message({ to: '1' }));
      await finish();
      await erase('1');
      // Set back, they count as now, and not for ever.
      clock.set(clock.now() - 30 * day);
      expect(await isCapped()).toBe(true);
      await store.pruneLeftovers(null);
      clock.advance(day + 1);
      expect(await isCapped()).toBe(false);
      await finish();
      await erase('1');
      expect(await isCapped()).toBe(true);
      await store.beginReset('me', 1_000);
      await store.reset(1_000, 0);
      await store.endReset('me');
      expect(await isCapped()).toBe(false);
    });

    it('keeps a suppression by its pseudonym', async () => {
      const { store } = fixture();
      await store.suppress(project.id, '1', 'unknown_recipient');
      await store.suppress(other.id, '1', 'manual');
      expect(await store.eraseSuppressed('1')).toBe(2);
      expect(await store.eraseSuppressed('1')).toBe(0);
      expect(await store.findSuppressions(project.id, ['1', '2'])).toEqual(['unknown_recipient', null]);
      expect(await store.findSuppressions(other.id, ['1'])).toEqual(['manual']);
      const page = { limit: 9, after: null };
      const listed = (await store.listSuppressions(project.id, page))?.records ?? [];
      expect(listed.map(({ to }) => to)).toEqual([expect.stringMatching(/^erased:[\w-]{43}$/)]);
      // Suppressed once more, it is there once.
      expect(await store.suppressAll(project.id, ['1', '1'], 'manual')).toBe(0);
      expect(await store.eraseSuppressed('1')).toBe(0);
      expect((await store.listSuppressions(project.id, page))?.records).toHaveLength(1);
      expect(await store.removeSuppression(project.id, '1')).toBe(true);
      expect(await store.findSuppressions(project.id, ['1'])).toEqual([null]);
      expect(await store.removeSuppression(other.id, listed[0]?.to ?? '')).toBe(true);
    });

    it('deletes incoming messages, and receipts that no message waits for', async () => {
      const { store, clock } = fixture();
      const incoming = (projectId: string, from: string) =>
        store.keepIncoming({
          ...{ id: newId(), projectId, channel: 'sms', from, to: '139911', subject: null },
          ...{ text: 'private', fingerprint: null, part: null },
        });
      const receipt = (to: string) =>
        store.recordReceipts(
          [
            {
              ...{ route: 'Mobicom', carrierId: newId(), to, state: 'delivered' },
              ...{ submittedAt: null, reference: '' },
            },
          ],
          answer,
        );
      await incoming(project.id, '1');
      await receipt('1');
      clock.advance(8 * day);
      await incoming(project.id, '1');
      await incoming(other.id, '1');
      await incoming(project.id, '2');
      await receipt('1');
      await receipt('2');
      expect(await store.pruneInbox({ projectId: other.id, olderMs: 2 * day })).toBe(0);
      expect(await store.pruneInbox({ projectId: project.id, olderMs: 2 * day })).toBe(1);
      expect(await store.pruneInbox({ from: '1', olderMs: 2 * day })).toBe(0);
      expect(await store.pruneInbox({ from: '1', olderMs: null })).toBe(2);
      expect(
        (
          await store.listInbox(
            project.id,
            { channel: null, since: null, until: null },
            { limit: 9, after: null },
          )
        )?.records,
      ).toHaveLength(1);
      // A receipt may come before the outcome of its submission: those of a week stay.
      expect(await store.pruneLeftovers(null)).toBe(1);
      expect(await store.pruneLeftovers('1')).toBe(1);
      expect(await store.pruneLeftovers('1')).toBe(0);
      expect(await store.pruneLeftovers('2')).toBe(1);
    });

    it('begins a run of the schedule once a day, and again where one never ended', async () => {
      const { store, clock } = fixture();
      expect(await store.beginPruneRun(day)).toEqual({ isRepeated: false, idleMs: null });
      expect(await store.beginPruneRun(day)).toBeNull();
      clock.advance(60_000);
      await store.endPruneRun();
      clock.advance(day);
      expect(await store.beginPruneRun(day)).toBeNull();
      clock.advance(1);
      expect(await store.beginPruneRun(day)).toEqual({ isRepeated: false, idleMs: day + 1 });
      clock.advance(3_600_001);
      expect(await store.beginPruneRun(day)).toEqual({ isRepeated: true, idleMs: 3_600_001 });
      await store.endPruneRun();
      // A run in the future was before the clock was set back.
      clock.set(clock.now() - 30 * day);
      expect(await store.beginPruneRun(day)).toEqual({ isRepeated: false, idleMs: -30 * day });
    });
  });
}
