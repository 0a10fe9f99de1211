import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { takeToken as takeFrom } from '../../../src/service/storage/rate-limiter.js';
import { Cores, takeToken } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

describe('Limits, request rate', () => {
  it('can be switched off', async () => {
    const core = await cores.open({ rates: 'off' });
    for (let taken = 0; taken < 100; taken += 1) {
      expect(await takeToken(core, 'reading')).toMatchObject({ allowed: true });
    }
  });

  it('never gives more than burst + rate x time, and a token after the wait it names', () => {
    const bucket = { interval: 50, burst: 40 };
    const moves = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 })), { maxLength: 300 });
    fc.assert(
      fc.property(moves, (steps) => {
        let now = 0;
        let fullAt = null as number | null;
        let allowed = 0;
        for (const step of steps) {
          now += step;
          const taken = takeFrom(fullAt, bucket, now);
          fullAt = taken.fullAt;
          if (taken.allowed) allowed += 1;
          else expect(takeFrom(fullAt, bucket, now + taken.wait).allowed).toBe(true);
        }
        expect(allowed).toBeLessThanOrEqual(40 + now / 50);
      }),
    );
  });

  it.each(['sending', 'reading'] as const)(
    'a clock that is set back costs one refusal of a second: %s',
    async (kind) => {
      const clock = new ManualClock();
      const core = await cores.open({ directory: cores.folder(), clock });
      await takeToken(core, kind);
      clock.set(clock.now() - 86_400_000);
      expect(await takeToken(core, kind)).toMatchObject({ allowed: false, remaining: 0, retryAfter: 1 });
      clock.advance(1_000);
      expect(await takeToken(core, kind)).toMatchObject({ allowed: true });
    },
  );
});
