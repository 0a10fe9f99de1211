import { describe, expect, it } from 'vitest';
import { cappedUntil } from '../../../../src/service/storage/caps.js';
import type { AcceptResult } from '../../../../src/service/storage/store.js';
import { anyOf, batch, type Fixture, failed, message, other, project, sent } from './fixture.js';

export function acceptanceConformance(fixture: () => Fixture): void {
  describe('money', () => {
    it('opens a project once, with its balance as the first entry', async () => {
      expect(await fixture().store.createProject({ ...project, balance: 5 })).toBeNull();
      expect(await fixture().balance()).toBe(1_000);
      expect(await fixture().store.listLedger(project.id)).toMatchObject([
        { reason: 'opening', amount: 1_000 },
      ]);
    });

    it.each([
      [500, 1_500],
      [-400, 600],
      [-5_000, 0],
    ])('credit of %i gives %i, and the ledger agrees', async (amount, balance) => {
      expect(await fixture().store.credit(project.id, amount)).toBe(balance);
      expect(await fixture().ledgerSum()).toBe(balance);
    });

    it('charges what it accepts and nothing it refuses', async () => {
      expect(await fixture().store.acceptMessage(message({ credits: 600 }))).toMatchObject({
        kind: 'accepted',
        balance: 400,
        claimed: [],
        message: { status: 'queued', credits: 600 },
      });
      expect(await fixture().store.acceptMessage(message({ credits: 600 }))).toEqual({
        kind: 'insufficient',
        balance: 400,
      });
      expect(await fixture().store.acceptBatch(batch(Array.from({ length: 41 }, (_, n) => `${n}`)))).toEqual({
        kind: 'insufficient',
        balance: 400,
      });
      expect(await fixture().balance()).toBe(400);
      expect(await fixture().ledgerSum()).toBe(400);
      expect(await fixture().balance(other.id)).toBe(1_000);
    });

    it('two charges at once cannot spend the same credits', async () => {
      const results = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          fixture().store.acceptMessage(message({ credits: 100, to: `${n}` })),
        ),
      );
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(10);
      expect(await fixture().balance()).toBe(0);
    });

    it('a failed message costs nothing in the end, a batch keeps what was charged', async () => {
      const accepted = batch(['1', '2', '3']);
      await fixture().store.acceptBatch(accepted);
      const claimed = await fixture().claim();
      await fixture().finalize(claimed.slice(0, 2), failed);
      await fixture().finalize(claimed.slice(2), sent);
      expect(await fixture().balance()).toBe(990);
      expect(await fixture().ledgerSum()).toBe(990);
      expect(await fixture().store.getBatch(project.id, accepted.batchId)).toMatchObject({
        credits: 30,
        failed: 2,
      });
      const ended = await fixture().store.getMessage(project.id, claimed[0]?.message.id ?? '');
      expect(ended).toMatchObject({ status: 'failed', credits: 0, error: { code: 'provider_failed' } });
    });
  });

  describe('idempotency keys', () => {
    it('give the answer that was bound at acceptance', async () => {
      const bound = { status: 202, body: '{"a":1}' };
      const first = message({ idempotencyKey: 'k', answer: () => bound });
      expect(await fixture().store.findAnswer(project.id, 'k')).toBeUndefined();
      await fixture().store.acceptMessage(first);
      expect(await fixture().store.findAnswer(project.id, 'k')).toEqual(bound);
      expect(await fixture().store.acceptMessage(message({ idempotencyKey: 'k' }))).toEqual({
        kind: 'repeat',
        answer: bound,
      });
      expect(await fixture().store.acceptBatch(batch(['1'], { idempotencyKey: 'k' }))).toEqual({
        kind: 'repeat',
        answer: bound,
      });
      expect(await fixture().balance()).toBe(990);
    });

    it.each(['sent', 'failed'] as const)(
      'give the answer that is bound when a message is %s',
      async (end) => {
        const accepted = message({ idempotencyKey: 'k' });
        await fixture().store.acceptMessage(accepted);
        expect(await fixture().store.findAnswer(project.id, 'k')).toBeNull();
        await fixture().finalize(await fixture().claim(), end === 'sent' ? sent : failed);
        expect(await fixture().store.findAnswer(project.id, 'k')).toEqual({
          status: end === 'sent' ? 200 : 502,
          body: JSON.stringify({ id: accepted.recipient.id, balance: end === 'sent' ? 990 : 1_000 }),
        });
      },
    );

    it('let one of many equal requests through', async () => {
      const results = await Promise.all(
        Array.from({ length: 100 }, () => fixture().store.acceptMessage(message({ idempotencyKey: 'k' }))),
      );
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'repeat')).toHaveLength(99);
    });

    it('are free after a refusal, and apart in every project', async () => {
      await fixture().store.acceptMessage(message({ credits: 5_000, idempotencyKey: 'k' }));
      expect(await fixture().store.findAnswer(project.id, 'k')).toBeUndefined();
      await fixture().store.acceptMessage(message({ idempotencyKey: 'k' }));
      expect(await fixture().store.findAnswer(other.id, 'k')).toBeUndefined();
      const theirs = message({ projectId: other.id, idempotencyKey: 'k' });
      expect(await fixture().store.acceptMessage(theirs)).toMatchObject({ kind: 'accepted' });
    });
  });

  describe('caps', () => {
    const accept = (given: Parameters<typeof message>[0], caps = [2, 3]): Promise<AcceptResult> =>
      fixture().store.acceptMessage(message({ ...given, caps }));
    const minute = 60_000;

    it('count what was accepted to the recipient in each window', async () => {
      const { clock } = fixture();
      await accept({});
      clock.advance(minute);
      await accept({});
      clock.advance(minute);
      expect(await accept({})).toEqual({ kind: 'capped', waitMs: 8 * minute });
      clock.advance(8 * minute - 1);
      expect(await accept({})).toEqual({ kind: 'capped', waitMs: 1 });
      clock.advance(1);
      expect(await accept({})).toMatchObject({ kind: 'accepted' });
      // The third within 24 hours: now that window decides.
      clock.advance(110 * minute);
      expect(await accept({})).toEqual({ kind: 'capped', waitMs: 1_320 * minute });
      clock.advance(1_320 * minute);
      expect(await accept({})).toMatchObject({ kind: 'accepted' });
    });

    it('are those of the rule, whenever messages come', async () => {
      const { about, of } = anyOf();
      const { clock } = fixture();
      let earlier: number[] = [];
      for (let asked = 0; asked < 40; asked += 1) {
        clock.advance(of([0, 1, minute, 9 * minute, 10 * minute, 300 * minute, 1_430 * minute]));
        const now = clock.now();
        const caps = [of([1, 2, 4]), of([2, 5, 9])];
        const until = cappedUntil({ own: earlier, all: earlier }, caps, now);
        if (until === null) earlier = [now, ...earlier];
        expect(await accept({ credits: 0 }, caps), about).toMatchObject(
          until === null ? { kind: 'accepted' } : { kind: 'capped', waitMs: until - now },
        );
      }
    });

    it('do not count other recipients, other projects and failed messages', async () => {
      await accept({ to: '99112234' });
      await accept({ projectId: other.id });
      await accept({});
      const claimed = await fixture().claim();
      await fixture().finalize(
        claimed.filter(({ message: { to } }) => to === '99112233'),
        failed,
      );
      await accept({});
      expect(await accept({})).toMatchObject({ kind: 'accepted' });
      expect(await accept({})).toMatchObject({ kind: 'capped' });
    });

    it('go before funds and behind the key', async () => {
      await accept({}, [1, 1]);
      expect(await accept({ credits: 5_000 }, [1, 1])).toMatchObject({ kind: 'capped' });
      await fixture().store.acceptMessage(message({ to: '1', idempotencyKey: 'k' }));
      const repeat = message({ credits: 5_000, idempotencyKey: 'k', caps: [1, 1] });
      expect(await fixture().store.acceptMessage(repeat)).toMatchObject({ kind: 'repeat' });
    });

    it("of a batch's message see only what was accepted before it", async () => {
      const { clock } = fixture();
      const first = clock.now();
      await accept({});
      clock.advance(1_000);
      await fixture().store.acceptBatch(batch(['99112233', '99112234']));
      clock.advance(1_000);
      await accept({}, [20, 80]);
      const claimed = await fixture().claim();
      expect(claimed.map(({ earlier }) => earlier?.all)).toEqual([undefined, undefined, [first], []]);
    });
  });
}
