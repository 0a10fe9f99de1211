import { groupOf, type Played } from '../row.js';
import { wrong } from '../service/books.js';
import { type ClusterOptions, playCluster } from './play.js';

/** What is proven of several instances on one PostgreSQL. */
export const cluster = groupOf(
  'cluster',
  {
    full: { instances: 3, messages: 40_000, pauses: 10 },
    small: { instances: 2, messages: 600, pauses: 1 },
  },
  (sizes) => {
    const play = async (options: ClusterOptions): Promise<Played> => {
      const result = await playCluster(options);
      const { lost, twice, answers, credits, caps, rates, unfinished } = result;
      return {
        measured: `${result.sends} sends, ${result.messages} messages, ${result.troubles} troubles`,
        found: `${lost} lost, ${twice} twice, ${answers} other answers, ${credits} credits off, ${caps} off their caps, ${rates} over the rate, ${unfinished} without an end`,
        wrong: wrong(result) + caps + rates + unfinished,
      };
    };
    const isFull = sizes.instances > 2;
    /** In small with leases that end soon, and no more of everything than once. */
    const service = isFull ? 'urtuu serve' : 'nothing';
    const calmMs = isFull ? 700 : 150;
    const small = { messages: 400, instances: 2, calmMs: 150 };
    const counts = Array.from({ length: sizes.instances - 1 }, (_, index) => index + 2);
    return [
      ...counts.map((instances) => ({
        name: `${instances} instances killed, backends terminated, PostgreSQL restarted at once`,
        play: (seed: number) =>
          play({
            ...{ seed, instances, service, calmMs, messages: sizes.messages },
            troubles: ['kill', 'terminate', 'crash'],
          }),
        controls: [
          {
            name: 'an instance that trusts its own clock',
            play: (seed: number) => play({ seed, ...small, service: 'trusts_its_own_clock', troubles: [] }),
          },
          {
            name: 'an instance that forgets keys',
            play: (seed: number) =>
              play({ seed, ...small, service: 'forgets_keys', troubles: ['terminate', 'kill', 'crash'] }),
          },
        ],
      })),
      {
        name: 'instances paused for longer than their leases',
        play: (seed) =>
          play({
            ...{ seed, service: 'nothing', calmMs, messages: sizes.pauses * 1_000 },
            instances: sizes.instances,
            troubles: ['pause'],
          }),
        controls: [
          {
            name: 'an instance that ignores the fence',
            play: (seed) =>
              play({ seed, ...small, service: 'forgets_submissions', troubles: ['pause', 'kill'] }),
          },
        ],
      },
      {
        name: 'connections cut before and after statements, commits included',
        play: (seed) =>
          play({
            ...{ seed, service, calmMs, messages: sizes.messages / 5, instances: 2 },
            troubles: [],
            cutEvery: 50,
          }),
        controls: [
          {
            name: 'customers who repeat with a new key',
            play: (seed) =>
              play({ seed, ...small, service: 'nothing', troubles: [], cutEvery: 20, forgetKeys: true }),
          },
        ],
      },
    ];
  },
);
