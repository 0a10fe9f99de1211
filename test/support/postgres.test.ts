import { expect, it } from 'vitest';
import { newDatabase, query } from './postgres.js';

it('the tests have a PostgreSQL 14 or newer, with a database for each file', async () => {
  const [one, two] = [await newDatabase(), await newDatabase()];
  expect(one).not.toBe(two);
  const [{ version }] = (await query(
    one,
    "SELECT current_setting('server_version_num')::int AS version",
  )) as [{ version: number }];
  expect(version).toBeGreaterThanOrEqual(140_000);
});
