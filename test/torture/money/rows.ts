import { groupOf, type Played } from '../row.js';
import { type MoneyResult, playMoney } from './play.js';
import type { StoreKind } from './stores.js';

export const moneyPlayed = ({ sequences, steps, failure }: MoneyResult): Played => ({
  measured: `${sequences} sequences, ${steps} steps`,
  found: failure ?? 'ledger difference 0, never below 0, nothing twice',
  wrong: failure === null ? 0 : 1,
});

/** What the service takes, gives back and writes down. */
export const money = groupOf(
  'money',
  { full: { sequences: 10_000 }, small: { sequences: 20 } },
  ({ sequences }) => {
    const play = async (seed: number, count: number, store: StoreKind): Promise<Played> => {
      return moneyPlayed(await playMoney({ seed, sequences: count, store }));
    };
    const control = (name: string, store: StoreKind) => ({
      name,
      play: (seed: number) => play(seed, 40, store),
    });
    return [
      {
        name: 'money, whatever happens',
        isAlwaysPlayed: true,
        play: (seed) => play(seed, sequences, 'shipped'),
        controls: [
          control('a store that refunds twice', 'refunds_twice'),
          control('a store that leaves refunds out of the ledger', 'skips_the_ledger'),
        ],
      },
    ];
  },
);
