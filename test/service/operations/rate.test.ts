import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { takeToken as takeFrom } from '../../../src/service/storage/rate-limiter.js';
import { Cores, takeToken } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

describe('Limits, request rate', () => {
  it.each([
    ['sending', 40, 20],
    ['reading', 10, 10],
  ] as const)('%s: a burst of %i, then %i a second', async (kind, burst, perSecond) => {
    const clock = new ManualClock();
    const core = await cores.open({ clock });
    const take = () => takeToken(core, kind);
    for (let taken = 1; taken <= burst; taken += 1) {
      expect(await take()).toEqual({
        allowed: true,
        limit: burst,
        remaining: burst - taken,
        retryAfter: 0,
      });
    }
    expect(await take()).toEqual({ allowed: false, limit: burst, remaining: 0, retryAfter: 1 });
    let allowed = 0;
    for (let step = 0; step < 2_000; step += 10) {
      clock.advance(10);
      if ((await take()).allowed) allowed += 1;
    }
    expect(allowed).toBe(perSecond * 2);
    clock.advance(60_000);
    expect(await take()).toMatchObject({ remaining: burst - 1 });
  });

  it('is counted for every project and kind on its own', async () => {
    const core = await cores.open({ clock: new ManualClock() });
    for (let taken = 0; taken < 41; taken += 1) await takeToken(core, 'sending');
    expect(await takeToken(core, 'reading')).toMatchObject({ remaining: 9 });
    const { id } = await core.administration.createProject('Other');
    const { secret = '' } = (await (await core.administration.project(id))?.createKey()) ?? {};
    expect(await takeToken(core, 'sending', secret)).toMatchObject({ remaining: 39 });
  });

  it('is shared by the processes of one folder', async () => {
    const directory = cores.folder();
    const clock = new ManualClock();
    const one = await cores.open({ directory, clock });
    const two = await cores.open({ directory, clock });
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, index) => takeToken(index % 2 === 0 ? one : two, 'sending')),
    );
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(40);
  });

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
