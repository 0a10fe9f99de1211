import { expect, it } from 'vitest';
import type { Database } from '../../../src/service/storage/postgres/database/database.js';
import { StatementError } from '../../../src/service/storage/postgres/database/failure.js';
import { postgresSql } from '../../../src/service/storage/postgres/database/sql.js';
import { createLost } from '../../../src/service/storage/postgres/lost-commits.js';
import { createProjects } from '../../../src/service/storage/sql/projects.js';

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
  const { credit } = createProjects(postgresSql(database, createLost(database, report)));
  expect(await credit('p', 5, { id: 'c1', note: 'refill' })).toBe(1_005);
  expect(calls).toHaveLength(2);
  expect(calls[0]).toEqual(expect.arrayContaining(['p', 5, 'c1', 'refill']));
  expect(calls[1]).toEqual(calls[0]);
  expect(reported).toHaveLength(1);
});
