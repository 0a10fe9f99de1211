import { groupOf, type Played } from '../row.js';
import type { ClientKind } from './clients.js';
import { playNetwork } from './play.js';

/** The client against the service, with everything in between that can go wrong. */
export const network = groupOf(
  'network',
  { full: { requests: 100_000, faults: 0.4 }, small: { requests: 40, faults: 0.4 } },
  ({ requests, faults }) => {
    const play = async (seed: number, count: number, client: ClientKind): Promise<Played> => {
      const result = await playNetwork({ seed, requests: count, faults, client });
      const { lost, twice, refusedButSent, foreign } = result;
      return {
        measured: `${result.requests} requests, ${result.faults} of them with a fault; ${result.calls} calls, ${result.doubtful} of them left in doubt`,
        found: `${twice} twice, ${lost} lost, ${refusedButSent} refused but sent, ${foreign} answers of others`,
        wrong: lost + twice + refusedButSent + foreign,
      };
    };
    const few = Math.min(1_000, requests);
    return [
      {
        name: 'the client on a hostile network',
        play: (seed) => play(seed, requests, 'shipped'),
        controls: [
          {
            name: 'a client with a new key for each attempt',
            play: (seed) => play(seed, few, 'new_key_per_attempt'),
          },
          {
            name: 'a client that sends verify.create again',
            play: (seed) => play(seed, few, 'resends_verify'),
          },
        ],
      },
    ];
  },
);
