import { expect, it } from 'vitest';
import type { Database } from '../../../src/service/storage/postgres/database/database.js';
import { StatementError } from '../../../src/service/storage/postgres/database/failure.js';
import { createLost } from '../../../src/service/storage/postgres/lost-commits.js';
import { createRecords } from '../../../src/service/storage/postgres/records.js';

it('a credit whose commit may be lost is given again, with the same id', async () => {
  const calls: unknown[][] = [];
  const database: Database = {
    now: () => 0,
    query: async () => [],
    transact: () => Promise.reject(new Error('one statement')),
    connectedMs: () => 0,
    async attempt<Row>(_: string, values: readonly unknown[]) {
      calls.push([...values]);
      if (calls.length === 1) throw new StatementError('unknown', new Error('Connection terminated'));
      return [{ balance: 1_005, is_known: true }] as Row[];
    },
  };
  const reported: unknown[] = [];
  const report = (error: unknown) => reported.push(error);
  const { credit } = createRecords(database, createLost(database, report), async () => null);
  expect(await credit('p', 5, { id: 'c1', note: 'refill' })).toBe(1_005);
  expect(calls).toEqual([
    [0, 'p', 5, 'c1', 'refill'],
    [0, 'p', 5, 'c1', 'refill'],
  ]);
  expect(reported).toHaveLength(1);
});
