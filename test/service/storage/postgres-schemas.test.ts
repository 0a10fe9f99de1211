import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { DataError } from '../../../src/service/errors/data-error.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { newRole } from '../../support/postgres/role.js';
import { backupOfDatabase, connectionTo, newDatabase, query } from '../../support/postgres.js';
import { testSecret } from '../../support/test-engine.js';
import { message, project, start } from './conformance/fixture.js';

async function open(url: string, schema?: string, more: { isExisting?: boolean } = {}) {
  const clock = new ManualClock(start);
  const reported: unknown[] = [];
  const storage = await openPostgresStorage({
    url,
    schema,
    secret: testSecret,
    clock,
    now: () => clock.now(),
    report: (error) => reported.push(error),
    ...more,
  });
  onTestFinished(() => storage.close());
  return { ...storage, reported };
}

/** A service in the schema, with one project and 100 credits. */
async function make(url: string, schema: string): Promise<void> {
  // As everybody may before PostgreSQL 15.
  await query(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const { store, close } = await open(url, schema);
  await store.createProject({ ...project, balance: 100 });
  await close();
}

/** The schema in which the service opens, with how much it has; or why it does not. */
async function opened(url: string, schema?: string): Promise<string> {
  try {
    const { store, database, close } = await open(url, schema);
    const [row] = await database.query<{ name: string }>(
      "SELECT relnamespace::regnamespace::text AS name FROM pg_class WHERE oid = ':s.projects'::regclass",
    );
    const found = await store.getProject(project.id);
    const held = await store.held();
    await close();
    return [row?.name, found === null ? 'empty' : 'filled', ...(held === null ? [] : ['held'])].join(' ');
  } catch (error) {
    const { message, hint } = error as DataError;
    return `${message} | ${hint}`;
  }
}

/** Everything of the service belongs to the role, as after `pg_restore --no-owner --role`. */
const giveAll = (role: string) => `DO $$ DECLARE each text; BEGIN
  FOR each IN SELECT format('ALTER TABLE %s', oid::regclass) FROM pg_class
      WHERE relnamespace = 'urtuu'::regnamespace AND relkind = 'r'
    UNION ALL SELECT format('ALTER FUNCTION %s', oid::regprocedure) FROM pg_proc WHERE pronamespace = 'urtuu'::regnamespace
    UNION ALL SELECT format('ALTER TYPE %s', t.oid::regtype) FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
      WHERE t.typnamespace = 'urtuu'::regnamespace AND c.relkind = 'c'
  LOOP EXECUTE each || ' OWNER TO ${role}'; END LOOP;
END $$`;

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
    /several services, in the schemas a, public \| .*URTUU_DATABASE_SCHEMA=a$/,
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

it('a service whose hold is missing, as while its dump is loaded, is held', async () => {
  const url = await newDatabase();
  await make(url, 'urtuu');
  await query(url, 'DELETE FROM hold');
  expect(await opened(url)).toBe('urtuu filled held');
});

describe('another role of the database', () => {
  const everybody = (url: string) => query(url, 'GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC');

  it('that a dump was restored for meets the same service, held', async () => {
    const made = await newDatabase();
    await make(made, 'urtuu');
    const url = await backupOfDatabase(made);
    const { role, as } = await newRole(url);
    await query(url, `ALTER SCHEMA urtuu OWNER TO ${role}; ${giveAll(role)}`);
    expect(await opened(as)).toBe('urtuu filled held');
  });

  it('without rights to the service makes none beside it', async () => {
    const url = await newDatabase();
    await make(url, 'urtuu');
    const { role, as } = await newRole(url);
    await query(url, `GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${role}`);
    expect(await opened(as)).toMatch(/schema urtuu, which this role may not use/);
    await query(url, `GRANT USAGE ON SCHEMA urtuu TO ${role}`);
    expect(await opened(as)).toMatch(/schema urtuu, which this role may not use/);
    expect(await opened(as, 'own')).toBe('own empty');
  });

  it('that may create no schema learns the statement for the owner', async () => {
    const url = await newDatabase();
    const { role, as } = await newRole(url);
    expect(await opened(as)).toMatch(new RegExp(`CREATE SCHEMA urtuu AUTHORIZATION ${role}$`));
    await query(url, `CREATE SCHEMA urtuu AUTHORIZATION ${role}`);
    expect(await opened(as)).toBe('urtuu empty');
  });

  it('that owns the schema of a new service is refused, as it could take over', async () => {
    const url = await newDatabase();
    const { role } = await newRole(url);
    await query(url, `CREATE SCHEMA urtuu AUTHORIZATION ${role}`);
    expect(await opened(url)).toMatch(new RegExp(`REVOKE CREATE ON SCHEMA urtuu FROM ${role}`));
  });

  it('with a function in an old service is named, and the REVOKE that keeps it out is printed', async () => {
    const url = await newDatabase();
    await make(url, 'public');
    await everybody(url);
    const { close, reported } = await open(url);
    expect(String(reported[0])).toContain('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await close();
    const { as } = await newRole(url);
    await query(as, "CREATE FUNCTION public.accept_1(text, text) RETURNS int LANGUAGE sql AS 'SELECT 1'");
    expect(await opened(url)).toMatch(
      /function .*accept_1\(text,text\) .* belongs to the role role_.* \| .*DROP FUNCTION/,
    );
  });
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
