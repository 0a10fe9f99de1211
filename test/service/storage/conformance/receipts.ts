import { describe, expect, it } from 'vitest';
import type { ClaimedMessage, Receipt } from '../../../../src/service/storage/store.js';
import { answerOf, claimOf, type Fixture, leaseMs, message, newId, project } from './fixture.js';

const day = 86_400_000;

export function receiptConformance(fixture: () => Fixture): void {
  const receipt = (given: Partial<Receipt> = {}): Receipt => ({
    route: 'Mobicom',
    carrierId: 'c1',
    to: '99112233',
    state: 'delivered',
    reference: '',
    submittedAt: null,
    ...given,
  });
  const record = (given: Partial<Receipt> = {}) => fixture().store.recordReceipts([receipt(given)], answerOf);

  async function accepted(given: Parameters<typeof message>[0] = {}): Promise<ClaimedMessage> {
    const token = fixture().newToken();
    const result = await fixture().store.acceptMessage(message({ claim: claimOf(token), ...given }));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    return result.claimed[0] as ClaimedMessage;
  }
  const send = (claimed: ClaimedMessage, carrierIds: string[], delivery: 'undelivered' | null = null) =>
    fixture().finalize([claimed], { status: 'sent', carrierIds, delivery });
  const deliveryOf = async ({ message: { id } }: ClaimedMessage) => (await fixture().statusOf(id))?.delivery;

  /** The end of its id, in at least 4 characters, as carriers repeat it. */
  const referenceOf = ({ message: { id } }: ClaimedMessage, length = 4) => id.slice(-length);

  describe('receipts', () => {
    it.each(['after', 'before', 'with'] as const)(
      'join their submission when they come %s it',
      async (when) => {
        const claimed = await accepted();
        if (when === 'before') await record();
        if (when === 'with') await Promise.all([record(), send(claimed, ['c1'])]);
        else await send(claimed, ['c1']);
        if (when === 'after') await record();
        expect(await deliveryOf(claimed)).toBe('delivered');
        expect(await fixture().statusOf(claimed.message.id)).toMatchObject({ status: 'sent', credits: 10 });
      },
    );

    it('join only the same recipient over the same route', async () => {
      const claimed = await accepted();
      await send(claimed, ['c1']);
      await record({ to: '88112233' });
      await record({ route: 'Unitel' });
      await record({ carrierId: 'c2' });
      expect(await deliveryOf(claimed)).toBeNull();
    });

    it('join within 7 days, on either side', async () => {
      const claimed = await accepted();
      await send(claimed, ['c1']);
      fixture().clock.advance(7 * day);
      await record({ state: 'undelivered' });
      expect(await deliveryOf(claimed)).toBeNull();
      fixture().clock.advance(7 * day);
      const second = await accepted();
      await send(second, ['c1']);
      expect(await deliveryOf(second)).toBeNull();
      await record();
      expect(await deliveryOf(second)).toBe('delivered');
    });

    it('of a number that comes before a mark are of an older message, whose id its carrier uses again', async () => {
      const { store, clock } = fixture();
      await store.acceptMessage(message());
      clock.advance(1_000);
      await record({ state: 'undelivered' });
      clock.advance(1_000);
      const [claimed] = await fixture().mark(await fixture().claim());
      await send(claimed as ClaimedMessage, ['c1']);
      expect(await deliveryOf(claimed as ClaimedMessage)).toBeNull();
      await record();
      expect(await deliveryOf(claimed as ClaimedMessage)).toBe('delivered');
    });

    it.each([
      ['option', 'after'],
      ['text', 'after'],
      ['option', 'before'],
      ['text', 'before'],
    ])(
      'with two ids join by that of the %s, when they come %s their submission, and once',
      async (id, when) => {
        const claimed = await accepted();
        const both = { carrierId: 'option', otherId: 'text' };
        if (when === 'before') await record(both);
        await send(claimed, [id]);
        if (when === 'after') await record(both);
        expect(await deliveryOf(claimed)).toBe('delivered');
        // What is kept under the other id would join another message.
        const later = await accepted();
        fixture().clock.advance(1);
        await send(later, [id === 'text' ? 'option' : 'text']);
        expect(await deliveryOf(later)).toBeNull();
      },
    );

    it.each<[string, Partial<Receipt>[], string | undefined]>([
      ['a failure', [{ state: 'undelivered', code: '042' }], '042'],
      ['a bounce', [{ state: 'bounced', code: '5.1.1' }], '5.1.1'],
      ['a failure that has none', [{ state: 'undelivered' }], undefined],
      ['a delivery', [{ code: '042' }], undefined],
      [
        'a delivery in doubt before it failed',
        [{ state: 'unknown', code: '1' }, { state: 'undelivered' }],
        undefined,
      ],
      [
        'a failure that comes again',
        [
          { state: 'undelivered', code: '042' },
          { state: 'undelivered', code: '042' },
        ],
        '042',
      ],
      ['two ids', [{ state: 'undelivered', carrierId: 'c0', otherId: 'c1', code: '7' }], '7'],
    ])("tell the carrier's own code of %s, before their submission and after it", async (_, given, code) => {
      const read = async (claimed: ClaimedMessage) => {
        const { store } = fixture();
        const listed = await store.listMessages(
          project.id,
          {
            ...{ to: null, channel: null, status: null, delivery: null },
            batchId: null,
            since: null,
            until: null,
          },
          { limit: 1, after: null },
        );
        const found = await store.getMessage(project.id, claimed.message.id);
        expect(listed?.records).toEqual([found]);
        return found?.carrierCode;
      };
      const first = await accepted();
      await send(first, ['c1']);
      for (const each of given) await record(each);
      expect(await read(first)).toBe(code);
      const second = await accepted({ to: '88112233' });
      for (const each of given) await record({ ...each, to: '88112233' });
      await send(second, ['c1']);
      expect(await read(second)).toBe(code);
    });

    it('that match no message are counted once, by route, for a day', async () => {
      const claimed = await accepted();
      await record();
      await record({ carrierId: 'option', otherId: 'text' });
      await record({ carrierId: 'c2', route: 'Unitel' });
      expect(await fixture().store.countUnjoined()).toEqual([
        { route: 'Mobicom', count: 2 },
        { route: 'Unitel', count: 1 },
      ]);
      await send(claimed, ['c1', 'text']);
      expect(await fixture().store.countUnjoined()).toEqual([{ route: 'Unitel', count: 1 }]);
      fixture().clock.advance(day);
      expect(await fixture().store.countUnjoined()).toEqual([]);
    });

    it('with two ids, of which one comes again alone, are two that match no message', async () => {
      await record({ carrierId: 'text', otherId: 'option' });
      await record({ carrierId: 'text' });
      expect(await fixture().store.countUnjoined()).toEqual([{ route: 'Mobicom', count: 2 }]);
    });

    it('with two ids end a doubt once', async () => {
      const claimed = await accepted();
      await fixture().store.leaveInDoubt([{ claimed, delayMs: 0 }]);
      const ended = await record({ carrierId: 'a', otherId: 'b', reference: referenceOf(claimed) });
      expect(ended).toHaveLength(1);
      expect(await deliveryOf(claimed)).toBe('delivered');
    });

    it('of an earlier release are found by ids in the form of SMPP, of its lanes only', async () => {
      const { store } = fixture();
      const [smpp, other, gateway] = [await accepted(), await accepted(), await accepted()];
      await send(smpp, ['00B8BE19']);
      await send(other, ['000']);
      await send(gateway, ['00AB']);
      await store.recordLanes(['Mobicom', 'gateway']);
      await record({ carrierId: 'ab' });
      expect(await deliveryOf(gateway)).toBeNull();
      await Promise.all(fixture().handles.map((each) => each.store.normalizeReceiptIds(['Mobicom'])));
      await record({ carrierId: 'b8be19' });
      await record({ carrierId: '0' });
      expect([await deliveryOf(smpp), await deliveryOf(other)]).toEqual(['delivered', 'delivered']);
      // Once: what comes later has the form already.
      const later = await accepted();
      await send(later, ['00CD']);
      await store.normalizeReceiptIds(['Mobicom']);
      await record({ carrierId: '00CD' });
      expect(await deliveryOf(later)).toBe('delivered');
    });

    it('never overwrite a final state, but an unknown one', async () => {
      const claimed = await accepted();
      await send(claimed, ['c1']);
      await record({ state: 'unknown' });
      expect(await deliveryOf(claimed)).toBe('unknown');
      await record({ state: 'undelivered' });
      await record({ state: 'delivered' });
      await record({ state: 'unknown' });
      expect(await deliveryOf(claimed)).toBe('undelivered');
    });

    it('of all segments make a message delivered, of one undelivered', async () => {
      const good = await accepted();
      const bad = await accepted();
      await send(good, ['c1', 'c2']);
      await send(bad, ['c3', 'c4']);
      await record({ carrierId: 'c1' });
      expect(await deliveryOf(good)).toBeNull();
      await record({ carrierId: 'c2' });
      expect(await deliveryOf(good)).toBe('delivered');
      await record({ carrierId: 'c3', state: 'undelivered' });
      await record({ carrierId: 'c4' });
      expect(await deliveryOf(bad)).toBe('undelivered');
    });

    it('do not make a message delivered of which a segment stayed refused', async () => {
      const claimed = await accepted();
      await send(claimed, ['c1'], 'undelivered');
      await record();
      expect(await deliveryOf(claimed)).toBe('undelivered');
    });
  });

  describe('a receipt that came before its message was in doubt', () => {
    const fall = (claimed: ClaimedMessage) => fixture().store.leaveInDoubt([{ claimed, delayMs: 0 }]);
    /** Those that a look into the doubt finds. */
    const found = async () => (await fixture().claimDoubts()).map(({ receipts }) => receipts);

    it('ends it as any other does', async () => {
      const claimed = await accepted({ idempotencyKey: 'k' });
      await record({ reference: referenceOf(claimed) });
      await fall(claimed);
      const doubts = await fixture().claimDoubts();
      expect(doubts).toMatchObject([{ receipts: ['c1'] }]);
      const [doubt] = doubts as [ClaimedMessage];
      await send(doubt, [...doubt.receipts]);
      expect(await fixture().statusOf(claimed.message.id)).toMatchObject({
        ...{ status: 'sent', delivery: 'delivered', credits: 10 },
      });
      expect(await fixture().store.findAnswer(project.id, 'k')).toMatchObject({ status: 200 });
    });

    it('is found after the end of a lease too, and by who ends a hold', async () => {
      const claimed = await accepted();
      await record({ reference: referenceOf(claimed) });
      fixture().clock.advance(leaseMs);
      await Promise.all(fixture().handles.map(({ store }) => store.endLeases()));
      expect(await found()).toEqual([['c1']]);
      await fixture().store.hold('restored');
      const unfinished = { token: fixture().newToken(), leaseMs, limit: 10 };
      expect(await fixture().store.claimUnfinished(unfinished)).toMatchObject([{ receipts: ['c1'] }]);
    });

    it('of several parts is found with the others', async () => {
      const claimed = await accepted({ parts: 2 });
      await record({ reference: referenceOf(claimed) });
      await record({ carrierId: 'c2', reference: referenceOf(claimed) });
      await fall(claimed);
      expect(await found()).toEqual([['c1', 'c2']]);
    });

    it('joins nothing without its reference, to another recipient, over another route or with another end', async () => {
      const claimed = await accepted();
      const reference = referenceOf(claimed);
      await record();
      await record({ carrierId: 'c2', reference: `x${reference.slice(1)}` });
      await record({ carrierId: 'c3', reference, to: '88112233' });
      await record({ carrierId: 'c4', reference, route: 'Unitel' });
      await fall(claimed);
      expect(await found()).toEqual([[]]);
    });

    it('joins nothing where it came before the mark: it is of an older message', async () => {
      const { store, clock } = fixture();
      const waiting = message();
      await store.acceptMessage(waiting);
      const reference = waiting.recipient.id.slice(-4);
      clock.advance(1_000);
      await record({ reference });
      clock.advance(1_000);
      const [first] = await fixture().mark(await fixture().claim());
      await store.postponeMessages([{ claimed: first as never, delayMs: 0, isTry: true }]);
      clock.advance(1_000);
      await record({ carrierId: 'c2', reference });
      clock.advance(1_000);
      const [second] = await fixture().mark(await fixture().claim());
      await fall(second as never);
      clock.advance(1_000);
      expect(await found()).toEqual([[]]);
      await record({ carrierId: 'c3', reference });
      expect(await deliveryOf(second as never)).toBe('delivered');
    });

    it('joins nothing where it is already of another message, or may be', async () => {
      const one = await accepted();
      const two = await accepted();
      await send(one, ['c1']);
      await record({ reference: referenceOf(two) });
      await record({ carrierId: 'c2', reference: 'd' });
      const three = `${newId()}-d`;
      const four = `${newId()}-d`;
      for (const id of [three, four]) await fall(await accepted({ id, to: '88112233' }));
      await record({ carrierId: 'c3', to: '88112233', reference: 'd' });
      await fall(two);
      expect((await found()).flat()).toEqual([]);
    });
  });

  describe('a receipt for a message in doubt', () => {
    async function inDoubt(given: Parameters<typeof message>[0] = {}): Promise<ClaimedMessage> {
      const claimed = await accepted(given);
      await fixture().store.leaveInDoubt([{ claimed, delayMs: 60_000 }]);
      return claimed;
    }

    it('ends it as sent, with the answer to its key', async () => {
      const claimed = await inDoubt({ idempotencyKey: 'k' });
      await record({ reference: referenceOf(claimed) });
      expect(await fixture().statusOf(claimed.message.id)).toMatchObject({
        status: 'sent',
        delivery: 'delivered',
      });
      expect(await fixture().store.findAnswer(project.id, 'k')).toMatchObject({ status: 200 });
      expect(await send(claimed, ['c1'])).toEqual([null]);
      expect(await fixture().balance()).toBe(990);
    });

    it('of several parts makes it delivered once there are as many as parts', async () => {
      const claimed = await inDoubt({ parts: 2 });
      const reference = referenceOf(claimed);
      await record({ reference });
      const { id } = claimed.message;
      expect(await fixture().statusOf(id)).toMatchObject({ status: 'sent', delivery: 'unknown' });
      await record({ reference });
      expect(await deliveryOf(claimed)).toBe('unknown');
      await record({ carrierId: 'c2', reference });
      expect(await deliveryOf(claimed)).toBe('delivered');
    });

    it('of several parts makes it undelivered at once', async () => {
      const claimed = await inDoubt({ parts: 2 });
      await record({ state: 'undelivered', reference: referenceOf(claimed) });
      expect(await deliveryOf(claimed)).toBe('undelivered');
    });

    const days = (count: number) => fixture().clock.now() + count * day;
    it.each<[string, (own: string) => Partial<Receipt>]>([
      ['no reference, whatever its id', () => ({ carrierId: 'b8be19' })],
      ['no reference, and its date', () => ({ submittedAt: days(0) })],
      ['another reference', (own) => ({ reference: `x${own.slice(1)}` })],
      ['its reference over another route', (reference) => ({ reference, route: 'Unitel' })],
      ['its reference, of another number', (reference) => ({ reference, to: '88112233' })],
      ['its reference, submitted days before', (reference) => ({ reference, submittedAt: days(-3) })],
      ['its reference, submitted days later', (reference) => ({ reference, submittedAt: days(3) })],
    ])('joins nothing with %s', async (_, given) => {
      const doubtful = await inDoubt();
      await record(given(referenceOf(doubtful)));
      expect(await fixture().statusOf(doubtful.message.id)).toMatchObject({ status: 'queued' });
      await fixture().finalize([doubtful], { status: 'sent', carrierIds: [], delivery: 'unknown' });
      await record({ carrierId: 'c2', ...given(referenceOf(doubtful)) });
      expect(await deliveryOf(doubtful)).toBe('unknown');
    });

    it.each<[string, (other: ClaimedMessage) => Promise<unknown>]>([
      ['is being submitted', async () => {}],
      ['is in doubt', (other) => fixture().store.leaveInDoubt([{ claimed: other, delayMs: 60_000 }])],
      ['was accepted without an id', (other) => send(other, [])],
    ])('joins nothing while another message with its reference %s', async (_, end) => {
      const doubtful = await inDoubt({ id: `${newId()}-d00d` });
      await end(await accepted({ id: `${newId()}-d00d` }));
      await record({ reference: 'd00d' });
      expect(await fixture().statusOf(doubtful.message.id)).toMatchObject({ status: 'queued' });
      await record({ carrierId: 'c2', reference: referenceOf(doubtful, 9) });
      expect(await deliveryOf(doubtful)).toBe('delivered');
    });

    it('joins by its reference whatever else is in doubt or being submitted', async () => {
      const [first, second] = [await inDoubt(), await inDoubt()];
      await accepted();
      await record({ reference: referenceOf(second), submittedAt: fixture().clock.now() + day });
      expect([await deliveryOf(first), await deliveryOf(second)]).toEqual([null, 'delivered']);
    });

    it('counts whatever an earlier one of the same id said', async () => {
      const doubtful = await inDoubt();
      await record({ state: 'undelivered' });
      await record({ reference: referenceOf(doubtful) });
      expect(await deliveryOf(doubtful)).toBe('delivered');
    });

    it('is kept for the answer of the message that brings its id', async () => {
      const [doubtful, submitting] = [await inDoubt(), await accepted()];
      await record();
      await send(submitting, ['c1']);
      expect([await deliveryOf(doubtful), await deliveryOf(submitting)]).toEqual([null, 'delivered']);
    });

    it('still tells of one that ended as unknown', async () => {
      const claimed = await accepted();
      fixture().clock.advance(leaseMs);
      await fixture().store.endLeases();
      const doubts = await fixture().claimDoubts();
      await fixture().finalize(doubts, { status: 'sent', carrierIds: [], delivery: 'unknown' });
      await record({ reference: referenceOf(claimed) });
      expect(await deliveryOf(claimed)).toBe('delivered');
      expect(await fixture().balance()).toBe(990);
    });
  });
}
