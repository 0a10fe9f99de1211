import { groupOf, type Played } from '../row.js';
import { playDoubt, type Sender } from './games.js';
import { playRealDoubt } from './real-games.js';

/** In two games none may lose an answer: as many pairs as it takes, up to four. */
async function playLostAnswers(seed: number): Promise<Played> {
  for (let pair = 0; ; pair += 1) {
    const played = await playRealDoubt(seed + pair, 2, false);
    if (played.wrong > 0 || pair === 3) return played;
  }
}

/** A request whose answer is late, and everything that may be said meanwhile. */
export const doubt = groupOf(
  'doubt',
  { full: { games: 1_000, realGames: 100 }, small: { games: 100, realGames: 2 } },
  ({ games, realGames }) => {
    const control = (sender: Sender) => ({
      name: `a runner that ${sender}`,
      play: (seed: number) => playDoubt(seed, Math.min(games, 200), sender),
    });
    return [
      {
        name: 'answers after their timeouts, refusals in between, balances that lie',
        play: (seed) => playDoubt(seed, games, 'shipped'),
        controls: [control('forgets unanswered copies'), control('has keys of its own in each run')],
      },
      {
        name: 'the same with the real command',
        play: (seed) => playRealDoubt(seed, realGames, true),
        controls: [
          {
            name: 'a service that calls a lost answer a 429',
            play: (seed) => playLostAnswers(seed),
          },
        ],
      },
    ];
  },
);
