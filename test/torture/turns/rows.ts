import { engines } from '../engines.js';
import { groupOf, type Played, type Row } from '../row.js';
import { playTurns, type TurnsOptions } from './play.js';

/** What is proven of the turns that projects take, row by row. */
export const turns = groupOf(
  'turns',
  {
    full: { waiting: 2_000, perSecond: 100, calm: 8_000 },
    small: { waiting: 30, perSecond: 60, calm: 1_500 },
  },
  ({ waiting, perSecond, calm }) => {
    const play = async (options: TurnsOptions): Promise<Played> => {
      const result = await playTurns(options);
      const { lost, twice, untrue, credits, unknown, most, off, worst, kills, pauses } = result;
      return {
        measured: `${result.messages} messages of 20 projects, 2 instances, ${kills} kills, ${pauses} pauses`,
        found: `${lost} lost, ${twice} twice, ${untrue} untrue, ${credits} credits off, ${unknown} unknown (at most ${most}), ${off} projects off their share (worst ${Math.round(worst * 100)} %)`,
        wrong: lost + twice + untrue + credits + off + Math.max(0, unknown - most),
      };
    };
    const few = { messages: 60, perSecond: 150, calmMs: 400 };
    return engines.map(
      (engine): Row => ({
        name: `turns of 20 projects while instances are killed and paused, ${engine}`,
        ...(engine === 'PostgreSQL' && {
          provedBy:
            'the row of SQLite, and test/service/storage/conformance/turns.ts and fence.ts on both engines',
        }),
        play: (seed) =>
          play({
            seed,
            engine,
            messages: waiting,
            perSecond,
            calmMs: calm,
            troubles: ['kill', 'pause'],
            service: 'nothing',
          }),
        controls: [
          {
            name: 'a service that serves one project after the other',
            play: (seed) =>
              play({ ...few, seed, engine, troubles: [], service: 'serves_one_project_after_the_other' }),
          },
          {
            name: 'a service that marks after the bytes',
            play: (seed) =>
              play({ ...few, seed, engine, troubles: ['kill'], service: 'marks_after_the_bytes' }),
          },
        ],
      }),
    );
  },
);
