import { asOwner, asOwnerNow, otherOwnerOf } from '../../as-owner.js';
import { outboxMigrations } from '../../carriers/simulated/sqlite-outbox.js';
import { systemClock } from '../../clock.js';
import { systemRandom } from '../../random.js';
import type { HoldReason } from '../../storage/records.js';
import type { Database } from '../../storage/sqlite/database/database.js';
import { openDatabase } from '../../storage/sqlite/database/open.js';
import { prepareHolds } from '../../storage/sqlite/dispatch/holds.js';
import { prepareLeases } from '../../storage/sqlite/dispatch/leases.js';
import { type Move, type MoveState, readMove } from '../../storage/sqlite/installation/moves.js';
import { openInstallation } from '../../storage/sqlite/installation/open.js';
import type { MovedTable } from './mapping.js';
import { columnsOf, converterOf, mostAtOnce, type Row } from './rows.js';

/** The folder that a move reads. No other process can open it until it is closed. */
export type Source = Awaited<ReturnType<typeof openSource>>;

/**
 * Opened, changed and closed with the rights of the folder's owner. Throws DataInUseError while a process has the folder
 * open, and DataError if it is incomplete.
 */
export async function openSource(directory: string) {
  const owner = otherOwnerOf(directory);
  const { id, secret, store, carrier } = await asOwner(owner, () =>
    openInstallation(directory, systemRandom, {
      isMove: true,
      openCarrier: (path) =>
        openDatabase(path, {
          synchronous: 'full',
          migrations: outboxMigrations,
          keepsCopy: true,
          isAlone: true,
        }),
    }),
  );
  const databases = { store, carrier };

  /** On disk when it returns, in the file itself, so that a copy of the file has it too. */
  const write = (work: () => void): void =>
    asOwnerNow(owner, () => {
      store.exec('BEGIN IMMEDIATE');
      try {
        work();
        store.exec('COMMIT');
      } catch (error) {
        if (store.isTransaction) store.exec('ROLLBACK');
        throw error;
      }
      store.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    });

  return {
    id,
    secret,
    fingerprint: () =>
      (store.prepare('SELECT secret_fingerprint AS it FROM installation').get() as { it: Uint8Array }).it,
    move: (): Move | null => readMove(store),
    hold: (): HoldReason | null => prepareHolds(store).reason(),
    /** From now on, nobody serves the folder. Leased messages wait again or are in doubt. */
    begin({ target, database, secretFile }: Omit<Move, 'state'>): void {
      write(() => {
        prepareLeases(store, systemClock).endAll();
        store.prepare('DELETE FROM moves').run();
        store
          .prepare('INSERT INTO moves (one, target, database, secret_file) VALUES (1, ?, ?, ?)')
          .run(target, database, secretFile);
      });
    },
    nameSecretFile: (path: string) =>
      write(() => void store.prepare('UPDATE moves SET secret_file = ?').run(path)),
    /** What the move has come to; never back from `opened`. */
    mark: (state: MoveState) =>
      write(
        () =>
          void store
            .prepare('UPDATE moves SET is_done = ?, is_opened = ?')
            .run(state === 'moving' ? 0 : 1, state === 'opened' ? 1 : 0),
      ),
    abandon: () => write(() => void store.prepare('DELETE FROM moves').run()),
    count: (table: MovedTable): number =>
      (databases[table.file].prepare(`SELECT count(*) AS count ${rowsOf(table)}`).get() as { count: number })
        .count,
    pages: (table: MovedTable) => read(databases[table.file], table),
    close: (): void =>
      asOwnerNow(owner, () => {
        for (const database of [carrier, store]) {
          // A single file without a lock that outlives the connection: with open statements it would close later.
          database.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL');
          database.prepare('SELECT 1 FROM installation').get();
          database.close();
        }
      }),
  };
}

const rowsOf = ({ from, where = 'true' }: MovedTable) => `FROM ${from} WHERE ${where}`;

/** The rows as the database stores them, ordered by key. */
function* read(database: Database, table: MovedTable): Generator<Row[]> {
  const { columns, key } = table;
  const names = columnsOf(table);
  const list = (some: readonly string[]) => some.map((name) => columns[name]).join(', ');
  const select = (behind: string) => {
    const page = database.prepare(
      `SELECT ${list(names)} ${rowsOf(table)}${behind} ORDER BY ${list(key)} LIMIT ${mostAtOnce.rows}`,
    );
    page.setReturnArrays(true);
    return page;
  };
  const next = select(` AND (${list(key)}) > (${key.map(() => '?').join(', ')})`);
  const convert = converterOf(table);
  let after: Row | null = null;
  for (;;) {
    const { page, isFull } = pageOf(
      (after === null ? select('').iterate() : next.iterate(...(after as string[]))) as Iterable<Row>,
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map(convert);
    if (!isFull) return;
    after = key.map((name) => last[names.indexOf(name)]);
  }
}

/** One row may be as large as an email. Leaving the loop ends the statement: an engine may crash if it is closed before. */
function pageOf(rows: Iterable<Row>): { page: Row[]; isFull: boolean } {
  const page: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    page.push(row);
    for (const value of row)
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    if (page.length === mostAtOnce.rows || bytes > mostAtOnce.bytes) return { page, isFull: true };
  }
  return { page, isFull: false };
}
