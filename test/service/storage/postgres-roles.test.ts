import { Client } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { openTarget } from '../../../src/service/data/move/target.js';
import { migrate } from '../../../src/service/storage/postgres/database/migrate.js';
import { migrations } from '../../../src/service/storage/postgres/schema/migrations.js';
import { newRole } from '../../support/postgres/role.js';
import { make, open, opened } from '../../support/postgres/services.js';
import { backupOfDatabase, newDatabase, query } from '../../support/postgres.js';

/** Everything of the service belongs to the role, as after `pg_restore --no-owner --role`. */
const giveAll = (role: string) => `DO $$ DECLARE each text; BEGIN
  FOR each IN SELECT format('ALTER TABLE %s', oid::regclass) FROM pg_class
      WHERE relnamespace = 'urtuu'::regnamespace AND relkind = 'r'
    UNION ALL SELECT format('ALTER FUNCTION %s', oid::regprocedure) FROM pg_proc WHERE pronamespace = 'urtuu'::regnamespace
    UNION ALL SELECT format('ALTER TYPE %s', t.oid::regtype) FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
      WHERE t.typnamespace = 'urtuu'::regnamespace AND c.relkind = 'c'
  LOOP EXECUTE each || ' OWNER TO ${role}'; END LOOP;
END $$`;

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

  const owning: [of: string, prepare: (bob: string, ours: string) => string][] = [
    ['with every right', (_, ours) => `GRANT ALL ON SCHEMA urtuu TO ${ours}`],
    [
      'that took its own rights from itself',
      (bob, ours) => `GRANT ALL ON SCHEMA urtuu TO ${ours}; REVOKE ALL ON SCHEMA urtuu FROM ${bob}`,
    ],
    ['that gives none away', () => ''],
    ['in which everybody may create', () => 'GRANT ALL ON SCHEMA urtuu TO PUBLIC'],
  ];
  it.each(owning)('that owns the schema of a new service, %s: it is refused', async (_, prepare) => {
    const url = await newDatabase();
    const bob = await newRole(url);
    const ours = await newRole(url);
    await query(url, `CREATE SCHEMA urtuu AUTHORIZATION ${bob.role}`);
    await query(bob.as, prepare(bob.role, ours.role));
    const found = await opened(ours.as);
    expect(found).toMatch(new RegExp(`ALTER SCHEMA urtuu OWNER TO ${ours.role}; .*URTUU_DATABASE_SCHEMA$`));
    expect(found).not.toMatch(/GRANT|REVOKE/);
    await expect(openTarget({ url: ours.as })).rejects.toThrow(/^the schema urtuu belongs to the role/);
    await query(url, `ALTER SCHEMA urtuu OWNER TO ${ours.role}; REVOKE ALL ON SCHEMA urtuu FROM PUBLIC`);
    expect(await opened(ours.as)).toBe('urtuu empty');
  });

  it('that owns the schema of a service is named at each start, with the statement for it', async () => {
    const url = await newDatabase();
    await make(url, 'urtuu');
    const { role, as } = await newRole(url);
    await query(url, `ALTER SCHEMA urtuu OWNER TO ${role}`);
    await query(as, `REVOKE ALL ON SCHEMA urtuu FROM ${role}`);
    const { reported } = await open(url);
    expect(String(reported[0])).toContain('ALTER SCHEMA urtuu OWNER TO postgres');
    expect(String(reported[0])).not.toMatch(/GRANT|REVOKE/);
  });

  it('of which only the service is a member may own its schema and its tables', async () => {
    const url = await newDatabase();
    const group = await newRole(url);
    const ours = await newRole(url);
    await query(url, `GRANT ${group.role} TO ${ours.role}; CREATE SCHEMA urtuu AUTHORIZATION ${group.role}`);
    expect(await opened(ours.as)).toBe('urtuu empty');
    await query(url, giveAll(group.role));
    const { reported } = await open(ours.as);
    expect(reported).toEqual([]);
  });

  const trapped = "LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END'";
  const made: [what: string, sql: string, expected: string | RegExp][] = [
    ['a table of its own', 'CREATE TABLE public.orders (id int PRIMARY KEY, note text)', 'public filled'],
    [
      'a function of the name of one of the service',
      `CREATE FUNCTION public.accept_1(text, text) RETURNS int ${trapped}`,
      /take over the service: role_.* \| .* DROP ROUTINE public\.accept_1\(text,text\);$/,
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
      /take over the service: pg_monitor \| .* DROP ROUTINE public\.quote_ident\(name\);$/,
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

  it('that may create in an old service is named, and the REVOKE that keeps it out is printed', async () => {
    const url = await newDatabase();
    await make(url, 'public');
    await everybody(url);
    const { reported } = await open(url);
    expect(String(reported[0])).toContain('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });

  it.each([
    ['creates a service', false, 'pg_advisory_lock(7788001)'],
    ['shares its lock', true, 'pg_advisory_lock(7788001)'],
    ['migrates', true, "pg_advisory_lock(7788002, 'urtuu'::regnamespace::oid::int)"],
  ])('that holds the lock under which a start %s is named, until it lets go', async (_, isMade, lock) => {
    const url = await newDatabase();
    if (isMade) await make(url, 'urtuu');
    const { role, as } = await newRole(url);
    const client = new Client({ connectionString: as, application_name: 'psql' });
    await client.connect();
    const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, ${lock}`);
    const warnings: Error[] = [];
    const start = migrate({ url }, [migrations], { warn: (warning) => warnings.push(warning) });
    await vi.waitUntil(() => warnings.length > 0, { timeout: 10_000 });
    await client.end();
    await start;
    expect(warnings.map(String)).toEqual([
      `Waiting: waiting for a lock of the database, held by PostgreSQL process ${rows[0].pid} of the role ${role} (psql)`,
    ]);
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

  const groups: [group: string, schema: string | undefined][] = [
    ['pg_monitor', undefined],
    ['pg_monitor', 'aaa'],
    ['GROUP', undefined],
    ['GROUP', 'aaa'],
  ];
  it.each(groups)(
    'that gave a service to %s, of which both are members: schema %s',
    async (given, schema) => {
      const url = await newDatabase();
      const { role, as } = await newRole(url);
      const ours = await newRole(url);
      const group = given === 'GROUP' ? (await newRole(url)).role : given;
      await query(url, `GRANT ${group} TO ${role}, ${ours.role}`);
      await query(url, `CREATE SCHEMA aaa AUTHORIZATION ${role}`);
      await query(
        as,
        `GRANT ALL ON SCHEMA aaa TO ${group}, ${ours.role};
       CREATE TABLE aaa.urtuu_schema (version int); GRANT ALL ON aaa.urtuu_schema TO ${ours.role};
       ALTER TABLE aaa.urtuu_schema OWNER TO ${group}`,
      );
      const found = await opened(ours.as, schema);
      expect(found).toMatch(
        new RegExp(`^the service in the schema aaa belongs to the role ${group} .*OWNER TO`),
      );
      expect(found).not.toContain('member');
    },
  );
});
