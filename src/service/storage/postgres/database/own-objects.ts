import type { Client } from 'pg';
import { DataError } from '../../../errors/data-error.js';
import { halfLoaded, type OwnSchema } from './own-schema.js';
import { isTrusted, ourselves } from './trust.js';

/** What the steps of a schema create: names, without those of earlier releases. */
function createdBy(steps: readonly string[]) {
  const all = steps.join('\n');
  const namesIn = (pattern: RegExp) => [...all.matchAll(pattern)].map(([, name = '']) => name);
  return {
    functions: namesIn(/CREATE (?:OR REPLACE )?FUNCTION (\w+)/g),
    relations: namesIn(/CREATE (?:UNLOGGED )?(?:TABLE|TYPE|(?:UNIQUE )?INDEX) (\w+)/g),
    /** How many primary keys and unique columns each table has. */
    keys: [...all.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) ([^;]*)/g)].map(([, table, columns = '']) => ({
      table,
      keys: columns.match(/PRIMARY KEY|UNIQUE/g)?.length ?? 0,
    })),
  };
}

interface Strange {
  kind: string;
  name: string;
  owner: string;
}

/** Of those, a message names so many. */
const named = 10;

/**
 * Throws DataError if others have made something in the schema that a statement of the service could use instead of
 * PostgreSQL's or its own: a better fitting function or operator, a type that is written like a function, a table of
 * its name. In a transaction that looks names up in the catalog.
 */
export async function refuseStrangers(
  client: Client,
  schema: OwnSchema,
  { table, steps }: { table: string; steps: readonly string[] },
): Promise<void> {
  const { rows } = await client.query<Strange>(
    `SELECT s.kind, s.name, quote_ident(r.rolname) AS owner FROM (
       SELECT 'OPERATOR' AS kind, oid::regoperator::text AS name, oprowner AS owner FROM pg_operator
         WHERE oprnamespace = $1
       UNION ALL SELECT 'ROUTINE', oid::regprocedure::text, proowner FROM pg_proc WHERE pronamespace = $1
       UNION ALL SELECT 'TYPE', oid::regtype::text, typowner FROM pg_type
         WHERE typnamespace = $1 AND typtype IN ('d', 'e', 'r', 'm')
       UNION ALL SELECT CASE relkind WHEN 'c' THEN 'TYPE' WHEN 'i' THEN 'INDEX' WHEN 'I' THEN 'INDEX' WHEN 'v' THEN 'VIEW'
           WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END,
         oid::regclass::text, relowner FROM pg_class WHERE relnamespace = $1 AND relname = ANY ($2)) s
       JOIN pg_roles r ON r.oid = s.owner ${ourselves}
     WHERE NOT ${isTrusted}
     ORDER BY s.kind, s.name`,
    [schema.oid, [table, ...createdBy(steps).relations]],
  );
  if (rows.length === 0) return;
  const owners = [...new Set(rows.map(({ owner }) => owner))].join(', ');
  const drops = rows.slice(0, named).map(({ kind, name }) => `DROP ${kind} ${name};`);
  const more = rows.length > named ? ` and ${rows.length - named} more` : '';
  throw new DataError(
    `objects of other roles in the schema ${schema.name} could take over the service: ${owners}`,
    {
      hint: `Look at each. Move useful ones to another schema (ALTER ... SET SCHEMA) or to a role you trust (ALTER ... OWNER TO); drop the rest: ${drops.join(' ')}${more}`,
    },
  );
}

/** Throws DataError for tables without their keys, which a dump has after the rows: there would be rows twice. */
export async function refuseHalfLoaded(
  client: Client,
  schema: OwnSchema,
  steps: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM json_to_recordset($2::json) AS k("table" text, keys int)
       JOIN pg_class c ON c.relnamespace = $1 AND c.relname = k."table" AND c.relkind = 'r'
     WHERE (SELECT count(*) FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('p', 'u')) < k.keys
     ORDER BY name LIMIT 1`,
    [schema.oid, JSON.stringify(createdBy(steps).keys)],
  );
  if (rows[0] !== undefined) throw halfLoaded(schema, `no key of the table ${rows[0].name}`);
}

/** The version of what the steps create; 0 before the first. Throws DataError where a dump has not brought its row yet. */
export async function versionOf(
  client: Client,
  schema: OwnSchema,
  { table, steps }: { table: string; steps: readonly string[] },
): Promise<number> {
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${schema.name}.${table}`);
  if (rows[0] !== undefined) return rows[0].version;
  const { rows: made } = await client.query(
    'SELECT 1 FROM pg_proc WHERE pronamespace = $1 AND proname = ANY ($2) LIMIT 1',
    [schema.oid, createdBy(steps).functions],
  );
  if (made.length > 0) throw halfLoaded(schema, `no row in the table ${table}`);
  return 0;
}

/** A body that is kept as an expression names what it uses by its identity. */
const isBound = `(p.prosqlbody IS NOT NULL
  OR coalesce('search_path=' || quote_ident(n.nspname) || ', pg_temp' = ANY (p.proconfig), false))`;

/**
 * Functions of the service that look their names up elsewhere: of an earlier release, of a schema that was renamed, and
 * those of a new step.
 */
async function unboundFunctions(
  client: Client,
  { oid }: OwnSchema,
  steps: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ signature: string }>(
    `SELECT p.oid::regprocedure::text AS signature FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.oid = $1 AND p.proname = ANY ($2) AND NOT ${isBound}`,
    [oid, createdBy(steps).functions],
  );
  return rows.map(({ signature }) => signature);
}

/** No function is written anew for it. In a transaction that looks names up in the catalog. */
export async function bindFunctions(
  client: Client,
  schema: OwnSchema,
  steps: readonly string[],
): Promise<void> {
  for (const signature of await unboundFunctions(client, schema, steps)) {
    await client.query(`ALTER FUNCTION ${signature} SET search_path = ${schema.name}, pg_temp`);
  }
}

/** Throws DataError if a start has to bind them first. In a transaction that looks names up in the catalog. */
export async function checkFunctions(
  client: Client,
  schema: OwnSchema,
  steps: readonly string[],
): Promise<void> {
  if ((await unboundFunctions(client, schema, steps)).length === 0) return;
  throw new DataError(`functions in the schema ${schema.name} are not bound to it`, {
    hint: 'It was renamed, or written by an older version of urtuu. A start of this version brings it up to date: `urtuu serve`',
  });
}
