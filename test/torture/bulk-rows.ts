import { type Count, type TortureResult, tortureBulk } from './bulk-torture.js';
import { groupOf, type Played } from './row.js';

const said = ({ recipients, lost, twice }: Count, more: string): Played => ({
  measured: `${recipients} recipients, ${more}`,
  found: `${lost} lost, ${twice} twice`,
  wrong: lost + twice,
});

/** Of two controls, each of which must be noticed: one that dies at its start loses everybody, whatever its keys. */
const sentTwice = (one: Count, other: Count): Played => ({
  measured: `${one.recipients} and ${other.recipients} recipients`,
  found: `${one.twice} and ${other.twice} twice`,
  wrong: Math.min(one.twice, other.twice),
});

/** Real processes of the real command, killed again and again, behind a network that fails. */
export const bulk = groupOf(
  'bulk',
  {
    full: { recipients: 100_000, kills: 200, rounds: 20, faults: 0.2, rate: 20 },
    small: { recipients: 1_200, kills: 6, rounds: 2, faults: 0.2, rate: 300 },
  },
  (sizes) => {
    // The senders that are the controls run against the same service, in the same play.
    const played = new Map<number, Promise<TortureResult>>();
    const resultOf = (seed: number): Promise<TortureResult> => {
      const result =
        played.get(seed) ??
        tortureBulk({ seed, ...sizes, controlRecipients: Math.min(2_000, sizes.recipients / 2) });
      played.set(seed, result);
      return result;
    };
    return [
      {
        name: 'kill -9 anywhere in a bulk job',
        isAlwaysPlayed: true,
        async play(seed) {
          const { kills, requests, faults, engine } = await resultOf(seed);
          if (faults === 0) throw new Error('no request had a fault');
          return said(engine, `${kills} kills, ${requests} requests, ${faults} of them with a fault`);
        },
        controls: [
          {
            name: 'a sender with a random key per process, and one with a key from the content, the file edited',
            async play(seed) {
              const { randomKeys, contentKeys } = await resultOf(seed);
              return sentTwice(randomKeys, contentKeys);
            },
          },
        ],
      },
    ];
  },
);
