import type { Client } from 'pg';
import { DataError, NoDataError } from '../../../errors/data-error.js';

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
  await client.query(`SET LOCAL search_path = ${name}, pg_temp`);
}

interface Found extends OwnSchema {
  plain: string;
  is_whole: boolean;
  is_usable: boolean;
}

/**
 * The schema with the service; null if there is none yet. In a transaction. Throws DataError if it is not certain which
 * one it is: an empty service beside another would send everything anew.
 */
export async function findSchema(client: Client, wanted: string | undefined): Promise<OwnSchema | null> {
  const { rows } = await client.query<Found>(
    `SELECT n.oid, quote_ident(n.nspname) AS name, n.nspname::text AS plain, c.oid IS NOT NULL AS is_whole,
       has_schema_privilege(n.oid, 'USAGE') AND coalesce(has_table_privilege(c.oid, 'SELECT'), true) AS is_usable
     FROM pg_catalog.pg_namespace n
       LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = $1 AND c.relkind = 'r'
     WHERE n.nspname !~ '^pg_temp_' AND (c.oid IS NOT NULL OR EXISTS (
       SELECT 1 FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid AND p.proname = $2))
     ORDER BY n.nspname`,
    [versionTable, earlyFunction],
  );
  if (wanted !== undefined) {
    const named = rows.find(({ plain }) => plain === wanted);
    if (named !== undefined) return checkedSchema(named);
    const alike = rows.find(({ plain }) => plain.toLowerCase() === wanted.toLowerCase());
    if (alike === undefined) return null;
    throw new DataError(`the service is in the schema ${alike.name}`, {
      hint: `Write it like that: URTUU_DATABASE_SCHEMA=${alike.plain}`,
    });
  }
  const [usable, ...others] = rows.filter(({ is_usable, is_whole }) => is_usable && is_whole);
  if (usable !== undefined && others.length === 0) return usable;
  if (usable === undefined) return rows[0] === undefined ? null : checkedSchema(rows[0]);
  const names = [usable, ...others].map(({ plain }) => plain);
  throw new DataError(`the database has several services, in the schemas ${names.join(', ')}`, {
    hint: `Name the schema of this one: URTUU_DATABASE_SCHEMA=${names[0]}`,
  });
}

function checkedSchema({ is_usable, is_whole, ...schema }: Found): OwnSchema {
  if (!is_usable) {
    throw new DataError(`the service is in the schema ${schema.name}, which this role may not use`, {
      hint: 'Connect as the owner of its tables, or give the role its rights back. For a new service beside it, name another schema: URTUU_DATABASE_SCHEMA',
    });
  }
  if (!is_whole) {
    throw new DataError(`the service in the schema ${schema.name} has no table ${versionTable}`, {
      hint: 'Wait until its dump is loaded. If loading has failed, drop the schema and load the dump again.',
    });
  }
  return schema;
}

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
  if (!may_create) {
    const statement =
      existing === null
        ? `CREATE SCHEMA ${name} AUTHORIZATION ${user}`
        : `GRANT ALL ON SCHEMA ${name} TO ${user}`;
    throw new DataError(
      `the role ${user} may not create ${existing === null ? 'the schema' : 'tables in the schema'} ${name}`,
      {
        hint: `As the owner of the database: ${statement}`,
      },
    );
  }
  if (existing === null) await client.query(`CREATE SCHEMA ${name}`);
  const oid = existing ?? ((await read()).oid as number);
  const schema = { name, oid };
  const others = await othersWhoCreate(client, schema);
  if (others.length > 0) {
    const { problem, way } = new Takeover(schema, others);
    throw new DataError(problem, { hint: `${way}; or name another schema: URTUU_DATABASE_SCHEMA` });
  }
  await client.query(`CREATE TABLE ${name}.${versionTable} (version int NOT NULL)`);
  return schema;
}

/** Others could take over the service by functions and operators of their own. */
export class Takeover extends Error {
  override readonly name = 'Takeover';
  readonly code = 'others_may_create';
  /** A line for the owner, which names no place in the program. */
  override readonly stack = '';
  readonly problem: string;
  readonly way: string;

  constructor({ name }: OwnSchema, others: readonly string[]) {
    const problem = `others may create in the schema ${name}, and so take over the service`;
    const way = `Run as its owner: REVOKE CREATE ON SCHEMA ${name} FROM ${others.join(', ')}`;
    super(`${problem}. ${way}`);
    this.problem = problem;
    this.way = way;
  }
}

/**
 * Whether the role `r` could do anything to the service in any case, or is the service's. `u` is the service's, `d` the
 * database. A superuser is a member of all roles, which says nothing of them.
 */
const isTrusted = `(r.rolsuper OR r.oid = u.oid OR r.rolname ~ '^pg_' OR pg_has_role(r.oid, u.oid, 'MEMBER')
  OR pg_has_role(r.oid, d.datdba, 'MEMBER') OR (NOT u.rolsuper AND pg_has_role(u.oid, r.oid, 'MEMBER')))`;
const ourselves = `JOIN pg_catalog.pg_roles u ON u.rolname = current_user
       JOIN pg_catalog.pg_database d ON d.datname = current_database()`;

/** Roles that may create in a schema, and could do nothing to the service otherwise. In a transaction. */
export async function othersWhoCreate(client: Client, { oid }: OwnSchema): Promise<string[]> {
  const { rows } = await client.query<{ name: string; is_public: boolean }>(
    `SELECT 'PUBLIC' AS name, true AS is_public FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
     WHERE n.oid = $1 AND a.grantee = 0 AND a.privilege_type = 'CREATE'
     UNION ALL
     SELECT quote_ident(r.rolname), false FROM pg_catalog.pg_roles r ${ourselves}
     WHERE has_schema_privilege(r.oid, $1, 'CREATE') AND NOT ${isTrusted}
     ORDER BY is_public DESC, name`,
    [oid],
  );
  // Everybody has the right of everybody.
  return rows[0]?.is_public ? ['PUBLIC'] : rows.map(({ name }) => name);
}

interface Unbound {
  signature: string;
  owner: string;
  is_ours: boolean;
}

const isBound = `coalesce('search_path=' || quote_ident(n.nspname) || ', pg_temp' = ANY (p.proconfig), false)`;

/**
 * Functions of the service that look their names up elsewhere: of an earlier release, of a schema that was renamed, and
 * those of a new step.
 */
async function unboundFunctions(
  client: Client,
  { oid }: OwnSchema,
  steps: readonly string[],
): Promise<Unbound[]> {
  const names = new Set(
    steps.flatMap((step) =>
      [...step.matchAll(/CREATE (?:OR REPLACE )?FUNCTION (\w+)/g)].map(([, name]) => name),
    ),
  );
  const { rows } = await client.query<Unbound>(
    `SELECT * FROM (
       SELECT p.oid::regprocedure::text AS signature, quote_ident(r.rolname) AS owner, ${isBound} AS is_bound,
         p.proowner = c.relowner OR ${isTrusted} AS is_ours
       FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
         JOIN pg_catalog.pg_roles r ON r.oid = p.proowner
         JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = $3 ${ourselves}
       WHERE n.oid = $1 AND p.proname = ANY ($2)) f
     WHERE NOT is_bound OR NOT is_ours ORDER BY is_ours, signature`,
    [oid, [...names], versionTable],
  );
  return rows;
}

/** In a transaction that looks names up in the schema. No function is written anew for it. */
export async function bindFunctions(
  client: Client,
  schema: OwnSchema,
  steps: readonly string[],
): Promise<void> {
  for (const { signature, owner, is_ours } of await unboundFunctions(client, schema, steps)) {
    if (!is_ours) {
      throw new DataError(
        `the function ${signature} in the schema ${schema.name} belongs to the role ${owner}`,
        {
          hint: `If it is the service's own, give it to the owner of the tables: ALTER FUNCTION ... OWNER TO. If not, look at it, and drop it: DROP FUNCTION ${schema.name}.${signature}`,
        },
      );
    }
    await client.query(`ALTER FUNCTION ${signature} SET search_path = ${schema.name}, pg_temp`);
  }
}

/** Throws DataError if a start has to bind them first. In a transaction. */
export async function checkFunctions(
  client: Client,
  schema: OwnSchema,
  steps: readonly string[],
): Promise<void> {
  const [unbound] = await unboundFunctions(client, schema, steps);
  if (unbound === undefined) return;
  throw new DataError(`functions in the schema ${schema.name} are not bound to it`, {
    hint: 'It was renamed, or written by an older version of urtuu. A start of this version brings it up to date: `urtuu serve`',
  });
}
