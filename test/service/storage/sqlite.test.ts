import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';
import { migrations } from '../../../src/service/storage/sqlite/schema.js';
import { openSqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { content, message } from './conformance/fixture.js';
import { storeConformance } from './conformance.js';

const folder = mkdtempSync(join(tmpdir(), 'urtuu-store-'));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeConformance('SQLite file', () => openSqliteStore(newFile()));
storeConformance('SQLite in memory', () => openSqliteStore(':memory:'));

describe('SQLite files', () => {
  it('can be used by two stores at once', async () => {
    const path = newFile();
    const stores = await Promise.all([openSqliteStore(path), openSqliteStore(path)]);
    const project = { id: 'p', name: 'P', balance: 0, createdAt: 0 };
    const created = await Promise.all(stores.map((store) => store.createProject(project)));
    expect(created.filter(Boolean)).toHaveLength(1);
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => (stores[index % 2] ?? stores[0]).credit('p', 1, index)),
    );
    expect((await stores[0].getProject('p'))?.balance).toBe(200);
    expect(await stores[1].listLedger('p')).toHaveLength(200);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('of a newer version are refused', async () => {
    const path = newFile();
    const database = await openDatabase(path, { synchronous: 'off', migrations: [] });
    database.exec('PRAGMA user_version = 99');
    database.close();
    await expect(openSqliteStore(path)).rejects.toThrow(/newer version of urtuu/);
  });

  it('are durable: synchronous is FULL and the journal a WAL', async () => {
    const database = await openDatabase(newFile(), { synchronous: 'full', migrations });
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  it('erase a sealed text from the row', async () => {
    const path = newFile();
    const store = await openSqliteStore(path);
    await store.createProject({ id: 'p', name: 'P', balance: 100, createdAt: 0 });
    const sealed = { ...content, text: null, sealed: Buffer.from('x') };
    await store.acceptMessage(message({ projectId: 'p', createdAt: 0 }, { content: sealed }));
    const claimed = await store.claimMessages({ lease: { token: 't', until: 9 }, now: 0, limit: 1 });
    await store.settleMessages(
      claimed.map((one) => ({ claimed: one, outcome: { status: 'sent' }, at: 1 })),
      () => ({ status: 200, body: '' }),
    );
    await store.close();
    const database = await openDatabase(path, { synchronous: 'off', migrations });
    expect(database.prepare('SELECT sealed FROM contents').all()).toEqual([{ sealed: null }]);
    database.close();
  });
});
