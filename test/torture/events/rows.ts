import { engines } from '../engines.js';
import { type Control, groupOf, type Played, type Row } from '../row.js';
import { type EventsOptions, playEvents } from './play.js';

/** What happens in a project, for whoever listens. */
export const events = groupOf(
  'events',
  { full: { messages: 10_000 }, small: { messages: 200 } },
  ({ messages }) =>
    engines.map((engine): Row => {
      const play = async (given: Omit<EventsOptions, 'engine'>): Promise<Played> => {
        const { reported, lines, calls, kills, expired, wrong } = await playEvents({ engine, ...given });
        const { missing, disordered, changed, foreign, silent } = wrong;
        return {
          measured: `${reported} events in ${lines + 1} lines, ${calls} calls, ${kills} killed, ${expired} expired`,
          found: `${missing} missing, ${disordered} out of order, ${changed} changed, ${foreign} of others, ${silent} losses not told`,
          wrong: missing + disordered + changed + foreign + silent,
        };
      };
      const control = (
        name: string,
        broken: Pick<EventsOptions, 'listener' | 'store'>,
        messages = 200,
      ): Control => ({
        name,
        play: (seed) => play({ seed, messages, ...broken }),
      });
      const moved = control('a cursor that is moved before the answer is handled', {
        listener: 'moves_before_it_handles',
      });
      return {
        name: `events: each at least once, in order, none skipped, none of others, ${engine}`,
        ...(engine === 'PostgreSQL' && {
          provedBy: 'the row of SQLite, and test/service/storage/conformance/events.ts on both engines',
        }),
        play: (seed) => play({ seed, messages }),
        controls:
          engine === 'SQLite'
            ? [moved]
            : [
                // Rare: an id has to be committed after a later one, between two calls.
                control('a cursor by the id of the row', { store: 'by_id' }, 600),
                control('a cursor by pg_snapshot_xmin', { store: 'by_snapshot' }),
                moved,
              ],
      };
    }),
);
