import { expect, it } from 'vitest';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { withLateStatements } from '../../../src/service/storage/sqlite/database/late-statements.js';

it('prepares a statement when it is first run, once, with rows as it was asked for', async () => {
  const engine = await loadEngine();
  const real = new engine.DatabaseSync(':memory:');
  const prepared: string[] = [];
  const database = withLateStatements({
    isTransaction: false,
    exec: (sql) => real.exec(sql),
    close: () => real.close(),
    prepare(sql) {
      prepared.push(sql);
      return real.prepare(sql);
    },
  });
  database.exec('CREATE TABLE t (a, b)');
  const insert = database.prepare('INSERT INTO t VALUES (?, ?)');
  const arrays = database.prepare('SELECT a, b FROM t');
  arrays.setReturnArrays(true);
  expect(prepared).toEqual([]);
  insert.run(1, 2);
  expect(insert.run(3, 4).changes).toBe(1);
  expect(prepared).toEqual(['INSERT INTO t VALUES (?, ?)']);
  expect(arrays.all()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  arrays.setReturnArrays(false);
  expect({ ...(arrays.get() as object) }).toEqual({ a: 1, b: 2 });
  expect(prepared).toHaveLength(2);
  expect(() => database.prepare('SELECT missing FROM t').get()).toThrow(/no such column/);
  database.close();
});
