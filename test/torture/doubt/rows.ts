import { groupOf, type Played } from '../row.js';
import { playDoubt, type Sender } from './games.js';
import { type KilledService, playKilledService } from './killed-service.js';
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
  {
    full: { games: 1_000, realGames: 100, recipients: 20_000, kills: 100 },
    small: { games: 50, realGames: 2, recipients: 200, kills: 2 },
  },
  ({ games, realGames, recipients, kills }) => {
    const control = (sender: Sender) => ({
      name: `a runner that ${sender}`,
      play: (seed: number) => playDoubt(seed, Math.min(games, 200), sender),
    });
    const killed =
      (options: Omit<KilledService, 'seed'>) =>
      (seed: number): Promise<Played> =>
        playKilledService({ seed, ...options });
    const few = { recipients: Math.min(recipients, 400), kills: Math.min(kills, 4) };
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
      {
        name: 'a job over a service that is killed over SMPP: what it calls unknown',
        play: killed({ recipients, kills, service: 'urtuu serve' }),
        controls: [
          {
            name: 'a service that calls what is unknown sent',
            play: killed({ ...few, service: 'calls_what_is_unknown_sent' }),
          },
          {
            name: 'a service that sends again what is unknown',
            play: killed({ ...few, service: 'sends_again_what_is_unknown' }),
          },
        ],
      },
    ];
  },
);
