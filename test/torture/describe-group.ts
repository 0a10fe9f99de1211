import { describe, expect, it } from 'vitest';
import { type Group, playControl } from './row.js';

/** The rows of a group that nothing else here proves, small, each with its first control; URTUU_SEED repeats a run. */
export function describeGroup(group: Group): void {
  const seed = Number(process.env.URTUU_SEED ?? Date.now() % 1_000_000);
  describe(`torture: ${group.name}, seed ${seed}`, () => {
    const rows = group.rows('small').filter(({ provedBy }) => provedBy === undefined);
    for (const { name, play, controls, unavailable, isTimed } of rows) {
      const test = unavailable?.() ? it.skip : isTimed ? it : it.concurrent;
      test(name, { timeout: 120_000 }, async () => {
        const played = await play(seed);
        expect(played.wrong, played.found).toBe(0);
      });
      for (const control of controls.slice(0, 1)) {
        test(`${name}: is noticed with ${control.name}`, { timeout: 120_000 }, async () => {
          expect((await playControl(control, seed)).wrong).toBeGreaterThan(0);
        });
      }
    }
  });
}
