import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/service/clock.js';
import { takeToken } from '../../../../src/service/storage/rate-limiter.js';
import type { Engine, Handle } from './engine.js';
import { anyOf, start } from './fixture.js';

const bucket = { interval: 100, burst: 10 };

/** The rules of a rate limiter, for every engine: on one handle, and on two at once. */
export function rateLimiterConformance(engine: Engine): void {
  describe.each([1, 2])(`rate limiter: ${engine.name}, handles: %i`, (count) => {
    let handles: Handle[];
    let clocks: ManualClock[];
    let calls = 0;
    const take = (projectId = 'p', kind = 'sending') => {
      calls += 1;
      return (handles[calls % count] as Handle).rateLimiter.take(projectId, kind, bucket);
    };
    const allowed = async (requests: number) => {
      const taken = await Promise.all(Array.from({ length: requests }, () => take()));
      return taken.filter((one) => one.allowed).length;
    };
    const advance = (milliseconds: number) => {
      for (const clock of clocks) clock.advance(milliseconds);
    };

    beforeEach(async () => {
      clocks = Array.from({ length: count }, () => new ManualClock(start));
      handles = await engine.open(clocks);
    });
    afterEach(() => Promise.all(handles.map((handle) => handle.close())));

    it('gives a burst, then one token an interval', async () => {
      expect(await allowed(40)).toBe(10);
      advance(100);
      expect(await allowed(5)).toBe(1);
      advance(550);
      expect(await allowed(20)).toBe(5);
    });

    it('tells how many tokens are left, and how long to wait for one', async () => {
      expect(await take()).toEqual({ allowed: true, remaining: 9, wait: 0 });
      await allowed(9);
      expect(await take()).toEqual({ allowed: false, remaining: 0, wait: 100 });
    });

    it('has a bucket for each project and kind, and forgets them at a reset', async () => {
      await allowed(10);
      expect((await take('other')).allowed).toBe(true);
      expect((await take('p', 'reading')).allowed).toBe(true);
      await Promise.all(handles.map((handle) => handle.rateLimiter.reset()));
      expect(await allowed(20)).toBe(10);
    });

    it('gives the tokens of the rule, whenever they are asked for', async () => {
      const { about, of } = anyOf();
      let fullAt: number | null = null;
      for (let asked = 0; asked < 60; asked += 1) {
        advance(of([0, 0, 1, 99, 100, 350]));
        const { fullAt: after, ...taken } = takeToken(fullAt, bucket, (clocks[0] as ManualClock).now());
        fullAt = after;
        expect(await take(), about).toEqual(taken);
      }
    });

    it('counts a bucket from the future as empty at now: a clock that is set back costs one refusal', async () => {
      for (const clock of clocks) clock.set(start + 3_600_000);
      await allowed(5);
      for (const clock of clocks) clock.set(start);
      expect(await take()).toEqual({ allowed: false, remaining: 0, wait: bucket.interval });
      advance(bucket.interval);
      expect(await take()).toEqual({ allowed: true, remaining: 0, wait: 0 });
      advance(bucket.interval * bucket.burst);
      expect(await allowed(20)).toBe(bucket.burst);
    });
  });
}
