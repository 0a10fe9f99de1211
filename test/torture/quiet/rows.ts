import { engines } from '../engines.js';
import { groupOf, type Row } from '../row.js';
import { playQuiet, type StoreKind } from './play.js';

/** Quiet hours, while the clock is stepped, services die, and outcomes are not known. */
export const quiet = groupOf('quiet', { full: { days: 400 }, small: { days: 3 } }, ({ days }) =>
  engines.map((engine): Row => {
    const play = async (seed: number, count: number, store: StoreKind) => {
      const { submitted, wrong, left } = await playQuiet({ seed, days: count, engine, store });
      return {
        measured: `${count} days, ${submitted} messages of lists submitted`,
        found: `${wrong} submitted at night, ${left} never`,
        wrong: wrong + left,
      };
    };
    return {
      name: `nothing of a list leaves in quiet hours under clock steps, kills and doubts, ${engine}`,
      ...(engine === 'PostgreSQL' && {
        provedBy: 'the row of SQLite, and test/service/storage/conformance/quiet.ts on both engines',
      }),
      play: (seed) => play(seed, days, 'shipped'),
      controls: [
        {
          name: 'a process that goes by its own clock',
          play: (seed) => play(seed, 3, 'goes_by_its_own_clock'),
        },
      ],
    };
  }),
);
