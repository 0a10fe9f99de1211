import { outboxMigrations } from '../../carriers/simulated/postgres-outbox.js';
import { DataError } from '../../errors/data-error.js';
import { checkTerms, destroy, newClient } from '../../storage/postgres/database/connection.js';
import { migrate } from '../../storage/postgres/database/migrate.js';
import {
  beginIn,
  type DatabasePlace,
  findSchema,
  usual,
} from '../../storage/postgres/database/own-schema.js';
import { migrations } from '../../storage/postgres/schema/migrations.js';
import type { HoldReason } from '../../storage/records.js';
import { type MovedTable, movedTables, unfilled } from './mapping.js';
import { columnsOf, fromDatabase, type Row, type Summary, summing } from './rows.js';

/** The database failed or cannot be reached; `cause` is its driver's error. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  readonly code = 'database_failed';
}

export type Target = Awaited<ReturnType<typeof openTarget>>;

const tables = [
  ...movedTables.map(({ to }) => to),
  ...Object.keys(unfilled).filter((one) => !/\./.test(one)),
];
const isOwn = (table: string) => tables.includes(table);
/** Tables with the rows of a service. */
const filled = tables.filter((one) => one !== 'installation' && !one.endsWith('_schema'));

/** Milliseconds, above what any statement of a move takes. A database that falls silent would keep it for hours. */
const longestStatement = 300_000;

/**
 * Creates the schema of the service in an empty database, and connects. Throws DataError if there are other tables: in a
 * schema that was named only there.
 */
export async function openTarget(place: DatabasePlace, patience = longestStatement) {
  const { url } = place;
  const first = await connect(url, patience);
  try {
    await failing(beginIn(first));
    const found = await failing(findSchema(first, place.schema));
    const { rows } = await failing(
      first.query<{ schema: string; name: string; is_here: boolean }>(
        `SELECT n.nspname AS schema, c.relname AS name, coalesce(n.oid = $1, n.nspname = $2) AS is_here
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
           AND ($3 OR coalesce(n.oid = $1, n.nspname = $2))`,
        [found?.oid ?? null, place.schema ?? usual, place.schema === undefined],
      ),
    );
    const foreign = rows.find(({ name, is_here }) => !is_here || !isOwn(name));
    if (foreign !== undefined) {
      throw new DataError(`the database has a table of something else: ${foreign.schema}.${foreign.name}`, {
        hint: 'Create a database for the service alone. Nothing was changed.',
      });
    }
  } finally {
    destroy(first);
  }
  const schema = await failing(migrate(place, [migrations, outboxMigrations]));
  const client = await connect(url, patience);
  await failing(checkTerms(client)).catch((error) => {
    destroy(client);
    throw error;
  });

  async function transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await failing(beginIn(client, schema));
    try {
      await query(
        `SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
           set_config('synchronous_commit', 'on', true)`,
      );
      const result = await work();
      await query('COMMIT');
      return result;
    } catch (error) {
      // After a failure it is closed: one that fell silent would not answer this either.
      if (!(error instanceof DatabaseFailure)) await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async function query<Found>(text: string, values: readonly unknown[] = []): Promise<Found[]> {
    const { rows } = await failing(client.query(text, values as unknown[]));
    return rows as Found[];
  }

  /** Runs while this move fills the database, which nobody else can open, empty or take meanwhile. */
  const whileFilling = <Result>(target: string, work: () => Promise<Result>): Promise<Result> =>
    transaction(async () => {
      const found = await query(`SELECT 1 FROM installation WHERE filling = ${mark} FOR SHARE`, [target]);
      if (found.length === 0) throw taken();
      return work();
    });

  return {
    async state(target: string | null): Promise<TargetState | null> {
      const [row] = await transaction(() =>
        query<TargetState>(
          `SELECT id, filling IS NOT NULL AS "isFilling", coalesce(filling = ${mark}, false) AS "isOwn" FROM installation`,
          [target ?? ''],
        ),
      );
      return row ?? null;
    },
    /** The first table with a row. */
    async someRow(): Promise<string | null> {
      const exists = filled.map((one) => `WHEN EXISTS (SELECT 1 FROM ${one}) THEN '${one}'`);
      const [row] = await transaction(() =>
        query<{ name: string | null }>(`SELECT CASE ${exists.join(' ')} END AS name`),
      );
      return row?.name ?? null;
    },
    /** False if another move has taken the database meanwhile. */
    async begin(target: string, id: string, fingerprint: Uint8Array): Promise<boolean> {
      const rows = await transaction(() =>
        query(
          `INSERT INTO installation (one, id, secret_fingerprint, filling) VALUES (1, $2, $3, ${mark})
           ON CONFLICT (one) DO NOTHING RETURNING 1`,
          [target, id, fingerprint],
        ),
      );
      return rows.length === 1;
    },
    async add(target: string, table: MovedTable, rows: readonly Row[]): Promise<void> {
      const columns = columnsOf(table);
      const objects = rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
      const names = columns.join(', ');
      await whileFilling(target, () =>
        query(
          `INSERT INTO ${table.to} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table.to}, $1)`,
          [JSON.stringify(objects)],
        ),
      );
    },
    /** Reads `counts` rows at a time, then the rest. */
    sum(table: MovedTable, counts: Iterable<number>, onRows: (count: number) => void): Promise<Summary> {
      return transaction(async () => {
        const columns = columnsOf(table);
        await query(
          `DECLARE moved CURSOR FOR SELECT ${columns.join(', ')} FROM ${table.to} ORDER BY ${table.key.join(', ')}`,
        );
        const sum = summing();
        const read = async (count: number) => {
          const rows = await query<Record<string, unknown>>(`FETCH ${count} FROM moved`);
          for (const row of rows) sum.add(fromDatabase(columns.map((name) => row[name])));
          onRows(rows.length);
          return rows.length > 0;
        };
        for (const count of counts) await read(count);
        // None, unless it differs.
        while (await read(20));
        await query('CLOSE moved');
        return sum.end();
      });
    },
    /** What takes its time before it can be served. */
    prepare: (target: string): Promise<void> =>
      whileFilling(target, async () => {
        for (const { to, isNumbered } of movedTables) {
          if (isNumbered) {
            await query(
              `SELECT setval(pg_get_serial_sequence('${to}', 'seq'), max(seq)) FROM ${to} HAVING max(seq) IS NOT NULL`,
            );
          }
        }
        await query(`ANALYZE ${movedTables.map(({ to }) => to).join(', ')}`);
      }),
    /** Allows it to be served. `hold`: the hold of the folder. */
    open: (target: string, hold: HoldReason | null): Promise<void> =>
      whileFilling(target, async () => {
        await query('SELECT set_hold_1($1)', [hold]);
        await query('UPDATE installation SET filling = NULL');
      }),
    /**
     * Removes everything that a move has written; false if there is nothing. `onUnopened`: called first, once nothing can
     * open the database any more.
     */
    abandon: (target: string, onUnopened: () => void): Promise<boolean> =>
      transaction(async () => {
        const rows = await query(`DELETE FROM installation WHERE filling = ${mark} RETURNING 1`, [target]);
        if (rows.length === 0) return false;
        onUnopened();
        await query(`TRUNCATE ${filled.join(', ')} RESTART IDENTITY`);
        return true;
      }),
    close: () => destroy(client),
  };
}

/** For this database only: a dump loaded elsewhere is not the database that a folder is moved to. */
const mark = "place_1() || ' ' || $1::text";

export interface TargetState {
  /** Of the installation. */
  id: string;
  isFilling: boolean;
  /** It is being filled by this move and no other. */
  isOwn: boolean;
}

async function connect(url: string, patience: number) {
  const client = newClient(url, patience);
  // Without a listener, the end of its backend would end this process.
  client.on('error', () => {});
  await failing(client.connect()).catch((error) => {
    destroy(client);
    throw error;
  });
  return client;
}

/** Throws DatabaseFailure for an error of the driver. */
export async function failing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DatabaseFailure((error as Error).message, { cause: error });
  }
}

export const taken = () =>
  new DataError('the database is no longer filled by this move: something else has opened or emptied it', {
    hint: 'Run the command again to see what happened.',
  });

/** Why a database that holds other data cannot be filled. */
export function occupied(
  source: { id: string },
  { id, isFilling }: TargetState,
  database: string,
): DataError {
  const createNew = 'Recreate it empty, or name a new one.';
  const [what, hint] =
    id !== source.id
      ? [`${isFilling ? 'is being filled from' : 'holds the data of'} another installation, ${id}`, createNew]
      : isFilling
        ? [
            'is being filled by another move of this data',
            'Go on with the folder that fills it. If there is none, drop the database, and create it again.',
          ]
        : [
            'is served with this data already: the folder is a copy',
            'Serve the database, and not the folder.',
          ];
  return new DataError(`${database} ${what}`, { hint: `${hint} Nothing was changed.` });
}
