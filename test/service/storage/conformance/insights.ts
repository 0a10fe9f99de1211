import { describe, expect, it } from 'vitest';
import type { ClaimedMessage, Tried, TriedRun } from '../../../../src/service/storage/store.js';
import { withTried } from '../../../../src/service/storage/tried.js';
import {
  answerOf,
  anyOf,
  batch,
  claimOf,
  type Fixture,
  failed,
  message,
  other,
  project,
  sent,
  start,
  unknown,
} from './fixture.js';

const hour = 3_600_000;

export function insightConformance(fixture: () => Fixture): void {
  describe('insights', () => {
    const count = async (since = start, projectId = project.id) => {
      const { counts, isWhole } = await fixture().store.countMessages(projectId, since, hour);
      expect(isWhole).toBe(true);
      return counts.sort((one, two) => one.slot - two.slot || one.status.localeCompare(two.status));
    };

    it('count messages by slot, status and error', async () => {
      await fixture().store.acceptMessage(message({ to: '1' }));
      await fixture().store.acceptMessage(message({ projectId: other.id, to: '1' }));
      const claimed = await fixture().claim(2);
      fixture().clock.advance(2 * hour + 1);
      await fixture().store.acceptBatch(batch(['2', '3']));
      await fixture().finalize(claimed, failed);
      const early = { slot: 0, status: 'failed', errorCode: 'provider_failed', count: 1, unknown: 0 };
      const late = { slot: 2, status: 'queued', errorCode: null, count: 2, unknown: 0 };
      expect(await count()).toEqual([early, late]);
      expect(await count(start + hour)).toEqual([{ ...late, slot: 1 }]);
      expect(await count(start, other.id)).toEqual([early]);
      expect(await count(start + 3 * hour)).toEqual([]);
    });

    it('count those whose delivery is unknown among the sent', async () => {
      await fixture().store.acceptBatch(batch(['1', '2', '3']));
      const claimed = await fixture().claim();
      await fixture().finalize(claimed.slice(0, 1), sent);
      await fixture().finalize(claimed.slice(1), unknown);
      expect(await count()).toEqual([{ slot: 0, status: 'sent', errorCode: null, count: 3, unknown: 2 }]);
    });

    it('count what waits, and how long the oldest has', async () => {
      expect(await fixture().store.countWaiting(project.id)).toEqual({
        count: 0,
        oldestMs: null,
        isWhole: true,
      });
      await fixture().store.acceptMessage(message({ projectId: other.id, to: '1' }));
      fixture().clock.advance(1_000);
      await fixture().store.acceptBatch(batch(['1', '2', '3']));
      fixture().clock.advance(500);
      const waiting = { count: 3, oldestMs: 500, isWhole: true };
      expect(await fixture().store.countWaiting(project.id)).toEqual(waiting);
      await fixture().claim(2);
      expect(await fixture().store.countWaiting(project.id)).toMatchObject({ count: 2 });
    });

    it('tell the history of a message: content, submissions, receipts, refund', async () => {
      const token = fixture().newToken();
      const sending = message({ claim: claimOf(token) });
      const accepted = await fixture().store.acceptMessage(sending);
      const refused = message({ to: '88112233' });
      await fixture().store.acceptMessage(refused);
      if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
      await fixture().finalize(accepted.claimed, {
        status: 'sent',
        carrierIds: ['c1', 'c2'],
        delivery: null,
      });
      const receipt = {
        route: 'Mobicom',
        to: '99112233',
        state: 'delivered',
        reference: '',
        submittedAt: null,
      } as const;
      fixture().clock.advance(7);
      await fixture().store.recordReceipts([{ ...receipt, carrierId: 'c2' }], answerOf);
      await fixture().finalize(await fixture().mark(await fixture().claim()), failed);
      const historyOf = (id: string) => fixture().store.getHistory(project.id, id);
      expect(await historyOf(sending.recipient.id)).toEqual({
        content: sending.content,
        route: 'Mobicom',
        attempts: 1,
        tried: [],
        receipts: [{ carrierId: 'c2', state: 'delivered', code: null, receivedAt: start + 7 }],
        refund: null,
      });
      expect(await historyOf(refused.recipient.id)).toMatchObject({
        attempts: 1,
        refund: { amount: 10, createdAt: start + 7 },
      });
      expect(await historyOf('nothing')).toBeNull();
      expect(await fixture().store.getHistory(other.id, sending.recipient.id)).toBeNull();
    });

    it.each([
      [['k-2', 'k-3'], true],
      [['k-3', 'k-4'], true],
      [['k-30', 'k-4'], false],
      [['a', 'k-2~'], false],
    ] as const)('know whether a message was sent under a key between %j: %j', async (keys, isKeyed) => {
      const answer = ({ id }: { id: string }) => ({ status: 202, body: JSON.stringify({ id }) });
      const sending = message({ idempotencyKey: 'k-3', answer });
      await fixture().store.acceptMessage(sending);
      const { store } = fixture();
      expect(await store.isKeyedBetween(project.id, sending.recipient.id, keys)).toBe(isKeyed);
      expect(await store.isKeyedBetween(other.id, sending.recipient.id, keys)).toBe(false);
      expect(await store.isKeyedBetween(project.id, 'another', keys)).toBe(false);
    });

    describe('keep the answers that put a message off', () => {
      const busy: Tried = { kind: 'message', route: 'Mobicom', code: '0x08', words: '' };
      const full: Tried = { kind: 'rate', route: 'Mobicom', code: '0x14', words: 'Queue "full"' };
      const claimMarked = async () => fixture().mark(await fixture().claim());
      const putOff = async (answer: Tried | null, isTry = true) => {
        const marked = await claimMarked();
        const given = answer === null ? {} : { answer };
        await fixture().store.postponeMessages(
          marked.map((claimed) => ({ claimed, delayMs: 0, isTry, ...given })),
        );
        fixture().clock.advance(5);
      };

      it('in their order, equal ones as one with their number', async () => {
        const sending = message();
        await fixture().store.acceptMessage(sending);
        for (const answer of [busy, full, full, null, full, busy]) await putOff(answer);
        const runs = [
          { ...busy, at: start, until: start, times: 1 },
          { ...full, at: start + 5, until: start + 20, times: 3 },
          { ...busy, at: start + 25, until: start + 25, times: 1 },
        ];
        const [claimed] = await claimMarked();
        expect(claimed).toMatchObject({ tries: 6, tried: runs });
        await fixture().store.finalizeMessages(
          [{ claimed: claimed as ClaimedMessage, outcome: failed, answer: full }],
          answerOf,
        );
        const { tried } = (await fixture().store.getHistory(project.id, sending.recipient.id)) ?? {};
        expect(tried).toEqual([...runs, { ...full, at: start + 30, until: start + 30, times: 1 }]);
        const read = await fixture().store.getMessage(project.id, sending.recipient.id);
        expect(read).toMatchObject({ status: 'failed', carrierCode: '0x14' });
      });

      it('as their rule does, whatever follows what', async () => {
        const { about, of } = anyOf();
        const sending = message();
        await fixture().store.acceptMessage(sending);
        let runs: TriedRun[] = [];
        for (let times = 0; times < 40; times += 1) {
          const answer = {
            ...of([busy, full]),
            code: of(['0x08', '0x14']),
            route: of(['Mobicom', 'Unitel']),
          };
          runs = withTried(runs, answer, fixture().clock.now());
          await putOff(answer, of([true, false]));
        }
        const { tried } = (await fixture().store.getHistory(project.id, sending.recipient.id)) ?? {};
        expect(tried, about).toEqual(runs);
      });

      it('the newest 20 of them, also of one that counts for nothing', async () => {
        const sending = message();
        await fixture().store.acceptMessage(sending);
        for (let index = 0; index < 23; index += 1)
          await putOff({ ...busy, code: `${index}` }, index % 2 === 0);
        const { tried = [] } = (await fixture().store.getHistory(project.id, sending.recipient.id)) ?? {};
        expect(tried.map(({ code }) => code)).toEqual(
          Array.from({ length: 20 }, (_, index) => `${index + 3}`),
        );
      });

      it('and none of an attempt that is fenced', async () => {
        const sending = message();
        await fixture().store.acceptMessage(sending);
        const [claimed] = (await claimMarked()) as [ClaimedMessage];
        await fixture().store.postponeMessages([{ claimed, delayMs: 0, isTry: false }]);
        await fixture().store.postponeMessages([{ claimed, delayMs: 0, isTry: true, answer: busy }]);
        const history = await fixture().store.getHistory(project.id, sending.recipient.id);
        expect(history).toMatchObject({ tried: [] });
      });
    });
  });
}
