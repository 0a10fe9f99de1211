import { describe, expect, it } from 'vitest';
import { serviceRows, smallSizes } from '../torture/service/rows.js';

// The rows of `npm run torture -- service`, small, each with one control; URTUU_SEED repeats a run.
const seed = Number(process.env.URTUU_SEED ?? Date.now() % 1_000_000);

describe(`the service under torture, seed ${seed}`, () => {
  for (const { name, play, controls } of serviceRows(smallSizes)) {
    it.concurrent(name, { timeout: 60_000 }, async () => {
      expect(await play(seed)).toMatchObject({ wrong: 0 });
    });
    for (const control of controls.slice(0, 1)) {
      it.concurrent(`${name}: is noticed with ${control.name}`, { timeout: 120_000 }, async () => {
        // Which moment a kill hits is chance: a control may need more than one game.
        let wrong = 0;
        for (let game = 0; game < 3 && wrong === 0; game += 1)
          wrong = (await control.play(seed + game)).wrong;
        expect(wrong).toBeGreaterThan(0);
      });
    }
  }
});
