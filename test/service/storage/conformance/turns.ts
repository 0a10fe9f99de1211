import { describe, expect, it } from 'vitest';
import type { ClaimedMessage, MessageClass } from '../../../../src/service/storage/store.js';
import { slice } from '../../../../src/service/storage/turns.js';
import { batch, type Fixture, leaseMs, message, other, project, sent } from './fixture.js';

/** As "a1": the first of the batch a. */
const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`);
const toOf = (claimed: readonly ClaimedMessage[]) => claimed.map(({ message: { to } }) => to);

/** How many were claimed of each name. */
function counted(claimed: readonly ClaimedMessage[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const to of toOf(claimed)) {
    const name = to.replace(/\d+$/, '');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export function turnConformance(fixture: () => Fixture): void {
  describe('turns', () => {
    const accept = (name: string, count: number, projectId = project.id) =>
      fixture().store.acceptBatch(batch(named(name, count), { projectId, credits: 1 }));
    const claim = (limit: number, limits?: Record<string, number>, kind: MessageClass = 'batch') =>
      fixture().store.claimMessages({
        token: fixture().newToken(),
        leaseMs,
        limit,
        lane: 'sms',
        class: kind,
        ...(limits === undefined ? {} : { limits: new Map(Object.entries(limits)) }),
      });

    it('are taken by projects: a claim has as many messages of each, one after the other', async () => {
      await accept('a', 40);
      await accept('b', 40, other.id);
      expect(toOf(await claim(20))).toEqual(
        named('x', 10).flatMap((one) => [one.replace('x', 'a'), one.replace('x', 'b')]),
      );
    });

    it('go to others where a project has nothing left', async () => {
      await accept('a', 200);
      await accept('b', 3, other.id);
      expect(toOf(await claim(9))).toEqual(named('a', 9));
      const claimed = await claim(100);
      expect(counted(claimed)).toEqual({ a: 97, b: 3 });
      expect(toOf(claimed).slice(0, 7)).toEqual(['a10', 'b1', 'a11', 'b2', 'a12', 'b3', 'a13']);
    });

    it.each([1, 3, 7, 10, 25])('go on from claim to claim, with claims of %i', async (limit) => {
      await accept('a', 300);
      await accept('b', 300, other.id);
      const counts = { a: 0, b: 0 };
      for (let claims = 0; claims * limit < 300; claims += 1) {
        const { a = 0, b = 0 } = counted(await claim(limit));
        counts.a += a;
        counts.b += b;
        expect(Math.abs(counts.a - counts.b)).toBeLessThanOrEqual(slice);
      }
    });

    it('of more projects than a claim has slices come round', async () => {
      const names = Array.from({ length: 12 }, (_, index) => `p${index}-`);
      for (const name of names) {
        await fixture().store.createProject({ id: name, name, balance: 1_000 });
        await accept(name, 60, name);
      }
      const all: ClaimedMessage[] = [];
      for (let claims = 0; claims < 12; claims += 1) {
        const claimed = await claim(20);
        expect(Object.keys(counted(claimed)).length).toBeLessThanOrEqual(3);
        all.push(...claimed);
      }
      expect(counted(all)).toEqual(Object.fromEntries(names.map((name) => [name, 20])));
    });

    it('are taken by the batches of a project, a slice each', async () => {
      await accept('a', 150);
      await accept('b', 150);
      await accept('c', 5);
      const [a, b, c] = [named('a', 150), named('b', 150), named('c', 5)];
      expect(toOf(await claim(210))).toEqual([
        ...a.slice(0, 100),
        ...b.slice(0, 100),
        ...c,
        ...a.slice(100, 105),
      ]);
      expect(counted(await claim(70))).toEqual({ a: 45, b: 25 });
      expect(counted(await claim(70))).toEqual({ b: 25 });
    });

    it('of a project are one, however many batches it has', async () => {
      for (const name of ['a', 'b', 'c']) await accept(name, 60);
      await accept('z', 200, other.id);
      expect(counted(await claim(100))).toEqual({ a: 50, z: 50 });
      expect(counted(await claim(100))).toEqual({ a: 10, b: 40, z: 50 });
    });

    it('are not lost by a project whose batches are small', async () => {
      for (let index = 0; index < 30; index += 1) await accept(`a${index}-`, 5);
      await accept('z', 200, other.id);
      const claimed = [...(await claim(90)), ...(await claim(90))];
      expect(claimed.filter(({ message: { projectId } }) => projectId === project.id)).toHaveLength(90);
    });

    it('keep the order of a batch, whoever claims', async () => {
      await accept('a', 100);
      await accept('b', 100);
      await accept('c', 100, other.id);
      const all: string[] = [];
      for (const limit of [1, 2, 3, 50, 7, 90, 11, 130, 200]) all.push(...toOf(await claim(limit)));
      for (const name of ['a', 'b', 'c'])
        expect(all.filter((to) => to.startsWith(name))).toEqual(named(name, 100));
    });

    it('come at once to a project that has waited for nothing', async () => {
      await accept('a', 300);
      await claim(100);
      await accept('b', 10, other.id);
      expect(counted(await claim(20))).toEqual({ a: 10, b: 10 });
    });

    it('are taken by projects among single messages too', async () => {
      const { store } = fixture();
      for (const to of named('a', 30)) await store.acceptMessage(message({ to }));
      for (const to of named('b', 2)) await store.acceptMessage(message({ to, projectId: other.id }));
      expect(toOf(await claim(4, {}, 'single'))).toEqual(['a1', 'a2', 'a3', 'a4']);
      expect(counted(await claim(10, {}, 'single'))).toEqual({ a: 8, b: 2 });
    });

    it('pass over what is not due yet, and come to it when it is', async () => {
      const { store, clock } = fixture();
      await accept('a', 5);
      await accept('b', 5);
      const postponed = await claim(10);
      await store.postponeMessages(postponed.map((claimed) => ({ claimed, delayMs: 60_000, isTry: true })));
      await accept('c', 5);
      await accept('d', 30, other.id);
      expect(counted(await claim(20))).toEqual({ c: 5, d: 15 });
      clock.advance(60_000);
      expect(counted(await claim(20))).toEqual({ a: 5, b: 5, d: 10 });
      expect(counted(await claim(20))).toEqual({ d: 5 });
    });

    it('of a project may be limited, for one claim', async () => {
      await accept('a', 100);
      await accept('b', 100, other.id);
      expect(counted(await claim(40, { [project.id]: 3 }))).toEqual({ a: 3, b: 37 });
      expect(counted(await claim(40, { [project.id]: 0 }))).toEqual({ b: 40 });
      expect(counted(await claim(40, { [project.id]: 0, [other.id]: 0 }))).toEqual({});
      expect(counted(await claim(200, { [project.id]: 50, [other.id]: 100 }))).toEqual({ a: 50, b: 23 });
    });

    it('are lost by nobody who waits while others come and go', async () => {
      const { store } = fixture();
      await accept('a', 100);
      let claimedOfA = 0;
      for (let round = 0; round < 40 && claimedOfA < 100; round += 1) {
        await accept(`b${round}-`, 15, other.id);
        const claimed = await claim(10);
        claimedOfA += claimed.filter(({ message: { projectId } }) => projectId === project.id).length;
        await store.finalizeMessages(
          claimed.map((one) => ({ claimed: one, outcome: sent })),
          () => ({ status: 200, body: '' }),
        );
      }
      expect(claimedOfA).toBe(100);
    });
  });
}
