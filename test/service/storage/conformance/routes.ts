import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import {
  factorAt,
  lower,
  type RouteRate,
  takePermits,
} from '../../../../src/service/storage/route-limits.js';
import type { Engine, Handle } from './engine.js';
import { anyOf, start } from './fixture.js';

const leaseMs = 20_000;

/** The limits of carriers' routes, for every engine: on one handle, and on two whose calls alternate. */
export function routeConformance(engine: Engine): void {
  describe.each([1, 2])(`limits of routes: ${engine.name}, handles: %i`, (count) => {
    let handles: Handle[];
    const clock = new ManualClock(start);
    let calls = 0;
    const next = () => {
      calls += 1;
      return handles[calls % count] as Handle;
    };
    const lease = (holder: string, binds = 2, route = 'Mobicom') =>
      next().store.leaseBind({ route, binds, holder, leaseMs });
    const release = (holder: string) => next().store.releaseBind({ route: 'Mobicom', holder });
    const take = (wanted: number, perSecond = 100, route = 'Mobicom') =>
      next().rateLimiter.takePermits(route, perSecond, wanted);

    beforeEach(async () => {
      clock.set(start);
      handles = await engine.open(Array(count).fill(clock));
    });
    afterEach(() => Promise.all(handles.map((handle) => handle.close())));

    it('a bind is leased to as many holders as there are, and of each route for itself', async () => {
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => lease(holder)));
      expect(all.filter((one) => one)).toHaveLength(2);
      expect(await lease('e', 2, 'Unitel')).toBe(true);
    });

    it('a bind that was released is free, and only its own', async () => {
      await lease('a', 1);
      await release('b');
      expect(await lease('b', 1)).toBe(false);
      await release('a');
      expect(await lease('b', 1)).toBe(true);
      expect(await lease('a', 1)).toBe(false);
    });

    it('a lease is lengthened by its holder, also when it is over', async () => {
      await lease('a', 1);
      clock.advance(leaseMs - 1);
      expect(await lease('a', 1)).toBe(true);
      clock.advance(leaseMs - 1);
      expect(await lease('b', 1)).toBe(false);
      clock.advance(1);
      expect(await lease('a', 1)).toBe(true);
      expect(await lease('b', 1)).toBe(false);
    });

    it('a lease that is over goes to another, once: its holder is refused', async () => {
      await lease('a', 1);
      clock.advance(leaseMs);
      const others = await Promise.all(['b', 'c', 'd'].map((holder) => lease(holder, 1)));
      expect(others.filter((one) => one)).toHaveLength(1);
      expect(await lease('a', 1)).toBe(false);
    });

    it('a lease is not taken by a handle that was connected for less than it lasts', async () => {
      await lease('a', 1);
      clock.set(start + leaseMs);
      expect([await lease('b', 1), await lease('b', 1)]).toEqual([false, false]);
      clock.advance(leaseMs);
      expect(await lease('b', 1)).toBe(true);
    });

    it('a lease that ends later than one can last was given before the clock was set back, and is over', async () => {
      clock.set(start + 3_600_000);
      await lease('a', 1);
      clock.set(start);
      expect(await lease('b', 1)).toBe(true);
    });

    it('fewer binds than before are given to nobody else', async () => {
      await lease('a', 2);
      await lease('b', 2);
      await release('a');
      await release('b');
      const all = await Promise.all(['c', 'd', 'e'].map((holder) => lease(holder, 1)));
      expect(all.filter((one) => one)).toHaveLength(1);
    });

    it('no 24 hours have more than a day takes, also not when the clock is set back', async () => {
      const ofDay = (wanted: number, most = 5, slot?: number) =>
        next().store.takeOfDay({ route: 'email', most, wanted, ...(slot === undefined ? {} : { slot }) });
      const all = await Promise.all([3, 3, 3].map((wanted) => ofDay(wanted)));
      expect(all.map(({ granted }) => granted).sort()).toEqual([0, 2, 3]);
      expect(await ofDay(1)).toMatchObject({ granted: 0, used: 5, nextMs: 87_300_000, reachedMs: 0 });
      const [{ slot }] = all as [(typeof all)[0]];
      expect(await ofDay(-1, 5, slot)).toMatchObject({ used: 4 });
      clock.set(start - 3_600_000);
      expect(await ofDay(2)).toMatchObject({ granted: 1, used: 5, nextMs: 87_300_000 });
      clock.advance(87_299_999);
      expect(await ofDay(1)).toMatchObject({ granted: 0, reachedMs: 0 });
      clock.advance(1);
      expect(await ofDay(0)).toMatchObject({ used: 0, nextMs: null, reachedMs: 1 });
    });

    it('permits follow each other in blocks of 100 ms, and two blocks ahead none is given', async () => {
      const permits = [await take(50), await take(50), await take(50)];
      expect(permits.map(({ granted }) => granted)).toEqual([10, 10, 0]);
      expect(permits.map(({ waitMs }) => Math.round(waitMs))).toEqual([0, 100, 100]);
      clock.advance(100);
      expect(await take(3)).toMatchObject({ granted: 3 });
    });

    it('permits that nobody took are gone', async () => {
      await take(10);
      clock.advance(60_000);
      const { granted } = await take(50);
      expect(granted).toBe(10);
      expect((await take(10)).waitMs).toBeCloseTo(100);
    });

    it('a slow rate and a fast one are exact', async () => {
      expect(await take(5, 0.5, 'slow')).toMatchObject({ granted: 1, waitMs: 0 });
      const { granted, waitMs } = await take(5, 0.5, 'slow');
      expect([granted, Math.round(waitMs)]).toEqual([0, 1_900]);
      let all = 0;
      for (let passed = 0; passed < 1_000; passed += 25) {
        all += (await take(1_000, 3_000, 'fast')).granted;
        clock.advance(25);
      }
      // What was taken ahead: at most two blocks.
      expect(all).toBeGreaterThanOrEqual(3_000);
      expect(all).toBeLessThanOrEqual(3_600);
    });

    describe('a rate that is lowered', () => {
      const lower = (answeredMs = 50, perSecond = 100, route = 'Mobicom') =>
        next().rateLimiter.lowerRate(route, perSecond, answeredMs);
      /** Permits in a second, asked for every 20 ms; blocks that were taken before are gone. */
      const inSecond = async (perSecond = 100, route = 'Mobicom') => {
        clock.advance(300);
        let all = 0;
        for (let passed = 0; passed < 1_000; passed += 20) {
          all += (await take(1_000, perSecond, route)).granted;
          clock.advance(20);
        }
        return all;
      };

      it('is half of it, and grows back by a tenth of the whole each second', async () => {
        expect(await lower()).toBeCloseTo(0.5);
        expect((await take(1)).factor).toBeCloseTo(0.5);
        const first = await inSecond();
        const second = await inSecond();
        // 53 to 63 a second in the first, and two blocks ahead; 66 to 76 in the next one.
        expect(first).toBeGreaterThanOrEqual(50);
        expect(first).toBeLessThanOrEqual(75);
        expect(second).toBeGreaterThan(first);
        clock.advance(2_400);
        expect((await take(1)).factor).toBe(1);
      });

      it('is halved once in the time of an answer: what was submitted before says nothing new', async () => {
        await lower(50);
        clock.advance(40);
        expect(await lower(50)).toBeCloseTo(0.504);
        clock.advance(20);
        expect(await lower(50)).toBeCloseTo(0.253);
      });

      it('is never under one a second, nor above itself', async () => {
        for (let times = 0; times < 20; times += 1) {
          await lower();
          clock.advance(60);
        }
        const lowest = await lower();
        expect(lowest).toBeGreaterThanOrEqual(0.01);
        expect(lowest).toBeLessThan(0.02);
        expect(await lower(50, 0.5, 'slow')).toBe(1);
      });

      it('is of its route alone', async () => {
        await lower();
        expect((await take(1, 100, 'Unitel')).factor).toBe(1);
      });

      it('grows back after a clock was set back, too', async () => {
        clock.set(start + 3_600_000);
        await lower();
        clock.set(start);
        await take(1);
        clock.advance(2_000);
        expect((await take(1)).factor).toBeCloseTo(0.7);
        expect(await lower()).toBeCloseTo(0.35);
      });
    });

    it.each([0.5, 3, 100])(
      'permits of a rate of %f, and what is left of it, are those of the rule',
      async (perSecond) => {
        const { about, of } = anyOf();
        let rate: RouteRate = { nextAt: null, lowered: null };
        for (let asked = 0; asked < 60; asked += 1) {
          clock.advance(of([0, 1, 20, 90, 250, 3_000]));
          const now = clock.now();
          if (of([true, false, false])) {
            const answeredMs = of([0, 50, 300]);
            rate = { ...rate, lowered: lower(rate.lowered, perSecond, answeredMs, now) };
            const left = await next().rateLimiter.lowerRate('Mobicom', perSecond, answeredMs);
            expect(left, about).toBeCloseTo(factorAt(rate.lowered, now), 9);
          } else {
            const wanted = of([1, 3, 50]);
            const { nextAt, granted, waitMs, factor } = takePermits(rate, perSecond, wanted, now);
            rate = { ...rate, nextAt };
            const permits = await take(wanted, perSecond);
            expect(permits, about).toMatchObject({ granted });
            expect([permits.waitMs, permits.factor], about).toEqual([
              expect.closeTo(waitMs, 2),
              expect.closeTo(factor, 9),
            ]);
          }
        }
      },
    );

    it('permits are not held up by a clock that was set back', async () => {
      clock.set(start + 3_600_000);
      await take(10);
      clock.set(start);
      await take(1);
      clock.advance(200);
      expect(await take(1)).toMatchObject({ granted: 1 });
    });
  });
}
