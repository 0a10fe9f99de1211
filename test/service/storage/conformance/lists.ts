import { describe, expect, it } from 'vitest';
import type {
  BatchQuery,
  ClaimedMessage,
  MessageQuery,
  PageRequest,
} from '../../../../src/service/storage/store.js';
import {
  answerOf,
  batch,
  type Fixture,
  failed,
  message,
  newId,
  other,
  project,
  sent,
  start,
  unknown,
} from './fixture.js';

const all: MessageQuery = {
  to: null,
  channel: null,
  status: null,
  delivery: null,
  batchId: null,
  since: null,
  until: null,
};
const allBatches: BatchQuery = { channel: null, status: null, since: null, until: null };

export function listConformance(fixture: () => Fixture): void {
  const first: PageRequest = { limit: 100, after: null };
  const messages = async (filter: Partial<MessageQuery> = {}, page = first) => {
    const listed = await fixture().store.listMessages(project.id, { ...all, ...filter }, page);
    return listed && { ids: listed.records.map(({ id }) => id), next: listed.next };
  };
  const batches = async (filter: Partial<BatchQuery> = {}, page = first) => {
    const listed = await fixture().store.listBatches(project.id, { ...allBatches, ...filter }, page);
    return listed && { ids: listed.records.map(({ id }) => id), next: listed.next };
  };
  const whole = (...ids: (string | undefined)[]) => ({ ids, next: null });

  describe('lists', () => {
    it('have the newest first by acceptance, singles, batches and verifications alike', async () => {
      const single = message();
      const many = batch(['1', '2']);
      const code = message({ to: '3' });
      await fixture().store.acceptMessage(single);
      await fixture().store.acceptBatch(many);
      await fixture().store.acceptVerification({
        ...code,
        verification: { id: newId(), codeHash: new Uint8Array([7]), attempts: 3, lifeMs: 1_000 },
      });
      const [one, two] = many.recipients.map(({ id }) => id);
      expect(await messages()).toEqual(whole(code.recipient.id, two, one, single.recipient.id));
      const { records = [] } = (await fixture().store.listMessages(project.id, all, first)) ?? {};
      for (const record of records) expect(record).toEqual(await fixture().statusOf(record.id));
    });

    it('keep the order of acceptance when the clock was set back', async () => {
      const late = message({ to: '1' });
      const early = message({ to: '2' });
      await fixture().store.acceptMessage(late);
      fixture().clock.advance(-500);
      await fixture().store.acceptMessage(early);
      expect(await messages()).toEqual(whole(early.recipient.id, late.recipient.id));
    });

    it('go on behind the last record of a page, and end with null', async () => {
      const many = batch(['1', '2', '3', '4', '5']);
      await fixture().store.acceptBatch(many);
      const [a, b, c, d, e] = many.recipients.map(({ id }) => id);
      expect(await messages({}, { limit: 2, after: null })).toEqual({ ids: [e, d], next: d });
      // What is accepted meanwhile comes before.
      await fixture().store.acceptMessage(message());
      expect(await messages({}, { limit: 2, after: d ?? '' })).toEqual({ ids: [c, b], next: b });
      expect(await messages({}, { limit: 2, after: b ?? '' })).toEqual(whole(a));
      expect(await messages({}, { limit: 1, after: b ?? '' })).toEqual(whole(a));
      expect(await messages({}, { limit: 2, after: a ?? '' })).toEqual(whole());
    });

    it('refuse to go on behind a record that is not there, or of another project', async () => {
      const theirs = message({ projectId: other.id });
      await fixture().store.acceptMessage(theirs);
      const mine = batch(['1']);
      await fixture().store.acceptBatch(mine);
      expect(await messages({}, { limit: 2, after: 'nothing' })).toBeNull();
      expect(await messages({}, { limit: 2, after: theirs.recipient.id })).toBeNull();
      expect(await batches({}, { limit: 2, after: mine.recipients[0]?.id ?? '' })).toBeNull();
      expect(await messages()).toEqual(whole(mine.recipients[0]?.id));
      expect(await fixture().store.listBatches(other.id, allBatches, first)).toEqual({
        records: [],
        next: null,
      });
      expect(await messages({ batchId: 'nothing' })).toEqual(whole());
    });

    it('take the records that every filter takes', async () => {
      const email = message({ to: 'a@example.mn', channel: 'email', lane: 'email' });
      const lost = message({ to: '1' });
      const good = message({ to: '2' });
      await fixture().store.acceptMessage(lost);
      await fixture().finalize(await fixture().claim(), failed);
      await fixture().store.acceptMessage(good);
      await fixture().finalize(await fixture().claim(), {
        status: 'sent',
        carrierIds: [],
        delivery: 'unknown',
      });
      fixture().clock.advance(1_000);
      await fixture().store.acceptMessage(email);
      const again = batch(['1', '9']);
      await fixture().store.acceptBatch(again);
      const [mail, bad, fine] = [email, lost, good].map(({ recipient }) => recipient.id);
      const [one, nine] = again.recipients.map(({ id }) => id);
      expect(await messages({ to: '1' })).toEqual(whole(one, bad));
      expect(await messages({ to: '1', status: 'failed' })).toEqual(whole(bad));
      expect(await messages({ channel: 'email' })).toEqual(whole(mail));
      expect(await messages({ status: 'queued' })).toEqual(whole(nine, one, mail));
      expect(await messages({ status: 'sent' })).toEqual(whole(fine));
      expect(await messages({ delivery: 'unknown' })).toEqual(whole(fine));
      expect(await messages({ delivery: 'bounced' })).toEqual(whole());
      expect(await messages({ batchId: again.batchId })).toEqual(whole(nine, one));
      expect(await messages({ batchId: again.batchId, to: '9' })).toEqual(whole(nine));
      expect(await messages({ until: start + 1_000 })).toEqual(whole(fine, bad));
      expect(await messages({ since: start + 1_000, channel: 'sms' })).toEqual(whole(nine, one));
      expect(await messages({ since: start + 1_001 })).toEqual(whole());
    });

    it('count the messages of a batch whose delivery is unknown, as it is now', async () => {
      const one = batch(['1', '2', '3', '4']);
      const other = batch(['5']);
      await fixture().store.acceptBatch(one);
      await fixture().store.acceptBatch(other);
      await fixture().store.acceptMessage(message({ to: '6' }));
      const counts = async ({ batchId }: typeof one) => {
        const batch = await fixture().store.getBatch(project.id, batchId);
        const { records = [] } = (await fixture().store.listBatches(project.id, allBatches, first)) ?? {};
        expect(records.find(({ id }) => id === batchId)).toEqual(batch);
        return [batch?.sent, batch?.unknown];
      };
      expect(await counts(one)).toEqual([0, 0]);
      const claimed = await fixture().mark(await fixture().claim());
      const to = (...numbers: string[]) => claimed.filter(({ message }) => numbers.includes(message.to));
      await fixture().finalize(to('1'), failed);
      await fixture().finalize(to('2', '5', '6'), unknown);
      await fixture().finalize(to('3'), { status: 'sent', carrierIds: ['c3'], delivery: null });
      expect(await counts(one)).toEqual([2, 1]);
      await fixture().store.leaveInDoubt(to('4').map((claimed) => ({ claimed, delayMs: 0 })));
      await fixture().finalize(await fixture().claimDoubts(), unknown);
      expect([await counts(one), await counts(other)]).toEqual([
        [3, 2],
        [1, 1],
      ]);
      const receive = (number: string, state: 'unknown' | 'delivered') => {
        const [{ message }] = to(number) as [ClaimedMessage];
        const receipt = { route: 'Mobicom', carrierId: `c${number}`, to: number, state } as const;
        return fixture().store.recordReceipts(
          [{ ...receipt, reference: message.id, submittedAt: null }],
          answerOf,
        );
      };
      // Reported as unknown, one that was in doubt, and again.
      await receive('3', 'unknown');
      expect(await counts(one)).toEqual([3, 3]);
      await receive('4', 'delivered');
      expect(await counts(one)).toEqual([3, 2]);
      await receive('3', 'unknown');
      await receive('3', 'delivered');
      expect(await counts(one)).toEqual([3, 1]);
      expect(await counts(other)).toEqual([1, 1]);
    });

    it('show batches by channel, status and time', async () => {
      const texts = batch(['1']);
      const mails = batch(['a@example.mn'], { channel: 'email' });
      await fixture().store.acceptBatch(texts);
      await fixture().finalize(await fixture().claim(), sent);
      fixture().clock.advance(1_000);
      await fixture().store.acceptBatch(mails);
      expect(await batches()).toEqual(whole(mails.batchId, texts.batchId));
      expect(await batches({}, { limit: 1, after: null })).toEqual({
        ids: [mails.batchId],
        next: mails.batchId,
      });
      expect(await batches({}, { limit: 1, after: mails.batchId })).toEqual(whole(texts.batchId));
      expect(await batches({ channel: 'email' })).toEqual(whole(mails.batchId));
      expect(await batches({ status: 'completed' })).toEqual(whole(texts.batchId));
      expect(await batches({ status: 'processing' })).toEqual(whole(mails.batchId));
      expect(await batches({ since: start + 1_000 })).toEqual(whole(mails.batchId));
      expect(await batches({ until: start + 1_000 })).toEqual(whole(texts.batchId));
      const { records = [] } = (await fixture().store.listBatches(project.id, allBatches, first)) ?? {};
      for (const record of records) {
        expect(record).toEqual(await fixture().store.getBatch(project.id, record.id));
      }
    });
  });
}
