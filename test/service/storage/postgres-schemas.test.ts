import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { outboxMigrations } from '../../../src/service/carriers/simulated/postgres-outbox.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { DataError } from '../../../src/service/errors/data-error.js';
import type { Migrations } from '../../../src/service/storage/postgres/database/migrate.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { newRole } from '../../support/postgres/role.js';
import { backupOfDatabase, connectionTo, newDatabase, query } from '../../support/postgres.js';
import { testSecret } from '../../support/test-engine.js';
import { message, project, start } from './conformance/fixture.js';

async function open(
  url: string,
  schema?: string,
  more: { isExisting?: boolean; migrations?: Migrations[] } = {},
) {
  const clock = new ManualClock(start);
  const reported: unknown[] = [];
  const storage = await openPostgresStorage({
    url,
    schema,
    secret: testSecret,
    migrations: [outboxMigrations],
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
  // Without the outbox, as by a release that had none.
  const { store, close } = await open(url, schema, { migrations: [] });
  await store.createProject({ ...project, balance: 100 });
  await close();
}

/** The schema in which the service opens, with how much it has; or why it does not. */
async function opened(url: string, schema?: string, isExisting = false): Promise<string> {
  try {
    const { store, database, close } = await open(url, schema, { isExisting });
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
])('a dump whose %s are not loaded yet: nothing is written to it', async (_, sql, expected) => {
  const url = await newDatabase();
  await make(url, 'urtuu');
  await query(url, sql);
  for (const isExisting of [false, true]) expect(await opened(url, undefined, isExisting)).toMatch(expected);
  expect(await query(url, 'SELECT FROM installation')).toHaveLength(1);
  expect(await query(url, 'SELECT FROM hold')).toHaveLength(1);
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

  const trapped = "LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END'";
  const made: [what: string, sql: string, expected: string | RegExp][] = [
    ['a table of its own', 'CREATE TABLE public.orders (id int PRIMARY KEY, note text)', 'public filled'],
    [
      'a function of the name of one of the service',
      `CREATE FUNCTION public.accept_1(text, text) RETURNS int ${trapped}`,
      /made there: role_.* \| .* DROP ROUTINE public\.accept_1\(text,text\);$/,
    ],
    [
      'functions that fit better',
      `CREATE FUNCTION public.pg_advisory_xact_lock_shared(text) RETURNS void ${trapped};
       CREATE FUNCTION public.quote_ident(name) RETURNS text ${trapped}`,
      /DROP ROUTINE public\.pg_advisory_xact_lock_shared\(text\); DROP ROUTINE public\.quote_ident\(name\);$/,
    ],
    [
      'an operator that fits better',
      `CREATE FUNCTION public.spring(float8, int) RETURNS float8 ${trapped};
       CREATE OPERATOR public.* (LEFTARG = float8, RIGHTARG = int, FUNCTION = public.spring)`,
      /DROP OPERATOR public\.\*\(double precision,integer\);/,
    ],
    [
      'a function that it gave to a role of PostgreSQL',
      `CREATE FUNCTION public.quote_ident(name) RETURNS text ${trapped}; ALTER FUNCTION public.quote_ident(name) OWNER TO pg_monitor`,
      /made there: pg_monitor \| .* DROP ROUTINE public\.quote_ident\(name\);$/,
    ],
    [
      'a type that is written like a function',
      'CREATE DOMAIN public.quote_ident AS name CHECK (length(VALUE) > 0)',
      /DROP TYPE public\.quote_ident;/,
    ],
    [
      'a view with the name of a table that the service will make',
      'CREATE VIEW public.operator_schema AS SELECT 1 AS version',
      /DROP VIEW public\.operator_schema;/,
    ],
    [
      'many functions',
      Array.from(
        { length: 12 },
        (_, index) => `CREATE FUNCTION public.f${index}() RETURNS int ${trapped}`,
      ).join(';'),
      /(DROP ROUTINE public\.f\d+\(\); ){10}and 2 more$/,
    ],
  ];
  it.each(made)('with %s in an old service in public cannot take it over', async (_, sql, expected) => {
    const url = await newDatabase();
    await make(url, 'public');
    await everybody(url);
    const { role, as } = await newRole(url);
    await query(url, `GRANT pg_monitor TO ${role}`);
    await query(as, sql);
    await query(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    for (const isExisting of [false, true])
      expect(await opened(url, undefined, isExisting)).toMatch(expected);
  });

  it('in an old service learns nothing yet, and the REVOKE that keeps it out is printed', async () => {
    const url = await newDatabase();
    await make(url, 'public');
    await everybody(url);
    const { reported } = await open(url);
    expect(String(reported[0])).toContain('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });

  const planted: [what: string, schemas: string[], schema: string | undefined, expected: string | RegExp][] =
    [
      ['and no other', [], undefined, /^the service in the schema aaa belongs to the role role_.*SCHEMA$/],
      ['and no other, and the new one is named', [], 'urtuu', 'urtuu empty'],
      ['which is named', ['urtuu'], 'aaa', /^the service in the schema aaa belongs to the role role_/],
      ['beside one', ['urtuu'], undefined, 'urtuu filled'],
      ['beside two', ['a', 'urtuu'], undefined, /in the schemas a, urtuu \| .*SCHEMA$/],
      ['in other case', ['urtuu'], 'AAA', 'AAA" empty'],
    ];
  it.each(planted)(
    'with a service %s: it is not taken for this one',
    async (_, schemas, schema, expected) => {
      const url = await newDatabase();
      for (const one of schemas) await make(url, one);
      const { role, as } = await newRole(url);
      await query(url, `CREATE SCHEMA aaa AUTHORIZATION ${role}; CREATE SCHEMA aab AUTHORIZATION ${role}`);
      await query(
        as,
        `CREATE TABLE aaa.urtuu_schema (version int); GRANT ALL ON SCHEMA aaa TO PUBLIC; GRANT ALL ON aaa.urtuu_schema TO PUBLIC;
       CREATE FUNCTION aab.hold_reason_1() RETURNS text ${trapped}`,
      );
      expect(await opened(url, schema)).toMatch(expected);
    },
  );

  const groups: [group: string, schema: string | undefined, expected: RegExp][] = [
    ['pg_monitor', undefined, /^the service in the schema aaa belongs to the role pg_monitor/],
    ['GROUP', undefined, /^the service in the schema aaa belongs to the role role_/],
    ['GROUP', 'aaa', /^aaa empty$/],
  ];
  it.each(groups)('that gave a service to %s: schema %s', async (given, schema, expected) => {
    const url = await newDatabase();
    const { role, as } = await newRole(url);
    const ours = await newRole(url);
    const group = given === 'GROUP' ? (await newRole(url)).role : given;
    await query(url, `GRANT ${group} TO ${role}`);
    if (given === 'GROUP') await query(url, `GRANT ${group} TO ${ours.role}`);
    await query(url, `CREATE SCHEMA aaa AUTHORIZATION ${role}`);
    await query(
      as,
      `GRANT ALL ON SCHEMA aaa TO ${group}, ${ours.role};
       CREATE TABLE aaa.urtuu_schema (version int); GRANT ALL ON aaa.urtuu_schema TO ${ours.role};
       ALTER TABLE aaa.urtuu_schema OWNER TO ${group}`,
    );
    expect(await opened(ours.as, schema)).toMatch(expected);
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
