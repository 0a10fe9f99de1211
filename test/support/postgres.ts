import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrate } from '../../src/service/storage/postgres/database/migrate.js';
import { migrations } from '../../src/service/storage/postgres/schema/migrations.js';
import { openPooler } from './postgres/pooler.js';
import { sharedUrl } from './postgres/shared.js';

let pooler: Promise<string> | undefined;

/** A new, empty database of the run's PostgreSQL; it goes with the cluster. `more` goes to CREATE DATABASE. */
export async function newDatabase(more = ''): Promise<string> {
  const url = await sharedUrl();
  const name = `urtuu_test_${randomBytes(6).toString('hex')}`;
  await query(`${url}/postgres`, `CREATE DATABASE ${name} ${more}`);
  // A statement of the service that is not bound to its schema finds nothing.
  await query(`${url}/postgres`, `ALTER DATABASE ${name} SET search_path = pg_catalog`);
  return `${url}/${name}`;
}

/** A new database with a schema, whose sessions are used again: for tests that open many services on it. */
export async function newPooledDatabase(): Promise<string> {
  const url = await newDatabase();
  // Sets the timeouts that sessions start with.
  await migrate({ url }, [migrations]);
  pooler ??= sharedUrl().then(openPooler);
  return (await pooler) + new URL(url).pathname;
}

/** A copy of a database that nobody is connected to, as if it were a new one and not a backup. */
export async function copyOfDatabase(template: string): Promise<string> {
  const url = await backupOfDatabase(template);
  await query(url, 'DELETE FROM hold; SELECT open_hold_1()');
  return url;
}

/** A copy of a database that nobody is connected to. */
export async function backupOfDatabase(template: string): Promise<string> {
  const url = await sharedUrl();
  const name = `urtuu_test_${randomBytes(6).toString('hex')}`;
  await query(`${url}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${new URL(template).pathname.slice(1)}`);
  return `${url}/${name}`;
}

/**
 * Deletes all rows, once nobody works on them any more; the schema, which takes longer to make, stays. Only what has
 * grown is truncated: that makes new files.
 */
export async function emptyDatabase(url: string): Promise<void> {
  await query(
    url,
    `DO $$ DECLARE each regclass; tables regclass[] := ARRAY(
         SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace('urtuu')
           AND relname NOT LIKE '%_schema'
         ORDER BY oid NOT IN (SELECT conrelid FROM pg_constraint WHERE contype = 'f'));
     BEGIN
       IF tables = '{}' THEN RETURN; END IF;
       EXECUTE 'LOCK TABLE ' || array_to_string(tables, ', ');
       FOREACH each IN ARRAY tables LOOP
         IF pg_relation_size(each) > 262144 THEN EXECUTE 'TRUNCATE ' || each || ' CASCADE';
         ELSIF pg_relation_size(each) > 0 THEN EXECUTE 'DELETE FROM ' || each;
         END IF;
       END LOOP;
       PERFORM setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = to_regnamespace('urtuu');
     END $$`,
  );
}

/** All its rows, as text. */
export async function contentOfDatabase(url: string): Promise<string> {
  const rows = (await query(
    url,
    "SELECT query_to_xml('SELECT * FROM ' || quote_ident(tablename), true, true, '')::text AS rows FROM pg_tables WHERE schemaname = 'urtuu'",
  )) as { rows: string }[];
  return rows.map((table) => table.rows).join('\n');
}

/** For a connection of a test, whose names are looked up in the schema of the service. */
export const connectionTo = (url: string) => ({
  connectionString: url,
  // A busy machine takes longer to fill a table than the service waits.
  options: '-c statement_timeout=0 -c search_path=urtuu,public',
});

/** Runs one statement on a connection of its own. */
export async function query<Row = Record<string, unknown>>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(connectionTo(url));
  // A test may terminate its backend.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
