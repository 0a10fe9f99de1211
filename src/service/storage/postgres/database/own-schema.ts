import type { Client } from 'pg';
import { DataError, NoDataError } from '../../../errors/data-error.js';
import { isTrusted, ourselves, takeoverOf } from './trust.js';

/** A database, and the schema of the service in it; without one, the only one with a service, or a new one. */
export interface DatabasePlace {
  url: string;
  schema?: string | undefined;
}

/** The schema of a service. */
export interface OwnSchema {
  /** As it stands in statements: quoted where it must be. */
  name: string;
  /** Stays when it is renamed. */
  oid: number;
}

/** Functions and operators of others cannot take the place of PostgreSQL's. */
const catalog = { name: 'pg_catalog' };
/** Of a new service. */
export const usual = 'urtuu';
/** The table with the version, which every service has. */
export const versionTable = 'urtuu_schema';
/** A dump that is being loaded has its functions before its tables. */
const earlyFunction = 'hold_reason_1';

/**
 * Writes the schema before the names of a statement that runs alone: `:s.messages`. Nothing is set on the connection,
 * which a pooler may give to another client; and what the role or the database sets changes nothing.
 */
export const inSchema = (text: string, { name }: Pick<OwnSchema, 'name'>): string =>
  text.replaceAll(':s.', () => `${name}.`);

/** Begins a transaction that looks names up in the schema, or only in the catalog. The path ends with it. */
export async function beginIn(
  client: Pick<Client, 'query'>,
  { name }: Pick<OwnSchema, 'name'> = catalog,
): Promise<void> {
  await client.query('BEGIN');
  await lookIn(client, { name });
}

/** Until the transaction ends. */
export async function lookIn(
  client: Pick<Client, 'query'>,
  { name }: Pick<OwnSchema, 'name'> = catalog,
): Promise<void> {
  await client.query(`SET LOCAL search_path = ${name}, pg_temp`);
}

interface Found extends OwnSchema {
  plain: string;
  /** Of its tables, or of the function of a dump. */
  owner: string;
  is_trusted: boolean;
  is_whole: boolean;
  is_usable: boolean;
}

/**
 * The schema with the service; null if there is none yet. In a transaction. Throws DataError if it is not certain which
 * one it is: an empty service beside another would send everything anew. Tables of roles that are not trusted are never
 * taken for a service, and stop nothing beside one.
 */
export async function findSchema(client: Client, wanted: string | undefined): Promise<OwnSchema | null> {
  const { rows } = await client.query<Found>(
    `SELECT DISTINCT ON (plain) n.oid, quote_ident(n.nspname) AS name, n.nspname::text AS plain,
       quote_ident(r.rolname) AS owner, ${isTrusted} AS is_trusted, f.version IS NOT NULL AS is_whole,
       has_schema_privilege(n.oid, 'USAGE') AND coalesce(has_table_privilege(f.version, 'SELECT'), true) AS is_usable
     FROM (SELECT relnamespace AS schema, oid AS version, relowner AS owner FROM pg_catalog.pg_class
         WHERE relname = $1 AND relkind = 'r'
         UNION ALL SELECT pronamespace, NULL, proowner FROM pg_catalog.pg_proc WHERE proname = $2) f
       JOIN pg_catalog.pg_namespace n ON n.oid = f.schema AND n.nspname !~ '^pg_temp_'
       JOIN pg_catalog.pg_roles r ON r.oid = f.owner ${ourselves}
     ORDER BY plain, is_trusted DESC, is_whole DESC`,
    [versionTable, earlyFunction],
  );
  if (wanted !== undefined) {
    const named = rows.find(({ plain }) => plain === wanted);
    if (named !== undefined) return checkedSchema(named);
    const alike = rows.find(
      ({ plain, is_trusted }) => is_trusted && plain.toLowerCase() === wanted.toLowerCase(),
    );
    if (alike === undefined) return null;
    throw new DataError(`the service is in the schema ${alike.name}`, {
      hint: `Write it like that: URTUU_DATABASE_SCHEMA=${alike.plain}`,
    });
  }
  const services = rows.filter(({ is_trusted }) => is_trusted);
  const [usable, ...others] = services.filter(({ is_usable, is_whole }) => is_usable && is_whole);
  if (usable !== undefined && others.length === 0) return checkedSchema(usable);
  if (usable === undefined) {
    const first = services[0] ?? rows[0];
    return first === undefined ? null : checkedSchema(first);
  }
  const names = [usable, ...others].map(({ plain }) => plain);
  throw new DataError(`the database has several services, in the schemas ${names.join(', ')}`, {
    hint: 'Name the schema of this one: URTUU_DATABASE_SCHEMA',
  });
}

function checkedSchema({ name, oid, owner, is_trusted, is_usable, is_whole }: Found): OwnSchema {
  if (!is_trusted) {
    throw new DataError(`the service in the schema ${name} belongs to the role ${owner}`, {
      hint: 'If it is the one to use, connect as that role, or give yours all that is in it (ALTER ... OWNER TO). If not, name the schema of a new one: URTUU_DATABASE_SCHEMA',
    });
  }
  if (!is_usable) {
    throw new DataError(`the service is in the schema ${name}, which this role may not use`, {
      hint: 'Connect as the owner of its tables, or give the role its rights back. For a new service beside it, name another schema: URTUU_DATABASE_SCHEMA',
    });
  }
  if (!is_whole) throw halfLoaded({ name }, `no table ${versionTable}`);
  return { name, oid };
}

/** Its dump is still being loaded. */
export const halfLoaded = ({ name }: Pick<OwnSchema, 'name'>, problem: string): DataError =>
  new DataError(`the service in the schema ${name} has ${problem}`, {
    hint: 'Wait until its dump is loaded. If loading has failed, drop the schema and load the dump again.',
  });

export const noService = (wanted: string | undefined): NoDataError =>
  new NoDataError(`there is no service in ${wanted === undefined ? 'the database' : `the schema ${wanted}`}`);

interface NewSchema {
  name: string;
  oid: number | null;
  user: string;
  may_create: boolean;
}

/** Makes the schema of a new service, with the table of its version. Only in a transaction that holds the lock of all. */
export async function createSchema(client: Client, wanted: string | undefined): Promise<OwnSchema> {
  const plain = wanted ?? usual;
  const read = async () =>
    (
      await client.query<NewSchema>(
        `SELECT quote_ident($1) AS name, n.oid, quote_ident(current_user) AS user,
           coalesce(has_schema_privilege(n.oid, 'CREATE'),
             has_database_privilege(current_database(), 'CREATE')) AS may_create
         FROM (SELECT 1) one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $1`,
        [plain],
      )
    ).rows[0] as NewSchema;
  const { name, oid: existing, user, may_create } = await read();
  const refuse = (what: string, statement: string) =>
    new DataError(`the role ${user} may not create ${what} ${name}`, {
      hint: `As the owner of the database: ${statement}`,
    });
  if (existing === null) {
    if (!may_create) throw refuse('the schema', `CREATE SCHEMA ${name} AUTHORIZATION ${user}`);
    await client.query(`CREATE SCHEMA ${name}`);
  }
  const schema = { name, oid: existing ?? ((await read()).oid as number) };
  const takeover = await takeoverOf(client, schema);
  if (takeover !== null) {
    throw new DataError(takeover.problem, {
      hint: `${takeover.way}; or name another schema: URTUU_DATABASE_SCHEMA`,
    });
  }
  if (!may_create) throw refuse('tables in the schema', `GRANT ALL ON SCHEMA ${name} TO ${user}`);
  await client.query(`CREATE TABLE ${name}.${versionTable} (version int NOT NULL)`);
  return schema;
}
