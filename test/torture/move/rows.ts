import { groupOf, type Played } from '../row.js';
import { wrong } from '../service/books.js';
import { type MoveGame, playMove } from './play.js';

/** What is proven of a move from a folder to a database. */
export const move = groupOf(
  'move',
  {
    full: { games: 8, sent: 20_000, interruptions: 20, customers: 32 },
    small: { games: 1, sent: 400, interruptions: 3, customers: 8 },
  },
  ({ games, sent, interruptions, customers }) => {
    const play = async (count: number, game: MoveGame): Promise<Played> => {
      const sum = { sends: 0, messages: 0, interruptions: 0, givenUp: 0 };
      const found = { lost: 0, unknown: 0, twice: 0, answers: 0, credits: 0, owners: 0 };
      const words: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const played = await playMove({ ...game, seed: game.seed + index });
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += played[name];
        for (const name of Object.keys(found) as (keyof typeof found)[]) found[name] += played[name];
        words.push(...played.counts, ...played.strange);
      }
      const { lost, twice, answers, credits, owners } = found;
      return {
        measured: `${count} moves, ${sum.interruptions} interrupted movers, ${sum.sends} sends, ${sum.messages} messages, ${sum.givenUp} SMS failed after 15 s`,
        found: `${lost} lost, ${twice} twice, ${answers} other answers, ${credits} credits off, ${owners} times two owners; other counts and strange ends: ${words.join(', ') || 'none'}`,
        wrong: wrong(found) + owners + words.length,
      };
    };
    const life = { longestLife: 1_500, mostStatements: 120 };
    const flaw = 'nothing' as const;
    const size = { messages: sent, interruptions, instances: 2, customers, flaw, ...life };
    const control = (name: string, more: Partial<MoveGame>) => ({
      name,
      play: (seed: number) =>
        play(1, { seed, ...size, messages: Math.min(500, sent), interruptions: 0, instances: 1, ...more }),
    });
    return [
      {
        name: 'a move that is interrupted again and again, and customers who never stop asking',
        play: (seed: number) => play(games, { seed, ...size }),
        controls: [
          control('a move that forgets keys', { flaw: 'forgets_keys' }),
          control('a move that leaves the folder unmarked', { flaw: 'leaves_the_folder_unmarked' }),
          control('customers who repeat with a new key', { forgetKeys: true }),
        ],
      },
    ];
  },
);
