import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOutboxDatabase } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { type Clock, ManualClock } from '../../../src/service/clock.js';
import { systemRandom } from '../../../src/service/random.js';
import { createPolledChanges } from '../../../src/service/storage/shared/polled-changes.js';
import { createPseudonyms } from '../../../src/service/storage/shared/secret.js';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { openSqliteStorage } from '../../../src/service/storage/sqlite/sqlite-storage.js';
import { openStoreDatabase, sqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { fileFolder } from '../../support/folders.js';
import { admissionConformance } from './conformance/admission.js';
import { changesConformance } from './conformance/changes.js';
import type { Engine, Handle } from './conformance/engine.js';
import { rateLimiterConformance } from './conformance/rate-limiter.js';
import { routeConformance } from './conformance/routes.js';
import { storeConformance } from './conformance/store.js';

const folder = fileFolder();
let folders = 0;
const newFolder = () => join(folder, `${++folders}`);

async function openHandle(directory: string, clock: Clock): Promise<Handle> {
  const storage = await openSqliteStorage({
    directory,
    clock,
    random: systemRandom,
    report(error) {
      throw error;
    },
    openCarrier: openOutboxDatabase,
  });
  return {
    ...storage,
    async contents() {
      const database = await openDatabase(join(directory, 'service.db'), { synchronous: 'off', migrations });
      const rows = database.prepare('SELECT text, sealed AS encrypted FROM contents').all();
      database.close();
      return rows as Awaited<ReturnType<Handle['contents']>>;
    },
    async rows() {
      const database = await openDatabase(join(directory, 'service.db'), { synchronous: 'off', migrations });
      const all = <Row>(sql: string) => database.prepare(sql).all() as Row[];
      const tables = all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
      const counts = tables.map(({ name }) => [name, all(`SELECT 1 FROM ${name}`).length] as const);
      database.close();
      return Object.fromEntries(counts);
    },
    async close() {
      await storage.close();
      storage.carrier.close();
    },
  };
}

const sqlite: Engine = {
  name: 'SQLite',
  ownsTime: false,
  handles: [1, 2],
  async open(clocks) {
    const directory = newFolder();
    const handles: Handle[] = [];
    for (const clock of clocks) handles.push(await openHandle(directory, clock));
    return handles;
  },
};

storeConformance(sqlite);
rateLimiterConformance(sqlite);
routeConformance(sqlite);
admissionConformance(sqlite);
changesConformance(sqlite);

describe('SQLite files', () => {
  it('of a newer version are refused', async () => {
    const path = join(folder, `${++folders}.db`);
    const database = await openDatabase(path, { synchronous: 'off', migrations: [] });
    database.exec('PRAGMA user_version = 99');
    database.close();
    await expect(openStoreDatabase(path)).rejects.toThrow(/newer version of urtuu/);
  });

  it('are durable: synchronous is FULL and the journal a WAL', async () => {
    const database = await openDatabase(join(folder, `${++folders}.db`), { synchronous: 'full', migrations });
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });
});

it.each([
  ['full', 'max_page_count = 1', 'max_page_count = 4294967294'],
  ['read-only', 'query_only = on', 'query_only = off'],
])('a store on a disk that is %s is not ready: the check writes as much as a send', async (_, begin, end) => {
  const database = await openStoreDatabase(':memory:');
  const clock = new ManualClock();
  const store = sqliteStore(
    database,
    clock,
    createPolledChanges(clock),
    createPseudonyms(new Uint8Array(32)),
  );
  database.exec(`PRAGMA ${begin}`);
  await expect(store.check()).rejects.toThrow();
  database.exec(`PRAGMA ${end}`);
  await store.check();
  expect(await store.instances.list()).toEqual([]);
  await store.close();
  database.close();
});
