import { playMoney } from '../money/play.js';
import { moneyPlayed } from '../money/rows.js';
import type { StoreKind } from '../money/stores.js';
import { groupOf, type Played, type Row } from '../row.js';
import { wrong } from '../service/books.js';
import type { Break } from '../service/service-main.js';
import { createDatabase, withCluster } from './own-cluster.js';
import { type ClusterOptions, playCluster } from './play.js';
import { playStatements } from './statements.js';

/** What is proven of several instances on one PostgreSQL. */
export const cluster = groupOf(
  'cluster',
  {
    full: {
      instances: 3,
      customers: 48,
      messages: 40_000,
      paused: 10_000,
      rearranged: 10_000,
      cuts: 1_000,
      sequences: 100,
    },
    small: {
      instances: 2,
      customers: 16,
      messages: 100,
      paused: 150,
      rearranged: 100,
      cuts: 4,
      sequences: 1,
    },
  },
  (sizes) => {
    const play = async (options: Omit<ClusterOptions, 'customers'>, customers = 48): Promise<Played> => {
      const result = await playCluster({ ...options, customers });
      const { lost, twice, answers, credits, caps, rates, unfinished, refused, givenUp, unheld } = result;
      const tooMany = Math.max(0, givenUp - Math.ceil(result.sends / 50));
      return {
        measured: `${result.sends} sends, ${result.messages} messages, ${result.troubles} troubles, ${givenUp} SMS failed after 15 s`,
        found: `${lost} lost, ${twice} twice, ${answers} other answers, ${credits} credits off, ${caps} off their caps, ${refused} wrongly capped, ${rates} over the rate, ${unfinished} without an end, ${unheld} copies not held`,
        wrong: wrong(result) + caps + rates + unfinished + refused + unheld + tooMany,
      };
    };
    const cutStatements = async (options: Parameters<typeof playStatements>[0]): Promise<Played> => {
      const { statements, games, wrong } = await playStatements(options);
      return {
        measured: `${games} games of ${statements} statements, one of them cut off`,
        found: wrong.join('; ') || 'nothing lost, nothing twice, nothing open',
        wrong: wrong.length,
      };
    };
    const money = (seed: number, sequences: number, store: StoreKind): Promise<Played> =>
      withCluster(async ({ url }) => {
        const database = await createDatabase(url, 'money');
        return moneyPlayed(await playMoney({ seed, sequences, store, database }));
      });
    const isFull = sizes.instances > 2;
    const counts = Array.from({ length: sizes.instances - 1 }, (_, index) => index + 2);
    const short = { instances: 2, projects: 3, leaseMs: 1_500, calmMs: 100 };
    /** `urtuu serve` itself, with leases of 30 s and its rate. */
    const real = { projects: 12, leaseMs: 30_000, calmMs: 700, service: 'urtuu serve' as const };
    const size = isFull ? real : { ...short, service: 'nothing' as const };
    const rearranged = {
      hasRole: true,
      troubles: [...(['schemaOfTheRole', 'searchPath', 'rename', 'grants', 'neighbour', 'restore'] as const)],
    };
    const broken = (service: Break, given: Partial<ClusterOptions>) => (seed: number) =>
      play({ seed, ...short, messages: isFull ? 400 : 200, troubles: [], service, ...given });
    return [
      ...counts.map(
        (instances): Row => ({
          name: `${instances} instances killed, backends terminated, PostgreSQL restarted at once`,
          play: (seed: number) =>
            play(
              {
                ...{ seed, ...size, instances, messages: sizes.messages },
                troubles: ['kill', 'terminate', 'crash'],
              },
              sizes.customers,
            ),
          controls: [
            { name: 'an instance that trusts its own clock', play: broken('trusts_its_own_clock', {}) },
            {
              name: 'an instance that forgets keys',
              play: broken('forgets_keys', { troubles: ['terminate', 'kill'] }),
            },
          ],
        }),
      ),
      {
        name: 'instances paused for longer than their leases',
        provedBy:
          'service: a paused process, another that goes on; on both engines test/service/storage/conformance/races.ts',
        play: (seed) =>
          play({
            ...{ seed, ...size, service: 'nothing', leaseMs: short.leaseMs },
            ...{ instances: sizes.instances, messages: sizes.paused, troubles: ['pause'] },
          }),
        controls: [
          {
            name: 'an instance that ignores the fence',
            play: broken('forgets_submissions', { troubles: ['pause', 'kill'] }),
          },
        ],
      },
      {
        name: 'the database is rearranged: schemas, roles, search_path, grants, restores',
        provedBy:
          'test/service/storage/postgres-schemas.test.ts, test/service/storage/postgres-roles.test.ts',
        play: (seed) =>
          play({
            ...{ seed, ...size, ...rearranged, instances: sizes.instances, messages: sizes.rearranged },
          }),
        controls: [
          {
            name: 'instances that are where their search_path leads',
            play: broken('follows_its_search_path', { ...rearranged, troubles: ['schemaOfTheRole'] }),
          },
        ],
      },
      {
        name: 'connections cut before and after statements, commits included',
        provedBy: 'test/service/storage/postgres-faults.test.ts: connections that are cut again and again',
        play: (seed) =>
          play({
            ...{ seed, ...size, instances: 2, messages: Math.ceil(sizes.messages / 4) },
            ...{ troubles: [], cutEvery: 50 },
          }),
        controls: [
          {
            name: 'customers who repeat with a new key',
            play: broken('nothing', { cutEvery: 20, forgetKeys: true }),
          },
        ],
      },
      {
        name: 'the connection cut at every statement',
        provedBy: 'test/service/storage/postgres-faults.test.ts: a commit whose answer is lost',
        play: (seed) => cutStatements({ seed, most: sizes.cuts }),
        controls: [
          {
            name: 'a service that takes a lost answer for a refusal',
            play: (seed) => cutStatements({ seed, most: 0, refusesLost: true }),
          },
        ],
      },
      {
        name: 'money of two instances, whatever happens',
        provedBy: 'money, whatever happens; and the conformance of each transaction on both engines',
        play: (seed) => money(seed, sizes.sequences, 'shipped'),
        controls: [
          {
            name: 'a store that refunds twice',
            play: (seed) => money(seed, 20, 'refunds_twice'),
          },
        ],
      },
    ];
  },
);
