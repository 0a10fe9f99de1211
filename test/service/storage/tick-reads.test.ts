import { expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/service/storage/sqlite/database/database.js';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';
import { tickReads } from '../../../src/service/storage/sqlite/database/tick-reads.js';

async function openReads(check = () => {}) {
  const database = await openDatabase(':memory:', {
    synchronous: 'off',
    migrations: ['CREATE TABLE names (name TEXT)'],
  });
  onTestFinished(() => database.close());
  const seen: boolean[] = [];
  const select = database.prepare('SELECT count(*) AS count FROM names');
  const read = tickReads(database, check);
  const count = (before = () => {}) =>
    read(() => {
      before();
      seen.push(database.isTransaction);
      return (select.get() as { count: number }).count;
    });
  return { database, seen, count };
}

const insert = (database: Database) => database.exec(`INSERT INTO names VALUES ('a')`);
const busy = () => Object.assign(new Error('database is locked'), { errcode: 5 });

it('reads of a tick share one transaction at its end, and see what was written before it', async () => {
  const { database, seen, count } = await openReads();
  const both = [count(), count()];
  insert(database);
  expect(await Promise.all(both)).toEqual([1, 1]);
  expect(seen).toEqual([true, true]);
  expect(database.isTransaction).toBe(false);
  insert(database);
  expect([await count(), seen.at(-1)]).toEqual([2, false]);
});

it('one read that fails does not fail the others of its tick', async () => {
  const { database, count } = await openReads();
  const bad = count(() => {
    throw new Error('no such value');
  });
  const [failed, read] = await Promise.allSettled([bad, count()]);
  expect([failed.status, read]).toEqual(['rejected', { status: 'fulfilled', value: 0 }]);
  expect(database.isTransaction).toBe(false);
});

it('all reads of a tick are done again while another process has a lock', async () => {
  const { seen, count } = await openReads();
  let tries = 0;
  const free = count();
  const locked = count(() => {
    tries += 1;
    if (tries < 3) throw busy();
  });
  expect(await Promise.all([free, locked])).toEqual([0, 0]);
  expect([tries, seen]).toEqual([3, Array(4).fill(true)]);
});

it('nothing is read once the data is lost', async () => {
  const { seen, count } = await openReads(() => {
    throw new Error('gone');
  });
  await expect(Promise.all([count(), count()])).rejects.toThrow('gone');
  expect(seen).toEqual([]);
});
