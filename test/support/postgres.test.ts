import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { countUnderWay, nothingUnderWay } from './postgres/under-way.js';
import { connectionTo, newDatabase, query } from './postgres.js';

it('the tests have a PostgreSQL 14 or newer, with a database for each file', async () => {
  const one = await newDatabase();
  const two = await newDatabase();
  expect(one).not.toBe(two);
  const [{ version }] = (await query(
    one,
    "SELECT current_setting('server_version_num')::int AS version",
  )) as [{ version: number }];
  expect(version).toBeGreaterThanOrEqual(140_000);
});

it('time may be let pass after a connection was ended while it was made', async () => {
  const url = await newDatabase();
  onTestFinished(countUnderWay(url));
  const client = new Client(connectionTo(url));
  client.on('error', () => {});
  void client.connect().catch(() => {});
  void client.end();
  await nothingUnderWay();
});
