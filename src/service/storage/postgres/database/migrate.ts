import { setTimeout } from 'node:timers/promises';
import { DataError, NoDataError } from '../../../errors/data-error.js';
import { destroy, newClient } from './connection.js';

/** The advisory lock under which one instance at a time migrates. */
const lockKey = 7_788_001;
/** Milliseconds that a step waits for a lock. */
const patienceMs = 300;
/** Milliseconds until the next attempt. */
const pauseMs = 1_000;
const lockNotAvailable = '55P03';

/** Steps from one version of a schema to the next; published ones never change. */
export interface Migrations {
  /** The table with the version. */
  table: string;
  steps: readonly string[];
}

/**
 * Migrates a schema to this version, or waits until another process has. Settings and lock belong to the transaction,
 * so that a pooler may be in between.
 */
export async function migrate(url: string, { table, steps }: Migrations): Promise<void> {
  const client = newClient(url, false);
  client.on('error', () => {});
  await client.connect();
  try {
    await refuseStandby(client);
    for (;;) {
      const taken = await takeStep(client, table, steps);
      if (taken === 'none') break;
      if (taken === 'locked') await setTimeout(pauseMs);
    }
    await client.end();
  } finally {
    destroy(client);
  }
}

/**
 * Takes the next step, in a transaction of its own, whose locks end with it. During a long read, such as a dump, it
 * gives up, because all others would wait behind it.
 */
async function takeStep(
  client: ReturnType<typeof newClient>,
  table: string,
  steps: readonly string[],
): Promise<'done' | 'locked' | 'none'> {
  await client.query('BEGIN');
  await client.query('SET LOCAL statement_timeout = 0');
  await client.query('SET LOCAL lock_timeout = 0');
  await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (version int NOT NULL)`);
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${table}`);
  const version = rows[0]?.version ?? 0;
  if (version > steps.length) throw newer();
  if (version === 0) await refuseEncoding(client);
  const step = steps[version];
  if (step === undefined) {
    // Also for a restored database: a dump does not have these.
    await setTimeouts(client);
  } else {
    try {
      await client.query(`SET LOCAL lock_timeout = ${patienceMs}`);
      await client.query(step);
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error;
      await client.query('ROLLBACK');
      return 'locked';
    }
    await client.query(`DELETE FROM ${table}`);
    await client.query(`INSERT INTO ${table} VALUES ($1)`, [version + 1]);
  }
  await client.query('COMMIT');
  return step === undefined ? 'none' : 'done';
}

/** Refuses a database without this version of the schema; changes nothing. */
export async function checkSchema(url: string, { table, steps }: Migrations): Promise<void> {
  const client = newClient(url);
  client.on('error', () => {});
  await client.connect();
  try {
    await refuseStandby(client);
    const { rows } = await client.query<{ is_there: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS is_there',
      [table],
    );
    if (!rows[0]?.is_there) throw new NoDataError('there is no service in the database');
    const versions = await client.query<{ version: number }>(`SELECT version FROM ${table}`);
    const version = versions.rows[0]?.version ?? 0;
    if (version > steps.length) throw newer();
    if (version < steps.length) throw older();
    await client.end();
  } finally {
    destroy(client);
  }
}

/** Set on the role: settings of a connection leak through a pooler. The role's own settings remain. */
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

async function refuseStandby(client: ReturnType<typeof newClient>): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean }>('SELECT pg_is_in_recovery() AS is_standby');
  if (rows[0]?.is_standby) {
    throw new DataError('the database is a standby', {
      hint: 'Give the address of the primary, or promote it.',
    });
  }
}

/** Only of a new database: SQL_ASCII was accepted before, and stores UTF-8 unread. */
async function refuseEncoding(client: ReturnType<typeof newClient>): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') {
    throw new DataError(`the encoding of the database is ${encoding}, not UTF8`, {
      hint: 'Nothing was changed. Create another one: createdb --encoding UTF8 --locale C --template template0 NAME',
    });
  }
}

export function older(): DataError {
  return new DataError('the database was written by an older version of urtuu', {
    hint: 'A start of this version brings it up to date: `urtuu serve`',
  });
}

function newer(): DataError {
  return new DataError('the database was written by a newer version of urtuu', {
    hint: 'Use that version, or give another database.',
  });
}
