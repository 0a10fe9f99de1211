import { describe, expect, it } from 'vitest';
import { batch, type Fixture, failed, message, other, project } from './fixture.js';

export function recordConformance(fixture: () => Fixture): void {
  describe('projects', () => {
    it('see nothing of each other', async () => {
      const mine = message();
      const many = batch(['1']);
      await fixture().store.acceptMessage(mine);
      await fixture().store.acceptBatch(many);
      expect(await fixture().store.getMessage(other.id, mine.recipient.id)).toBeNull();
      expect(await fixture().store.getBatch(other.id, many.batchId)).toBeNull();
      const page = { limit: 10, after: null };
      expect(await fixture().store.listBatchMessages(other.id, many.batchId, page)).toBeNull();
      expect(await fixture().store.listKeys(other.id)).toEqual([]);
      const ids = [mine.recipient.id, 'nothing'];
      expect(await fixture().store.ownMessages(project.id, ids)).toEqual([mine.recipient.id]);
      for (const none of [
        fixture().store.ownMessages(other.id, ids),
        fixture().store.ownMessages(project.id, []),
      ])
        expect(await none).toEqual([]);
    });

    it('change their names', async () => {
      expect(await fixture().store.renameProject(project.id, 'Shop')).toBe(true);
      expect((await fixture().store.listProjects()).map(({ name }) => name)).toEqual(['Shop', 'Two']);
      expect(await fixture().store.renameProject('nobody', 'Shop')).toBe(false);
    });

    it('get a credit once, with its note', async () => {
      const credit = (id: string) => fixture().store.credit(project.id, 5, { id, note: 'refill' });
      const balances = await Promise.all([credit('c1'), credit('c1'), credit('c1')]);
      expect(new Set(balances)).toEqual(new Set([1_005]));
      expect(await credit('c2')).toBe(1_010);
      expect(await fixture().store.credit(project.id, -2_000, { id: 'c3', note: null })).toBe(0);
      const given = (await fixture().store.listLedger(project.id)).slice(1);
      expect(given).toMatchObject([
        { amount: 5, reason: 'credit', subjectId: 'c1', note: 'refill' },
        { amount: 5, reason: 'credit', subjectId: 'c2', note: 'refill' },
        { amount: -1_010, reason: 'credit', subjectId: 'c3', note: null },
      ]);
    });

    it('have what their ledger adds up to, however many credits, withdrawals and sends come at once', async () => {
      await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          if (index % 4 === 0) return await fixture().store.acceptMessage(message());
          const about = { id: `c${index - (index % 3)}`, note: null };
          return await fixture().store.credit(project.id, index % 2 === 0 ? 30 : -200, about);
        }),
      );
      const balance = await fixture().balance();
      expect(balance).toBeGreaterThanOrEqual(0);
      expect(await fixture().ledgerSum()).toBe(balance);
    });

    it('list their ledger page by page, the newest first', async () => {
      for (const amount of [1, 2, 3]) {
        await fixture().store.credit(project.id, amount);
        await fixture().store.credit(other.id, 100 * amount);
      }
      const page = async (before: number | null) => {
        const { records, next } = await fixture().store.listLedgerPage(project.id, { limit: 2, before });
        return { amounts: records.map(({ amount }) => amount), next };
      };
      const first = await page(null);
      expect(first.amounts).toEqual([3, 2]);
      expect(await page(first.next)).toEqual({ amounts: [1, project.balance], next: null });
    });

    it('keep their settings', async () => {
      await fixture().store.changeSettings(project.id, () => '{"a":1}');
      await fixture().store.changeSettings(project.id, (stored) => stored.replace('1', '2'));
      expect((await fixture().store.getProject(project.id))?.settings).toBe('{"a":2}');
      expect((await fixture().store.getProject(other.id))?.settings).toBe('{}');
    });
  });

  describe('keys', () => {
    const key = (name: string, projectId = project.id) => ({
      id: name,
      projectId,
      hash: new Uint8Array(Buffer.from(name.padEnd(32))),
      prefix: `urtuu_${name}`,
      label: name === 'b' ? 'deploy' : null,
      scope: ['send', 'read'] as const,
      expiry: null,
    });

    it('are revoked once, by their own project', async () => {
      await fixture().store.addKey(key('a'), 2);
      expect(await fixture().store.revokeKey(other.id, 'a')).toBe(false);
      expect(await fixture().store.revokeKey(project.id, 'a')).toBe(true);
      expect(await fixture().store.revokeKey(project.id, 'a')).toBe(false);
      const { expiry: _, ...stored } = key('a');
      const now = fixture().clock.now();
      expect(await fixture().store.listKeys(project.id)).toEqual([
        { ...stored, createdBy: null, expiresAt: null, createdAt: now, revokedAt: now, usedAt: null },
      ]);
    });

    it('have a scope and an end, after which they do not count', async () => {
      const until = fixture().clock.now() + 1_000;
      const given = { ...key('a'), scope: ['read'], expiry: { afterMs: 1_000 } } as const;
      const stored = { id: 'a', scope: ['read'], expiresAt: until };
      expect(await fixture().store.addKey(given, 1)).toMatchObject(stored);
      expect(await fixture().store.listKeys(project.id)).toMatchObject([stored]);
      fixture().clock.advance(999);
      expect(await fixture().store.addKey(key('b'), 1)).toBe('too_many');
      fixture().clock.advance(1);
      expect(await fixture().store.addKey(key('b'), 1)).toMatchObject({ id: 'b' });
      expect(await fixture().store.addFirstKey(key('c'))).toBeNull();
    });

    it('that are over when they are made are refused', async () => {
      const now = fixture().clock.now();
      for (const expiry of [{ at: now }, { at: now - 1 }, { afterMs: 0 }])
        expect(await fixture().store.addKey({ ...key('a'), expiry }, 1)).toBe('over');
      expect(await fixture().store.listKeys(project.id)).toEqual([]);
      expect(await fixture().store.addKey({ ...key('a'), expiry: { at: now + 1 } }, 1)).toMatchObject({
        expiresAt: now + 1,
      });
    });

    it('remember their last use, within a minute', async () => {
      await fixture().store.addKey(key('a'), 2);
      const used = async () => (await fixture().store.listKeys(project.id))[0]?.usedAt;
      const first = fixture().clock.now();
      const seen: unknown[] = [];
      for (const step of [0, 59_999, 1, 1]) {
        fixture().clock.advance(step);
        await fixture().store.recordKeyUse('a');
        seen.push(await used());
      }
      expect(seen).toEqual([first, first, first + 60_000, first + 60_000]);
      // The clock was set back.
      fixture().clock.advance(-3_600_000);
      await fixture().store.recordKeyUse('a');
      expect(await used()).toBe(fixture().clock.now());
      await fixture().store.recordKeyUse('nobody');
    });

    it('are at most so many active ones a project', async () => {
      expect(await fixture().store.addKey(key('a'), 2)).toMatchObject({ id: 'a', revokedAt: null });
      expect(await fixture().store.addKey(key('b'), 2)).toMatchObject({ id: 'b', label: 'deploy' });
      expect(await fixture().store.addKey(key('c'), 2)).toBe('too_many');
      expect(await fixture().store.addKey(key('d', other.id), 2)).toMatchObject({ id: 'd' });
      await fixture().store.revokeKey(project.id, 'a');
      expect(await fixture().store.addKey(key('c'), 2)).toMatchObject({ id: 'c' });
    });
  });

  describe('verifications', () => {
    const verification = { id: 'v1', codeHash: new Uint8Array([7]), attempts: 3, lifeMs: 1_000 };
    const accept = () => fixture().store.acceptVerification({ ...message(), verification });
    const check = (right: boolean) =>
      fixture().store.checkVerification(project.id, 'v1', (hash) => right && hash[0] === 7);

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
      fixture().clock.advance(5);
      expect(await check(true)).toMatchObject({
        tried: true,
        verification: { status: 'verified', attemptsRemaining: 2, verifiedAt: fixture().clock.now() },
      });
      expect(await check(true)).toMatchObject({ tried: false });
    });

    it('are closed when their time is over', async () => {
      await accept();
      fixture().clock.advance(999);
      expect(await check(false)).toMatchObject({ tried: true });
      fixture().clock.advance(1);
      expect(await check(true)).toMatchObject({ tried: false, verification: { status: 'expired' } });
      expect(await fixture().store.getVerification(project.id, 'v1')).toMatchObject({ status: 'expired' });
    });

    it('fail with their message, refunded', async () => {
      await accept();
      await fixture().finalize(await fixture().claim(), failed);
      expect(await fixture().store.getVerification(project.id, 'v1')).toMatchObject({
        status: 'failed',
        credits: 0,
      });
      expect(await fixture().balance()).toBe(1_000);
    });

    it('are found by their messages', async () => {
      const carrying = message();
      await fixture().store.acceptVerification({ ...carrying, verification });
      const plain = message();
      await fixture().store.acceptMessage(plain);
      const ids = [carrying.recipient.id, plain.recipient.id, 'none'];
      const [found, ...others] = await fixture().store.findVerifications(ids);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ messageId: carrying.recipient.id, id: 'v1' });
      expect([...(found?.codeHash ?? [])]).toEqual([7]);
    });

    it('belong to their project', async () => {
      await accept();
      expect(await fixture().store.getVerification(other.id, 'v1')).toBeNull();
      expect(await fixture().store.checkVerification(other.id, 'v1', () => true)).toBeNull();
      expect(await fixture().store.getVerification(project.id, 'v1')).toMatchObject({
        to: '99112233',
        channel: 'sms',
        credits: 10,
      });
    });
  });
}
