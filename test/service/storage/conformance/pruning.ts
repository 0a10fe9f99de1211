import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/service/storage/store.js';
import { batch, type Fixture, failed, message, newId, project, sent } from './fixture.js';

const day = 86_400_000;

export function pruningConformance(fixture: () => Fixture): void {
  /** The seqs of everything that can be pruned. */
  async function prunable(olderMs = 2 * day, to: string | null = null) {
    const found = [];
    let after: number | null = 0;
    while (after !== null) {
      const portion: Awaited<ReturnType<Fixture['store']['listPrunable']>> =
        await fixture().store.listPrunable({ olderMs, to, after });
      found.push(...portion.messages);
      after = portion.next;
    }
    return found;
  }
  const finish = async (outcome: Outcome = sent) =>
    fixture().finalize(await fixture().mark(await fixture().claim()), outcome);
  const answer = () => ({ status: 200, body: '{}' });

  describe('pruning', () => {
    it('erases what is old and has ended, with its content and receipts, and nothing else', async () => {
      const { store, clock } = fixture();
      const [old, broken] = [message({ to: '1' }), message({ to: '2' })];
      await store.acceptMessage(old);
      await finish({ status: 'sent', delivery: null, carrierIds: ['c1'] });
      await store.acceptMessage(broken);
      await finish(failed);
      const waiting = message({ to: '3' });
      await store.acceptMessage(waiting);
      clock.advance(3 * day);
      const young = message({ to: '1' });
      await store.acceptMessage(young);
      const [balance, sum] = [await fixture().balance(), await fixture().ledgerSum()];

      const found = await prunable();
      expect(found.map(({ id }) => id)).toEqual([old.recipient.id, broken.recipient.id]);
      expect((await prunable(2 * day, '1')).map(({ id }) => id)).toEqual([old.recipient.id]);
      await store.pruneMessages(found.map(({ seq }) => seq));
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
      await store.pruneMessages([claimed?.seq ?? 0]);
      expect(await fixture().statusOf(waiting.recipient.id)).toMatchObject({ to: '3', status: 'queued' });
      expect(await fixture().handles[0]?.contents()).toHaveLength(1);
    });

    it('keeps the counts of a batch, and its content until its last message', async () => {
      const { store, clock } = fixture();
      const accepted = await store.acceptBatch(batch(['1', '2', '3']));
      if (accepted.kind !== 'accepted') throw new Error('not accepted');
      await finish();
      clock.advance(3 * day);
      const seqs = (await prunable()).map(({ seq }) => seq);
      await store.pruneMessages(seqs.slice(0, 2));
      expect(await fixture().handles[0]?.contents()).toHaveLength(1);
      await store.pruneMessages(seqs);
      expect(await fixture().handles[0]?.contents()).toHaveLength(0);
      const id = accepted.batch.id;
      expect(await store.getBatch(project.id, id)).toMatchObject({ total: 3, sent: 3, status: 'completed' });
      const listed = await store.listBatchMessages(project.id, id, { limit: 9, after: null });
      expect(listed?.map(({ to, status }) => `${to} ${status}`)).toEqual([' sent', ' sent', ' sent']);
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
      await store.pruneMessages((await prunable()).map(({ seq }) => seq));
      const { answers, next } = await store.listPrunedAnswers(null);
      expect({ keys: answers.map(({ key }) => key), next }).toEqual({ keys: ['k0'], next: null });
      await store.replaceAnswers(answers.map((one) => ({ ...one, body: '{"to":""}' })));
      expect(await store.findAnswer(project.id, 'k0')).toEqual({ status: 200, body: '{"to":""}' });
      expect(await store.findAnswer(project.id, 'k1')).toMatchObject({
        body: expect.stringContaining('"1"'),
      });
      expect(await store.acceptMessage(message({ idempotencyKey: 'k0' }))).toMatchObject({ kind: 'repeat' });
    });
  });
}
