import { groupOf, type Played } from '../row.js';
import { playMoney } from './play.js';
import type { StoreKind } from './stores.js';

/** What the service takes, gives back and writes down. */
export const money = groupOf(
  'money',
  { full: { sequences: 10_000 }, small: { sequences: 40 } },
  ({ sequences }) => {
    const play = async (seed: number, count: number, store: StoreKind): Promise<Played> => {
      const result = await playMoney({ seed, sequences: count, store });
      return {
        measured: `${result.sequences} sequences, ${result.steps} steps`,
        found: result.failure ?? 'ledger difference 0, never below 0, nothing twice',
        wrong: result.failure === null ? 0 : 1,
      };
    };
    const control = (name: string, store: StoreKind) => ({
      name,
      play: (seed: number) => play(seed, 40, store),
    });
    return [
      {
        name: 'money, whatever happens',
        play: (seed) => play(seed, sequences, 'shipped'),
        controls: [
          control('a store that refunds twice', 'refunds_twice'),
          control('a store that leaves refunds out of the ledger', 'skips_the_ledger'),
        ],
      },
    ];
  },
);
