import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { systemRandom } from '../../../src/service/random.js';
import type { Store } from '../../../src/service/storage/store.js';
import { newDatabase } from '../../support/postgres.js';
import { seededRandom } from '../../support/random.js';
import { isTestAll } from '../../support/test-all.js';
import { start } from './conformance/fixture.js';
import { everything } from './differential/everything.js';
import type { Calls } from './differential/given.js';
import { instanceCalls, keepingCalls } from './differential/keeping-calls.js';
import { recordCalls } from './differential/record-calls.js';
import { sendCalls } from './differential/send-calls.js';
import { comparable, projects, type Side, World } from './differential/world.js';

/** At length: URTUU_CALLS=1000000. A failure prints its seed. */
const count = Number(process.env.URTUU_CALLS ?? (isTestAll ? 10_000 : 800));
const seed = Number(process.env.URTUU_SEED ?? Date.now() % 1_000_000);
/** Another source tree, whose engines are played against those of this one. */
const other = process.env.URTUU_OTHER_TREE;
/** Calls after which everything is read. */
const readsEvery = 100;

/** How much more often than once in a hundred. */
const weights: Partial<Record<string, number>> = {
  acceptMessage: 12,
  acceptBatch: 6,
  acceptVerification: 4,
  claimMessages: 12,
  claimDoubts: 4,
  markSubmitting: 14,
  markRepeating: 3,
  finalizeMessages: 6,
  postponeMessages: 6,
  leaveInDoubt: 4,
  endLeases: 5,
  recordReceipts: 6,
  credit: 4,
  checkVerification: 4,
  keepIncoming: 3,
  removeSuppression: 3,
  release: 3,
  hold: 0.2,
  beginReset: 0.3,
  reset: 0.1,
  pruneMessages: 0.5,
};

const calls: Calls<Store> = { ...sendCalls, ...recordCalls, ...keepingCalls };
const named = Object.entries({ ...calls, ...instanceCalls });
const deck = named.flatMap(([name, make]) =>
  Array.from({ length: Math.round((weights[name] ?? 1) * 10) }, () => ({ name, make })),
);

const report = (error: unknown) => {
  throw error;
};
const secret = new Uint8Array(32).fill(7);

async function engines(tree: string, clock: ManualClock) {
  const load = (path: string) => import(/* @vite-ignore */ join(tree, 'src/service', path));
  const { openSqliteStorage } = await load('storage/sqlite/sqlite-storage.ts');
  const { openOutboxDatabase } = await load('carriers/simulated/sqlite-outbox.ts');
  const { openPostgresStorage } = await load('storage/postgres/postgres-storage.ts');
  return {
    async sqlite(): Promise<Side> {
      const given = { directory: undefined, clock, random: systemRandom, report };
      const storage = await openSqliteStorage({ ...given, openCarrier: openOutboxDatabase });
      onTestFinished(() => storage.close());
      return { ...storage, claimed: new Map() };
    },
    async postgres(): Promise<Side> {
      const given = { url: await newDatabase(), secret, clock, now: () => clock.now(), report };
      const storage = await openPostgresStorage(given);
      onTestFinished(() => storage.close());
      return { ...storage, claimed: new Map() };
    },
  };
}

const here = join(import.meta.dirname, '../../..');
const pairs: [name: string, left: [string, 'sqlite' | 'postgres'], right: [string, 'sqlite' | 'postgres']][] =
  other === undefined
    ? [['SQLite and PostgreSQL', [here, 'sqlite'], [here, 'postgres']]]
    : [
        ['SQLite of another tree and of this one', [other, 'sqlite'], [here, 'sqlite']],
        ['PostgreSQL of another tree and of this one', [other, 'postgres'], [here, 'postgres']],
      ];

it.each(pairs)(
  'random calls are answered alike by %s',
  async (_name, left, right) => {
    const clock = new ManualClock(start);
    const [one, two] = [
      await (await engines(left[0], clock))[left[1]](),
      await (await engines(right[0], clock))[right[1]](),
    ];
    const world = new World(seededRandom(seed));
    for (const id of projects)
      for (const { store } of [one, two]) await store.createProject({ id, name: id, balance: 5_000 });
    const played: string[] = [];
    const about = () => `URTUU_SEED=${seed}, call ${played.length}: ${played.slice(-8).join(', ')}`;
    while (played.length < count) {
      const { name, make } = world.of(deck);
      const play = make(world);
      played.push(name);
      const [first, second] = [comparable(await play(one)), comparable(await play(two))];
      expect(second, about()).toEqual(first);
      if (world.chance(0.3)) clock.advance(world.milliseconds());
      if (played.length % readsEvery === 0)
        expect(await everything(world, two), `read after ${about()}`).toEqual(await everything(world, one));
    }
  },
  60_000 + count * 20,
);
