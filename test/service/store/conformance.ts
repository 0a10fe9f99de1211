import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  AcceptResult,
  BatchAcceptance,
  ClaimedMessage,
  Content,
  MessageAcceptance,
  MessageRecord,
  Store,
} from '../../../src/service/store/store.js';

const start = Date.UTC(2026, 5, 1);
const project = { id: 'project-1', name: 'One', balance: 1_000, createdAt: start };
const other = { id: 'project-2', name: 'Two', balance: 1_000, createdAt: start };
const content: Content = { text: 'hi', html: null, subject: null, from: null, replyTo: null, sealed: null };
const answerOf = (message: MessageRecord, balance: number) => ({
  status: message.status === 'sent' ? 200 : 502,
  body: JSON.stringify({ id: message.id, balance }),
});

let serial = 0;
const newId = () => `id-${String(++serial).padStart(6, '0')}`;

function message(
  given: Partial<MessageRecord> = {},
  rest: Partial<MessageAcceptance> = {},
): MessageAcceptance {
  return {
    message: {
      id: newId(),
      projectId: project.id,
      batchId: null,
      channel: 'sms',
      to: '99112233',
      operator: 'Mobicom',
      status: 'queued',
      parts: 1,
      rateMultiplier: 1,
      credits: 10,
      error: null,
      createdAt: start,
      sentAt: null,
      ...given,
    },
    content,
    idempotencyKey: null,
    caps: [20, 80],
    lease: null,
    answer: null,
    ...rest,
  };
}

function batch(recipients: readonly string[], rest: Partial<BatchAcceptance> = {}): BatchAcceptance {
  return {
    projectId: project.id,
    batch: {
      id: newId(),
      status: 'processing',
      channel: 'sms',
      total: recipients.length,
      sent: 0,
      failed: 0,
      credits: recipients.length * 10,
      createdAt: start,
      completedAt: null,
    },
    content,
    idempotencyKey: null,
    recipients: recipients.map((to) => ({ id: newId(), to, operator: 'Mobicom' })),
    each: { parts: 1, rateMultiplier: 1, credits: 10 },
    answer: (balance) => ({ status: 202, body: JSON.stringify({ balance }) }),
    ...rest,
  };
}

/** What every engine of the store has to do; `open` gives an empty one. */
export function storeConformance(engine: string, open: () => Promise<Store>): void {
  describe(`store: ${engine}`, () => {
    let store: Store;
    let tokens = 0;

    beforeEach(async () => {
      store = await open();
      await store.createProject(project);
      await store.createProject(other);
    });
    afterEach(() => store.close());

    const balanceOf = async (id = project.id) => (await store.getProject(id))?.balance;
    const ledgerSum = async (id = project.id) =>
      (await store.listLedger(id)).reduce((sum, entry) => sum + entry.amount, 0);
    const claim = (now = start, limit = 100, life = 5_000) =>
      store.claimMessages({ lease: { token: `t${++tokens}`, until: now + life }, now, limit });
    const settle = (claimed: ClaimedMessage[], status: 'sent' | 'failed', at = start) => {
      const outcome =
        status === 'sent' ? { status } : { status, error: { code: 'provider_failed', message: 'no' } };
      return store.settleMessages(
        claimed.map((one) => ({ claimed: one, outcome, at })),
        answerOf,
      );
    };

    describe('money', () => {
      it('opens a project once, with its balance as the first entry', async () => {
        expect(await store.createProject({ ...project, balance: 5 })).toBe(false);
        expect(await balanceOf()).toBe(1_000);
        expect(await store.listLedger(project.id)).toMatchObject([{ reason: 'opening', amount: 1_000 }]);
      });

      it.each([
        [500, 1_500],
        [-400, 600],
        [-5_000, 0],
      ])('credit of %i gives %i, and the ledger agrees', async (amount, balance) => {
        expect(await store.credit(project.id, amount, start)).toBe(balance);
        expect(await ledgerSum()).toBe(balance);
      });

      it('charges what it accepts and nothing it refuses', async () => {
        expect(await store.acceptMessage(message({ credits: 600 }))).toEqual({
          kind: 'accepted',
          balance: 400,
        });
        expect(await store.acceptMessage(message({ credits: 600 }))).toEqual({
          kind: 'insufficient',
          balance: 400,
        });
        expect(await store.acceptBatch(batch(Array.from({ length: 41 }, (_, n) => `${n}`)))).toEqual({
          kind: 'insufficient',
          balance: 400,
        });
        expect(await balanceOf()).toBe(400);
        expect(await ledgerSum()).toBe(400);
        expect(await balanceOf(other.id)).toBe(1_000);
      });

      it('two charges at once cannot spend the same credits', async () => {
        const results = await Promise.all(
          Array.from({ length: 30 }, (_, n) => store.acceptMessage(message({ credits: 100, to: `${n}` }))),
        );
        expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(10);
        expect(await balanceOf()).toBe(0);
      });

      it('a failed message costs nothing in the end, a batch keeps what was charged', async () => {
        const accepted = batch(['1', '2', '3']);
        await store.acceptBatch(accepted);
        const claimed = await claim();
        await settle(claimed.slice(0, 2), 'failed');
        await settle(claimed.slice(2), 'sent');
        expect(await balanceOf()).toBe(990);
        expect(await ledgerSum()).toBe(990);
        expect(await store.getBatch(project.id, accepted.batch.id)).toMatchObject({ credits: 30, failed: 2 });
        const failed = await store.getMessage(project.id, claimed[0]?.message.id ?? '');
        expect(failed).toMatchObject({ status: 'failed', credits: 0, error: { code: 'provider_failed' } });
      });
    });

    describe('idempotency keys', () => {
      it('give the answer that was bound at acceptance', async () => {
        const bound = { status: 202, body: '{"a":1}' };
        const first = message({}, { idempotencyKey: 'k', answer: () => bound });
        expect(await store.findAnswer(project.id, 'k')).toBeUndefined();
        await store.acceptMessage(first);
        expect(await store.findAnswer(project.id, 'k')).toEqual(bound);
        expect(await store.acceptMessage(message({}, { idempotencyKey: 'k' }))).toEqual({
          kind: 'repeat',
          answer: bound,
        });
        expect(await store.acceptBatch(batch(['1'], { idempotencyKey: 'k' }))).toEqual({
          kind: 'repeat',
          answer: bound,
        });
        expect(await balanceOf()).toBe(990);
      });

      it.each(['sent', 'failed'] as const)(
        'give the answer that is bound when a message is %s',
        async (end) => {
          const accepted = message({}, { idempotencyKey: 'k' });
          await store.acceptMessage(accepted);
          expect(await store.findAnswer(project.id, 'k')).toBeNull();
          await settle(await claim(), end);
          expect(await store.findAnswer(project.id, 'k')).toEqual({
            status: end === 'sent' ? 200 : 502,
            body: JSON.stringify({ id: accepted.message.id, balance: end === 'sent' ? 990 : 1_000 }),
          });
        },
      );

      it('let one of many equal requests through', async () => {
        const results = await Promise.all(
          Array.from({ length: 100 }, () => store.acceptMessage(message({}, { idempotencyKey: 'k' }))),
        );
        expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
        expect(results.filter(({ kind }) => kind === 'repeat')).toHaveLength(99);
      });

      it('are free after a refusal, and apart in every project', async () => {
        await store.acceptMessage(message({ credits: 5_000 }, { idempotencyKey: 'k' }));
        expect(await store.findAnswer(project.id, 'k')).toBeUndefined();
        await store.acceptMessage(message({}, { idempotencyKey: 'k' }));
        expect(await store.findAnswer(other.id, 'k')).toBeUndefined();
        const theirs = message({ projectId: other.id }, { idempotencyKey: 'k' });
        expect(await store.acceptMessage(theirs)).toMatchObject({ kind: 'accepted' });
      });
    });

    describe('caps', () => {
      const accept = (given: Partial<MessageRecord>, caps = [2, 3]): Promise<AcceptResult> =>
        store.acceptMessage(message(given, { caps }));

      it('count what was accepted to the recipient in each window', async () => {
        for (const minute of [0, 1]) await accept({ createdAt: start + minute * 60_000 });
        expect(await accept({ createdAt: start + 120_000 })).toEqual({
          kind: 'capped',
          until: start + 600_000,
        });
        expect(await accept({ createdAt: start + 599_999 })).toMatchObject({ kind: 'capped' });
        expect(await accept({ createdAt: start + 600_000 })).toMatchObject({ kind: 'accepted' });
        // The third within 24 hours: now that window decides.
        expect(await accept({ createdAt: start + 7_200_000 })).toEqual({
          kind: 'capped',
          until: start + 86_400_000,
        });
        expect(await accept({ createdAt: start + 86_400_000 })).toMatchObject({ kind: 'accepted' });
      });

      it('do not count other recipients, other projects and failed messages', async () => {
        await accept({ to: '99112234' });
        await accept({ projectId: other.id });
        await accept({});
        await settle(
          (await claim()).filter(({ message: { to } }) => to === '99112233'),
          'failed',
        );
        await accept({});
        expect(await accept({})).toMatchObject({ kind: 'accepted' });
        expect(await accept({})).toMatchObject({ kind: 'capped' });
      });

      it('go before funds and behind the key', async () => {
        await accept({}, [1, 1]);
        expect(await accept({ credits: 5_000 }, [1, 1])).toMatchObject({ kind: 'capped' });
        await store.acceptMessage(message({ to: '1' }, { idempotencyKey: 'k' }));
        const repeat = message({ credits: 5_000 }, { idempotencyKey: 'k', caps: [1, 1] });
        expect(await store.acceptMessage(repeat)).toMatchObject({ kind: 'repeat' });
      });

      it("of a batch's message see only what was accepted before it", async () => {
        await accept({ createdAt: start - 1_000 });
        await store.acceptBatch(batch(['99112233', '99112234']));
        await accept({ createdAt: start + 1_000 }, [20, 80]);
        const claimed = await claim(start + 2_000);
        expect(claimed.map(({ earlier }) => earlier)).toEqual([null, [start - 1_000], [], null]);
      });
    });

    describe('leases', () => {
      it('are given once, in the order of waiting, as many as asked for', async () => {
        await store.acceptBatch(batch(['1', '2', '3', '4', '5']));
        const groups = await Promise.all([
          claim(start, 2),
          claim(start, 2),
          claim(start, 2),
          claim(start, 2),
        ]);
        expect(groups.map((group) => group.map(({ message: { to } }) => to))).toEqual([
          ['1', '2'],
          ['3', '4'],
          ['5'],
          [],
        ]);
      });

      it('end: then the message is claimed again, and its former holder settles nothing', async () => {
        await store.acceptMessage(message());
        const [first] = await claim();
        expect(await claim(start + 4_999)).toEqual([]);
        const second = await claim(start + 5_000);
        expect(second).toMatchObject([{ attempts: 2 }]);
        expect(await settle(first ? [first] : [], 'failed')).toEqual([null]);
        expect(await settle(second, 'sent')).toMatchObject([{ message: { status: 'sent' } }]);
        expect(await settle(second, 'failed')).toEqual([null]);
        expect(await balanceOf()).toBe(990);
      });

      it('of an acceptance count as the first claim', async () => {
        await store.acceptMessage(message({}, { lease: { token: 'mine', until: start + 5_000 } }));
        expect(await claim(start + 4_999)).toEqual([]);
        expect(await claim(start + 5_000)).toMatchObject([{ attempts: 2 }]);
      });

      it('can be renewed while they are held', async () => {
        await store.acceptBatch(batch(['1', '2']));
        const [first] = await claim();
        const token = first?.lease.token ?? '';
        expect(await store.renewLeases([token, 'unknown'], start + 20_000)).toEqual([true, false]);
        expect(await claim(start + 19_999)).toEqual([]);
        expect(await claim(start + 20_000)).toHaveLength(2);
        expect(await store.renewLeases([token], start + 40_000)).toEqual([false]);
      });

      it('can be given back, for later', async () => {
        await store.acceptMessage(message());
        const [first] = await claim();
        const { message: held, lease } = first as ClaimedMessage;
        await store.postponeMessages([{ messageId: held.id, token: 'not mine', at: start }]);
        expect(await claim(start)).toEqual([]);
        await store.postponeMessages([{ messageId: held.id, token: lease.token, at: start + 200 }]);
        expect(await store.hasDue(start)).toBe(false);
        expect(await store.nextDue()).toBe(start + 200);
        expect(await claim(start + 200)).toMatchObject([{ attempts: 2 }]);
      });

      it('and due messages show in nextDue and hasDue', async () => {
        expect(await store.nextDue()).toBeNull();
        expect(await store.hasDue(start)).toBe(false);
        await store.acceptBatch(batch(['1', '2']));
        expect(await store.nextDue()).toBe(start);
        const claimed = await claim();
        expect(await store.nextDue()).toBe(start + 5_000);
        expect(await store.hasDue(start)).toBe(true);
        await settle(claimed.slice(0, 1), 'sent');
        expect(await store.hasDue(start)).toBe(true);
        await settle(claimed.slice(1), 'failed');
        expect(await store.nextDue()).toBeNull();
        expect(await store.hasDue(start)).toBe(false);
      });

      it('hand out the content, and erase what was sealed when the message ends', async () => {
        const sealed = new Uint8Array([1, 2, 3]);
        await store.acceptMessage(message({}, { content: { ...content, text: null, sealed } }));
        const first = await claim();
        expect(Buffer.from(first[0]?.content.sealed ?? [])).toEqual(Buffer.from(sealed));
        await settle(first, 'sent');
      });
    });

    describe('batches', () => {
      it('are completed as soon as sent and failed make the total', async () => {
        const accepted = batch(['1', '2', '3']);
        await store.acceptBatch(accepted);
        const read = () => store.getBatch(project.id, accepted.batch.id);
        const claimed = await claim();
        await settle(claimed.slice(0, 1), 'failed', start + 1);
        expect(await read()).toMatchObject({ status: 'processing', sent: 0, failed: 1, completedAt: null });
        await settle(claimed.slice(1), 'sent', start + 2);
        expect(await read()).toMatchObject({
          status: 'completed',
          sent: 2,
          failed: 1,
          completedAt: start + 2,
        });
      });

      it('list their messages in order, page by page, and no others', async () => {
        await store.acceptMessage(message());
        const accepted = batch(Array.from({ length: 7 }, (_, n) => `${n}`));
        await store.acceptBatch(accepted);
        await store.acceptBatch(batch(['x']));
        const seen: string[] = [];
        for (let after: string | null = null; ; ) {
          const page = await store.listBatchMessages(project.id, accepted.batch.id, { limit: 3, after });
          if (page === null || page.length === 0) break;
          expect(page.every(({ batchId }) => batchId === accepted.batch.id)).toBe(true);
          seen.push(...page.map(({ id }) => id));
          after = page.at(-1)?.id ?? null;
        }
        expect(seen).toEqual(accepted.recipients.map(({ id }) => id));
        const stray = await store.listBatchMessages(project.id, accepted.batch.id, { limit: 3, after: 'x' });
        expect(stray).toBeNull();
      });
    });

    describe('projects', () => {
      it('see nothing of each other', async () => {
        const mine = message();
        const many = batch(['1']);
        await store.acceptMessage(mine);
        await store.acceptBatch(many);
        expect(await store.getMessage(other.id, mine.message.id)).toBeNull();
        expect(await store.getBatch(other.id, many.batch.id)).toBeNull();
        const page = { limit: 10, after: null };
        expect(await store.listBatchMessages(other.id, many.batch.id, page)).toBeNull();
        expect(await store.listKeys(other.id)).toEqual([]);
      });

      it('keep their settings', async () => {
        await store.changeSettings(project.id, () => '{"a":1}');
        await store.changeSettings(project.id, (stored) => stored.replace('1', '2'));
        expect((await store.getProject(project.id))?.settings).toBe('{"a":2}');
        expect((await store.getProject(other.id))?.settings).toBe('{}');
      });

      it('begin anew after a reset, with their keys', async () => {
        const key = {
          id: 'k1',
          projectId: project.id,
          hash: Buffer.from('h'),
          createdAt: 1,
          revokedAt: null,
        };
        await store.addKey(key, 10);
        const sent = message({}, { idempotencyKey: 'k' });
        await store.acceptMessage(sent);
        await store.acceptBatch(batch(['1']));
        await store.reset(700, start);
        expect(await balanceOf()).toBe(700);
        expect(await ledgerSum()).toBe(700);
        expect(await store.getMessage(project.id, sent.message.id)).toBeNull();
        expect(await store.findAnswer(project.id, 'k')).toBeUndefined();
        expect(await store.nextDue()).toBeNull();
        expect(await store.listKeys(project.id)).toHaveLength(1);
      });
    });

    describe('keys', () => {
      const key = (name: string, projectId = project.id) => ({
        id: name,
        projectId,
        hash: new Uint8Array(Buffer.from(name.padEnd(32))),
        createdAt: start,
        revokedAt: null,
      });

      it('are found by their hash until they are revoked, once', async () => {
        await store.addKey(key('a'), 2);
        expect(await store.findKey(key('a').hash)).toMatchObject({ id: 'a', projectId: project.id });
        expect(await store.findKey(key('b').hash)).toBeNull();
        expect(await store.revokeKey(other.id, 'a', start)).toBe(false);
        expect(await store.revokeKey(project.id, 'a', start + 1)).toBe(true);
        expect(await store.revokeKey(project.id, 'a', start + 2)).toBe(false);
        expect(await store.findKey(key('a').hash)).toMatchObject({ revokedAt: start + 1 });
      });

      it('are at most so many active ones a project', async () => {
        expect(await store.addKey(key('a'), 2)).toBe(true);
        expect(await store.addKey(key('b'), 2)).toBe(true);
        expect(await store.addKey(key('c'), 2)).toBe(false);
        expect(await store.addKey(key('d', other.id), 2)).toBe(true);
        await store.revokeKey(project.id, 'a', start);
        expect(await store.addKey(key('c'), 2)).toBe(true);
      });
    });

    describe('verifications', () => {
      const verification = { id: 'v1', codeHash: new Uint8Array([7]), attempts: 3, expiresAt: start + 1_000 };
      const accept = () => store.acceptVerification({ ...message(), verification });
      const check = (right: boolean, at = start) =>
        store.checkVerification(project.id, 'v1', at, (hash) => right && hash[0] === 7);

      it('take as many tries as they have, however many come at once', async () => {
        await accept();
        const results = await Promise.all(Array.from({ length: 10 }, () => check(false)));
        expect(results.filter((result) => result?.tried)).toHaveLength(3);
        expect(await check(true)).toMatchObject({
          tried: false,
          verification: { status: 'failed', attemptsRemaining: 0 },
        });
      });

      it('are verified by the right code, once', async () => {
        await accept();
        await check(false);
        expect(await check(true, start + 5)).toMatchObject({
          tried: true,
          verification: { status: 'verified', attemptsRemaining: 2, verifiedAt: start + 5 },
        });
        expect(await check(true)).toMatchObject({ tried: false });
      });

      it('are closed when their time is over', async () => {
        await accept();
        expect(await check(true, start + 1_000)).toMatchObject({
          tried: false,
          verification: { status: 'pending' },
        });
        expect(await check(true, start + 999)).toMatchObject({ tried: true });
      });

      it('fail with their message, refunded', async () => {
        await accept();
        await settle(await claim(), 'failed');
        expect(await store.getVerification(project.id, 'v1')).toMatchObject({ status: 'failed', credits: 0 });
        expect(await balanceOf()).toBe(1_000);
      });

      it('belong to their project', async () => {
        await accept();
        expect(await store.getVerification(other.id, 'v1')).toBeNull();
        expect(await store.checkVerification(other.id, 'v1', start, () => true)).toBeNull();
        expect(await store.getVerification(project.id, 'v1')).toMatchObject({
          to: '99112233',
          channel: 'sms',
          credits: 10,
        });
      });
    });
  });
}
