import { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { make, open, opened } from '../../support/postgres/services.js';
import { connectionTo, newDatabase, query } from '../../support/postgres.js';
import { message, project } from './conformance/fixture.js';

const ownSchema = 'CREATE SCHEMA urtuu';
const rearranged: [
  what: string,
  schemas: string[],
  sql: string,
  schema: string | undefined,
  expected: string | RegExp,
][] = [
  ['nothing', [], '', undefined, 'urtuu empty'],
  ['an empty schema of its name', [], ownSchema, undefined, 'urtuu empty'],
  ['tables of another program', [], 'CREATE TABLE public.projects (id int)', undefined, 'urtuu empty'],
  ['a service in public', ['public'], '', undefined, 'public filled'],
  ['a new schema urtuu beside a service in public', ['public'], ownSchema, undefined, 'public filled'],
  ['a renamed schema', ['urtuu'], 'ALTER SCHEMA urtuu RENAME TO "Шинэ $&"', undefined, '"Шинэ $&" filled'],
  [
    'a search_path of the database',
    ['public'],
    'CREATE SCHEMA a; ALTER DATABASE current SET search_path = a',
    undefined,
    'public filled',
  ],
  [
    'two services',
    ['a', 'public'],
    '',
    undefined,
    /several services, in the schemas a, public \| .*URTUU_DATABASE_SCHEMA$/,
  ],
  ['two services, one named', ['a', 'public'], '', 'public', 'public filled'],
  ['a service beside the named, new one', ['public'], '', 'b', 'b empty'],
  ['a name in other case', ['urtuu'], '', 'Urtuu', /in the schema urtuu \| .*URTUU_DATABASE_SCHEMA=urtuu$/],
  [
    'a dump whose tables are not loaded yet',
    ['urtuu'],
    'DROP TABLE urtuu.urtuu_schema',
    undefined,
    /has no table urtuu_schema \| Wait/,
  ],
  [
    'a schema in which everybody may create',
    [],
    `${ownSchema}; GRANT CREATE ON SCHEMA urtuu TO PUBLIC`,
    undefined,
    /others may create in the schema urtuu, .* \| .*REVOKE CREATE ON SCHEMA urtuu FROM PUBLIC/,
  ],
];

it.each(rearranged)('a database with %s: opens the right schema, or says why not', async (...given) => {
  const [, schemas, sql, schema, expected] = given;
  const url = await newDatabase();
  for (const one of schemas) await make(url, one);
  if (sql !== '') await query(url, sql.replace('current', new URL(url).pathname.slice(1)));
  const found = await opened(url, schema);
  if (typeof expected === 'string') expect(found).toBe(expected);
  else expect(found).toMatch(expected);
});

/** As `pg_restore` leaves it between its sections: the rows are there, and no keys yet. */
const withoutKeys = (which = "contype IN ('f', 'p', 'u')") => `DO $$ DECLARE each record; BEGIN
  FOR each IN SELECT conrelid::regclass AS place, conname AS name FROM pg_constraint
      WHERE connamespace = 'urtuu'::regnamespace AND ${which} ORDER BY contype
  LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', each.place, each.name); END LOOP;
END $$;`;

it.each([
  ['keys', withoutKeys(), /schema urtuu has no key of the table .* \| Wait until its dump is loaded/],
  ['rows and keys', `${withoutKeys()} DELETE FROM urtuu_schema`, /has no key of the table .* \| Wait/],
  [
    'the key of one table',
    withoutKeys("conname = 'messages_id_key'"),
    /has no key of the table messages \| Wait/,
  ],
  ['rows', 'TRUNCATE urtuu_schema, installation, hold', /has no row in the table urtuu_schema \| Wait/],
  ['versions', 'DELETE FROM urtuu_schema', /has no row in the table urtuu_schema \| Wait/],
  ["operator's versions", 'DELETE FROM operator_schema', /has no row in the table operator_schema \| Wait/],
])('a dump whose %s are not loaded yet: nothing is written to it', async (_, sql, expected) => {
  const url = await newDatabase();
  await make(url, 'urtuu');
  expect(await opened(url)).toBe('urtuu filled');
  await query(url, sql);
  const rows = () => query(url, 'SELECT FROM installation UNION ALL SELECT FROM hold');
  const loaded = await rows();
  for (const isExisting of [false, true]) expect(await opened(url, undefined, isExisting)).toMatch(expected);
  expect(await rows()).toEqual(loaded);
});

it('a service whose hold is missing, as while its dump is loaded, is held', async () => {
  const url = await newDatabase();
  await make(url, 'urtuu');
  await query(url, 'DELETE FROM hold');
  expect(await opened(url)).toBe('urtuu filled held');
});

it('a service that was loaded without its installation, its hold and its messages is held', async () => {
  const url = await newDatabase();
  await make(url, 'urtuu');
  await query(url, 'TRUNCATE installation, hold, messages');
  expect(await query(url, 'SELECT FROM ledger')).not.toEqual([]);
  expect(await opened(url)).toBe('urtuu filled held');
});

it('two services in one database share nothing: neither rows, nor news, nor the lock of a migration', async () => {
  const url = await newDatabase();
  const one = await open(url, 'one');
  await make(url, 'two');
  await one.store.createProject({ ...project, balance: 1_000 });
  await one.store.acceptMessage(message({ idempotencyKey: 'k' }));
  const client = new Client(connectionTo(url));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query("SELECT pg_advisory_xact_lock(7788002, 'one'::regnamespace::oid::int)");
  const two = await open(url, 'two');
  expect(await two.store.findAnswer(project.id, 'k')).toBeUndefined();
  expect(await one.store.findAnswer(project.id, 'k')).toBeNull();
  await two.store.beginReset('two', 1_000);
  await two.store.reset(5, 1_000);
  expect(await one.store.getProject(project.id)).toMatchObject({ balance: 990 });
  expect(await two.store.getProject(project.id)).toMatchObject({ balance: 5 });
  const channels = () =>
    query<{ count: number }>(
      url,
      "SELECT count(DISTINCT query)::int AS count FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()",
    );
  await vi.waitFor(async () => expect(await channels()).toEqual([{ count: 2 }]), { timeout: 5_000 });
});
