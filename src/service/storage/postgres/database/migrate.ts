import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Clock, systemClock } from '../../../clock.js';
import { DataError } from '../../../errors/data-error.js';
import { destroy, newClient } from './connection.js';
import { databaseLock, lockNotAvailable, schemaLock, takeLock, Waiting } from './locks.js';
import {
  bindFunctions,
  checkFunctions,
  refuseHalfLoaded,
  refuseStrangers,
  versionOf,
} from './own-objects.js';
import {
  beginIn,
  createSchema,
  type DatabasePlace,
  findSchema,
  lookIn,
  noService,
  type OwnSchema,
} from './own-schema.js';
import { runningInstances } from './running-instances.js';
import { takeoverOf } from './trust.js';

/** Milliseconds that a step waits for a lock. */
const patienceMs = 300;
/** Milliseconds until the next attempt. */
const pauseMs = 1_000;
/** Milliseconds that a start waits for instances of an earlier version. */
const instancePatienceMs = 30_000;

/** Steps from one version of a schema to the next; published ones never change. */
export interface Migrations {
  /** The table with the version. */
  table: string;
  steps: readonly string[];
  /** The last step that is taken only while no instance runs: those of earlier versions do not work beside it. */
  alone?: number;
}

export type Warn = (warning: Error) => void;

export interface MigrateOptions {
  warn?: Warn;
  /** Measures the waits for others. */
  clock?: Pick<Clock, 'monotonic' | 'after'>;
  /** Replaces the database's time. */
  now?: () => number | null;
}

/**
 * Migrates the schema of a service to this version, or waits until another process has; makes it for a new one. Settings
 * and locks belong to transactions, so that a pooler may be in between. `warn` is called for a schema of before in which
 * others may create, or that they own, and while others hold a lock or are to stop.
 */
export function migrate(
  { url, schema: wanted }: DatabasePlace,
  all: readonly Migrations[],
  { warn = () => {}, clock = systemClock, now = () => null }: MigrateOptions = {},
): Promise<OwnSchema> {
  return connected(newClient(url, false), async (client) => {
    const schema = await ownSchema(client, wanted, warn);
    const waitToStop = waiting(clock, warn);
    for (const each of all) {
      for (;;) {
        const taken = await takeStep(client, schema, each, warn, now());
        if (taken === 'none') break;
        if (taken === 'locked') await setTimeout(pauseMs);
        else if (taken !== 'done') await waitToStop(taken.running);
      }
    }
    await beginIn(client);
    const takeover = await takeoverOf(client, schema);
    if (takeover !== null) warn(takeover);
    await client.query('COMMIT');
    return schema;
  });
}

/** Refuses a database without this version of the schema; changes nothing. */
export function checkSchema(
  { url, schema: wanted }: DatabasePlace,
  all: readonly Migrations[],
): Promise<OwnSchema> {
  return connected(newClient(url), async (client) => {
    await beginIn(client);
    const schema = await findSchema(client, wanted);
    if (schema === null) throw noService(wanted);
    for (const each of all) {
      await refuseStrangers(client, schema, each);
      const { table, steps } = each;
      const { rows: tables } = await client.query<{ is_there: boolean }>(
        'SELECT to_regclass($1::text) IS NOT NULL AS is_there',
        [`${schema.name}.${table}`],
      );
      if (!tables[0]?.is_there) throw noService(wanted);
      await refuseHalfLoaded(client, schema, steps);
      const version = await versionOf(client, schema, each);
      if (version > steps.length) throw newer();
      if (version < steps.length) throw older();
      await checkFunctions(client, schema, steps);
    }
    await client.query('COMMIT');
    return schema;
  });
}

/** Refuses a standby, does the work, and ends the connection. */
async function connected<Result>(client: Client, work: (client: Client) => Promise<Result>): Promise<Result> {
  client.on('error', () => {});
  try {
    await client.connect();
    await refuseStandby(client);
    const result = await work(client);
    await client.end();
    return result;
  } finally {
    destroy(client);
  }
}

async function ownSchema(client: Client, wanted: string | undefined, warn: Warn): Promise<OwnSchema> {
  await beginIn(client);
  await withoutTimeouts(client);
  let schema = await findSchema(client, wanted);
  if (schema === null) {
    await takeLock(client, databaseLock, { warn });
    // Another may have made it meanwhile.
    schema = await findSchema(client, wanted);
  }
  if (schema === null) {
    await refuseEncoding(client);
    schema = await createSchema(client, wanted);
  }
  await client.query('COMMIT');
  return schema;
}

async function withoutTimeouts(client: Client): Promise<void> {
  await client.query('SET LOCAL statement_timeout = 0');
  await client.query('SET LOCAL lock_timeout = 0');
}

/** Waits before a look at whether these instances have stopped; throws DataError once that has lasted too long. */
function waiting(clock: Pick<Clock, 'monotonic' | 'after'>, warn: Warn) {
  let since: number | null = null;
  return async (running: readonly string[]): Promise<void> => {
    const names = running.join(', ');
    if (since === null) {
      since = clock.monotonic();
      warn(new Waiting(`waiting up to 30 s until these instances of an earlier version stop: ${names}`));
    }
    if (clock.monotonic() - since >= instancePatienceMs) {
      throw new DataError(`instances of an earlier version are running: ${names}`, {
        hint: 'Nothing was changed. Stop all instances, then start them in this version.',
      });
    }
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
  };
}

/**
 * Takes the next step, in a transaction of its own, whose locks end with it. During a long read, such as a dump, it
 * gives up, because all others would wait behind it.
 */
async function takeStep(
  client: Client,
  schema: OwnSchema,
  migrations: Migrations,
  warn: Warn,
  now: number | null,
): Promise<'done' | 'locked' | 'none' | { running: string[] }> {
  const { table, steps, alone = 0 } = migrations;
  const versions = `${schema.name}.${table}`;
  await beginIn(client);
  await withoutTimeouts(client);
  await takeLock(client, databaseLock, { isShared: true, warn });
  await takeLock(client, schemaLock(schema.oid), { warn });
  await refuseStrangers(client, schema, migrations);
  await refuseHalfLoaded(client, schema, steps);
  await client.query(`CREATE TABLE IF NOT EXISTS ${versions} (version int NOT NULL)`);
  const version = await versionOf(client, schema, migrations);
  if (version > steps.length) throw newer();
  const running = version > 0 && version < alone ? await runningInstances(client, schema, now) : [];
  if (running.length > 0) {
    await client.query('ROLLBACK');
    return { running };
  }
  const step = steps[version];
  if (step !== undefined) {
    try {
      await client.query(`SET LOCAL lock_timeout = ${patienceMs}`);
      await lookIn(client, schema);
      await client.query(step);
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error;
      await client.query('ROLLBACK');
      return 'locked';
    }
    await lookIn(client);
    await client.query(`DELETE FROM ${versions}`);
    await client.query(`INSERT INTO ${versions} VALUES ($1)`, [version + 1]);
  }
  // Also for a schema that was renamed.
  await bindFunctions(client, schema, steps);
  // Also for a restored database, whose dump does not have the timeouts.
  if (step === undefined) await setTimeouts(client);
  await client.query('COMMIT');
  return step === undefined ? 'none' : 'done';
}

/** Set on the role: settings of a connection leak through a pooler. The role's own settings remain. */
async function setTimeouts(client: Client): Promise<void> {
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

async function refuseStandby(client: Client): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean }>('SELECT pg_is_in_recovery() AS is_standby');
  if (rows[0]?.is_standby) {
    throw new DataError('the database is a standby', {
      hint: 'Give the address of the primary, or promote it.',
    });
  }
}

/** Only of a new database: SQL_ASCII was accepted before, and stores UTF-8 unread. */
async function refuseEncoding(client: Client): Promise<void> {
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
