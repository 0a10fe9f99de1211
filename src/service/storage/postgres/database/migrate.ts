import { DataError } from '../../../data-error.js';
import { migrations } from '../schema/migrations.js';
import { destroy, newClient } from './connection.js';

/** Of the advisory lock that one instance at a time migrates under. */
const lockKey = 7_788_001;

/**
 * Brings the schema to this version, however long it takes and whoever does it. Settings and lock are of the
 * transaction, so that a pooler may stand between.
 */
export async function migrate(url: string): Promise<void> {
  const client = newClient(url, false);
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await client.query('CREATE TABLE IF NOT EXISTS urtuu_schema (version int NOT NULL)');
    const { rows } = await client.query<{ version: number }>('SELECT version FROM urtuu_schema');
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length) throw newer();
    for (const step of migrations.slice(version)) await client.query(step);
    if (version < migrations.length) {
      await client.query('DELETE FROM urtuu_schema');
      await client.query('INSERT INTO urtuu_schema VALUES ($1)', [migrations.length]);
    }
    // Also of a database that was restored: a dump does not have them.
    await setTimeouts(client);
    await client.query('COMMIT');
    await client.end();
  } finally {
    destroy(client);
  }
}

/** On the role: what is set on a connection leaks through a pooler, and its own settings stay. */
async function setTimeouts(client: ReturnType<typeof newClient>): Promise<void> {
  const timeouts = [
    ['statement_timeout', '5s'],
    ['idle_in_transaction_session_timeout', '5s'],
  ] as const;
  const { rows } = await client.query<{ database: string }>(
    'SELECT quote_ident(current_database()) AS database',
  );
  for (const [name, value] of timeouts) {
    const [set] = (
      await client.query("SELECT reset_val = '0' AS is_off FROM pg_settings WHERE name = $1", [name])
    ).rows as { is_off: boolean }[];
    if (set?.is_off) {
      await client.query(`ALTER ROLE CURRENT_USER IN DATABASE ${rows[0]?.database} SET ${name} = '${value}'`);
    }
  }
}

function newer(): DataError {
  return new DataError('the database was written by a newer version of urtuu', {
    hint: 'Start that version, or another database.',
  });
}
