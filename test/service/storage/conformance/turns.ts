import { describe, expect, it } from 'vitest';
import { mostProjects } from '../../../../src/service/storage/shared/turns.js';
import type { ClaimedMessage, MessageClass } from '../../../../src/service/storage/store.js';
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

    /** As many messages of each of so many projects; their names. */
    async function acceptOf(projects: number, each: number): Promise<string[]> {
      const names = Array.from({ length: projects }, (_, index) => `p${index}-`);
      for (const name of names) {
        await fixture().store.createProject({ id: name, name, balance: 1_000 });
        await accept(name, each, name);
      }
      return names;
    }

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
      expect(toOf(await claim(9))).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'a5', 'a6']);
      expect(counted(await claim(100))).toEqual({ a: 100 });
    });

    it.each([1, 3, 7, 10, 25])('go on from claim to claim, with claims of %i', async (limit) => {
      await accept('a', 300);
      await accept('b', 300, other.id);
      const counts = { a: 0, b: 0 };
      for (let claims = 0; claims * limit < 300; claims += 1) {
        const { a = 0, b = 0 } = counted(await claim(limit));
        counts.a += a;
        counts.b += b;
        expect(Math.abs(counts.a - counts.b)).toBeLessThanOrEqual(1);
      }
    });

    it('are as many for each project in every claim, whichever of them are lost', async () => {
      const names = await acceptOf(12, 60);
      const totals = new Map(names.map((name) => [name, 0]));
      for (const limit of [20, 50, 7, 100, 35, 12, 90]) {
        const claimed = counted(await claim(limit));
        const counts = names.map((name) => claimed[name] ?? 0);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        for (const name of names) totals.set(name, (totals.get(name) ?? 0) + (claimed[name] ?? 0));
        expect(Math.max(...totals.values()) - Math.min(...totals.values())).toBeLessThanOrEqual(1);
      }
    });

    it('of more projects than share a claim come round, a slice each', async () => {
      const names = await acceptOf(mostProjects + 20, 10);
      const totals = new Map(names.map((name) => [name, 0]));
      for (let claims = 0; claims < 5; claims += 1) {
        const claimed = counted(await claim(mostProjects * 2 - 1));
        expect([...new Set(Object.values(claimed))]).toEqual([2]);
        expect(Object.keys(claimed)).toHaveLength(mostProjects - 1);
        for (const [name, count] of Object.entries(claimed))
          totals.set(name, (totals.get(name) ?? 0) + count);
        expect(Math.max(...totals.values()) - Math.min(...totals.values())).toBeLessThanOrEqual(2);
      }
    });

    it('are taken by the batches of a project, a slice each', async () => {
      await accept('a', 150);
      await accept('b', 150);
      await accept('c', 5);
      const a = named('a', 150);
      const b = named('b', 150);
      const c = named('c', 5);
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
      expect(toOf(await claim(3, {}, 'single'))).toEqual(['a1', 'b1', 'a2']);
      expect(counted(await claim(10, {}, 'single'))).toEqual({ a: 9, b: 1 });
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
