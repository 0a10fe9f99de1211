import type { Client } from 'pg';

/** An advisory lock, which anybody who may connect can take. */
export interface Lock {
  /** As the functions of PostgreSQL name it. */
  key: string;
  /** As pg_locks has it: classid, objid and objsubid. */
  row: readonly [number, number, number];
}

/**
 * The advisory lock of the database: whoever creates a schema holds it alone, as every start of an earlier release
 * does. Starts on existing schemas share it.
 */
export const databaseLock: Lock = { key: '7788001::bigint', row: [0, 7_788_001, 1] };
/** The lock under which one instance at a time migrates a schema. */
export const schemaLock = (schema: number): Lock => ({
  key: `7788002::int, ${schema}::oid::int`,
  row: [7_788_002, schema, 2],
});

/** Milliseconds until whoever waits says so. */
const sayAfter = 2_000;
export const lockNotAvailable = '55P03';

/** Others hold a lock that a start needs, or are to stop. */
export class Waiting extends Error {
  override readonly name = 'Waiting';
  readonly code = 'waits_for_lock';
  /** A line for the owner, which names no place in the program. */
  override readonly stack = '';
}

/**
 * Takes a lock until the transaction ends, waits for it in steps, so that PostgreSQL notices who is gone, and says each
 * time that others hold it who they are: it may be no start.
 */
export async function takeLock(
  client: Client,
  lock: Lock,
  { isShared = false, warn }: { isShared?: boolean; warn: (warning: Error) => void },
): Promise<void> {
  let said = '';
  await client.query(`SAVEPOINT before_lock; SET LOCAL lock_timeout = ${sayAfter}`);
  for (;;) {
    try {
      await client.query(`SELECT pg_advisory_xact_lock${isShared ? '_shared' : ''}(${lock.key})`);
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    }
    await client.query(`ROLLBACK TO before_lock; SET LOCAL lock_timeout = ${sayAfter}`);
    const holders = await holdersOf(client, lock, isShared);
    if (holders === said || holders === '') continue;
    said = holders;
    warn(new Waiting(`waiting for a lock of the database, held by ${holders}`));
  }
  await client.query('SET LOCAL lock_timeout = 0');
}

async function holdersOf(client: Client, { row }: Lock, isShared: boolean): Promise<string> {
  const { rows } = await client.query<{ pid: number; role: string | null; program: string | null }>(
    `SELECT pid, a.usename AS role, a.application_name AS program
     FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND (l.mode = 'ExclusiveLock' OR NOT $4)
       AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
       AND (l.classid, l.objid, l.objsubid) = ($1::oid, $2::oid, $3::int2) ORDER BY pid`,
    [...row, isShared],
  );
  // To other roles, PostgreSQL does not show the program.
  return rows
    .map(
      ({ pid, role, program }) =>
        `PostgreSQL process ${pid} of the role ${role}${program ? ` (${program})` : ''}`,
    )
    .join(', ');
}
