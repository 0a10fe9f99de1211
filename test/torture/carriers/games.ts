import type { CoreDoubles } from '../../../src/service/core.js';
import { careless } from '../../support/carrier-services.js';
import type { Play, Row } from '../row.js';

/** Plays games one after the other: what they found is what they throw. A control ends with the first that it finds. */
export function playGames(
  count: (seed: number) => number | Promise<number>,
  what: string,
  game: (seed: number, index: number) => Promise<{ unknown: number; most: number }>,
  isControl = false,
): Play {
  return async (seed) => {
    const problems: string[] = [];
    const games = await count(seed);
    let unknown = 0;
    for (let index = 0; index < games && !(isControl && problems.length > 0); index += 1) {
      try {
        const played = await game(seed, index);
        unknown += played.unknown;
        if (played.unknown > played.most) problems.push(`game ${index}: ${played.unknown} unknown`);
      } catch (error) {
        problems.push(`game ${index}: ${(error as Error).message}`);
      }
    }
    return {
      measured: `${games} ${what}`,
      found: `${problems.length} twice, lost or untrue, ${unknown} unknown${problems
        .slice(0, 2)
        .map((each) => `; ${each}`)
        .join('')}`,
      wrong: problems.length,
    };
  };
}

/** A row with its control: a carrier that sends again what is unknown. */
export const gameRow = (name: string, play: (doubles: CoreDoubles, isControl: boolean) => Play): Row => ({
  name,
  play: play({}, false),
  controls: [{ name: 'a carrier that sends again what is unknown', play: play(careless, true) }],
});
