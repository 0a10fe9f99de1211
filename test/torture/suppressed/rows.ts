import { engines } from '../engines.js';
import { groupOf, type Played, type Row } from '../row.js';
import { playSuppressed } from './play.js';
import type { StoreKind } from './stores.js';

/** Who is on the list of whom not to send to. */
export const suppressed = groupOf(
  'suppressed',
  { full: { games: 10_000 }, small: { games: 60 } },
  ({ games }) =>
    engines.map((engine): Row => {
      const play = async (seed: number, count: number, store: StoreKind): Promise<Played> => {
        const { delivered, kept, wrong, ...played } = await playSuppressed({
          seed,
          games: count,
          engine,
          store,
        });
        return {
          measured: `${played.games} games, ${delivered} messages sent, ${kept} refused`,
          found: `${wrong} sent to somebody suppressed`,
          wrong,
        };
      };
      return {
        name: `nobody suppressed is sent to, while people opt out, are imported and bounce, ${engine}`,
        ...(engine === 'PostgreSQL' && {
          provedBy: 'the row of SQLite, and test/service/storage/conformance/suppressions.ts on both engines',
        }),
        play: (seed) => play(seed, games, 'shipped'),
        controls: [
          {
            name: 'a store that asks before its transaction',
            play: (seed) => play(seed, 60, 'asks_before_the_transaction'),
          },
        ],
      };
    }),
);
