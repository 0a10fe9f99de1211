import { describe, expect, it } from 'vitest';
import { batch, type Fixture, message, newId, other, project, start } from './fixture.js';

export function recordConformance(fixture: () => Fixture): void {
  describe('projects', () => {
    it('see nothing of each other', async () => {
      const mine = message();
      const many = batch(['1']);
      await fixture().store.acceptMessage(mine);
      await fixture().store.acceptBatch(many);
      expect(await fixture().store.getMessage(other.id, mine.message.id)).toBeNull();
      expect(await fixture().store.getBatch(other.id, many.batch.id)).toBeNull();
      const page = { limit: 10, after: null };
      expect(await fixture().store.listBatchMessages(other.id, many.batch.id, page)).toBeNull();
      expect(await fixture().store.listKeys(other.id)).toEqual([]);
    });

    it('keep their settings', async () => {
      await fixture().store.changeSettings(project.id, () => '{"a":1}');
      await fixture().store.changeSettings(project.id, (stored) => stored.replace('1', '2'));
      expect((await fixture().store.getProject(project.id))?.settings).toBe('{"a":2}');
      expect((await fixture().store.getProject(other.id))?.settings).toBe('{}');
    });

    it('begin anew after a reset, with their keys', async () => {
      const key = {
        id: 'k1',
        projectId: project.id,
        hash: Buffer.from('h'),
        createdAt: 1,
        revokedAt: null,
      };
      await fixture().store.addKey(key, 10);
      const sent = message({}, { idempotencyKey: 'k' });
      await fixture().store.acceptMessage(sent);
      await fixture().store.acceptBatch(batch(['1']));
      await fixture().store.reset(700, start, () => start);
      expect(await fixture().balance()).toBe(700);
      expect(await fixture().ledgerSum()).toBe(700);
      expect(await fixture().store.getMessage(project.id, sent.message.id)).toBeNull();
      expect(await fixture().store.findAnswer(project.id, 'k')).toBeUndefined();
      expect(await fixture().store.nextDue(start)).toBeNull();
      expect(await fixture().store.listKeys(project.id)).toHaveLength(1);
    });
  });

  describe('a reset under way', () => {
    const begin = (owner = 'one', at = start) => fixture().store.beginReset(owner, at, at + 4_000);
    const accepts = async (at: number) => {
      const { store } = fixture();
      const kinds = await Promise.all([
        store.acceptMessage(message({ createdAt: at })),
        store.acceptBatch({ ...batch(['1']), batch: { ...batch(['1']).batch, createdAt: at } }),
        store.acceptVerification({
          ...message({ createdAt: at, to: '2' }),
          verification: { id: newId(), codeHash: Buffer.from('c'), attempts: 5, expiresAt: at + 1 },
        }),
      ]);
      return kinds.map(({ kind }) => kind);
    };

    it('holds back what is new, whoever asks, and nothing else', async () => {
      await fixture().store.acceptMessage(message({}, { idempotencyKey: 'k' }));
      const [claimed] = await fixture().claim();
      await fixture().store.acceptMessage(message());
      expect(await begin()).toBe(true);
      expect(await accepts(start)).toEqual(['resetting', 'resetting', 'resetting']);
      expect(await fixture().store.acceptMessage(message({}, { idempotencyKey: 'k' }))).toEqual({
        kind: 'resetting',
      });
      expect(await fixture().claim()).toEqual([]);
      expect(await fixture().settle(claimed ? [claimed] : [], 'sent')).toMatchObject([{ balance: 980 }]);
      await fixture().store.endReset('one');
      expect(await accepts(start)).toEqual(['accepted', 'accepted', 'accepted']);
      expect(await fixture().claim()).toHaveLength(4);
    });

    it('is one at a time, goes on while its owner says so, and ends with it', async () => {
      expect(await begin('one')).toBe(true);
      expect(await begin('two', start + 3_999)).toBe(false);
      expect(await begin('one', start + 3_999)).toBe(true);
      expect(await begin('two', start + 7_998)).toBe(false);
      await fixture().store.endReset('two');
      expect(await accepts(start + 7_998)).toEqual(['resetting', 'resetting', 'resetting']);
      expect(await accepts(start + 7_999)).toEqual(['accepted', 'accepted', 'accepted']);
      expect(await begin('two', start + 7_999)).toBe(true);
      // The one that died is not brought back by the one that empties.
      await fixture().store.reset(700, start, () => start + 20_000);
      await fixture().store.endReset('two');
      expect(await accepts(start + 8_000)).toEqual(['accepted', 'accepted', 'accepted']);
    });

    it('from the future, which a clock was set back from, is over', async () => {
      expect(await begin('one', start + 3_600_000)).toBe(true);
      expect(await accepts(start)).toEqual(['accepted', 'accepted', 'accepted']);
      expect(await begin('two', start)).toBe(true);
    });

    it('holds back for as long as it said when it emptied, and names what may still be handed over', async () => {
      const { store } = fixture();
      const [waiting, leased, doubtful] = [message({ to: '1' }), message({ to: '2' }), message({ to: '3' })];
      await store.acceptMessage({ ...leased, lease: { token: 'mine', until: start + 5_000 } });
      await store.acceptMessage({ ...doubtful, lease: { token: 'other', until: start + 5_000 } });
      await store.postponeMessages([{ messageId: doubtful.message.id, token: 'other', at: start }]);
      await store.acceptMessage(waiting);
      await begin();
      const named = await store.reset(700, start, () => start + 9_000);
      expect(named).toHaveLength(2);
      expect(named).toEqual(
        expect.arrayContaining([
          { id: leased.message.id, to: '2' },
          { id: doubtful.message.id, to: '3' },
        ]),
      );
      expect(await accepts(start + 8_999)).toEqual(['resetting', 'resetting', 'resetting']);
      await store.endReset('one');
      expect(await store.nextDue(start)).toBeNull();
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
      await fixture().store.addKey(key('a'), 2);
      expect(await fixture().store.findKey(key('a').hash)).toMatchObject({ id: 'a', projectId: project.id });
      expect(await fixture().store.findKey(key('b').hash)).toBeNull();
      expect(await fixture().store.revokeKey(other.id, 'a', start)).toBe(false);
      expect(await fixture().store.revokeKey(project.id, 'a', start + 1)).toBe(true);
      expect(await fixture().store.revokeKey(project.id, 'a', start + 2)).toBe(false);
      expect(await fixture().store.findKey(key('a').hash)).toMatchObject({ revokedAt: start + 1 });
    });

    it('are at most so many active ones a project', async () => {
      expect(await fixture().store.addKey(key('a'), 2)).toBe(true);
      expect(await fixture().store.addKey(key('b'), 2)).toBe(true);
      expect(await fixture().store.addKey(key('c'), 2)).toBe(false);
      expect(await fixture().store.addKey(key('d', other.id), 2)).toBe(true);
      await fixture().store.revokeKey(project.id, 'a', start);
      expect(await fixture().store.addKey(key('c'), 2)).toBe(true);
    });
  });

  describe('verifications', () => {
    const verification = { id: 'v1', codeHash: new Uint8Array([7]), attempts: 3, expiresAt: start + 1_000 };
    const accept = () => fixture().store.acceptVerification({ ...message(), verification });
    const check = (right: boolean, at = start) =>
      fixture().store.checkVerification(project.id, 'v1', at, (hash) => right && hash[0] === 7);

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
      await fixture().settle(await fixture().claim(), 'failed');
      expect(await fixture().store.getVerification(project.id, 'v1')).toMatchObject({
        status: 'failed',
        credits: 0,
      });
      expect(await fixture().balance()).toBe(1_000);
    });

    it('belong to their project', async () => {
      await accept();
      expect(await fixture().store.getVerification(other.id, 'v1')).toBeNull();
      expect(await fixture().store.checkVerification(other.id, 'v1', start, () => true)).toBeNull();
      expect(await fixture().store.getVerification(project.id, 'v1')).toMatchObject({
        to: '99112233',
        channel: 'sms',
        credits: 10,
      });
    });
  });
}
