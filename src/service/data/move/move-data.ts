import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { asOwnerNow, otherOwnerOf } from '../../as-owner.js';
import { outboxMigrations } from '../../carriers/simulated/postgres-outbox.js';
import { DataError } from '../../errors/data-error.js';
import { verifyDatabase } from '../../storage/postgres/verify.js';
import { syncFolder } from '../../storage/sqlite/installation/folder.js';
import { type Move, moveLine } from '../../storage/sqlite/installation/moves.js';
import { makeSecret, readSecret } from '../../storage/sqlite/installation/secret.js';
import { movedTables } from './mapping.js';
import { type Row, summing } from './rows.js';
import { openSource, type Source } from './source.js';
import { failing, occupied, openTarget, type Target, type TargetState, taken } from './target.js';

export interface MovePlaces {
  directory: string;
  /** With the password, if it has one. */
  url: string;
  /** The URL without its password. */
  database: string;
  /** The schema of the service in it; without one, the only one with a service, or a new one. */
  databaseSchema?: string | undefined;
}

export interface MoveOptions extends MovePlaces {
  /** A new file, or one that already has the folder's secret. */
  secretFile: string;
  onProgress?(step: 'copy' | 'verify', rows: number, total: number): void;
  /** Milliseconds that a statement may take, for tests. */
  patience?: number;
  /** Called at each mark, for tests that stop there. */
  at?(mark: MoveMark): void;
}

export const moveMarks = [
  'secret',
  'folder',
  'database',
  'rows',
  'copied',
  'verified',
  'moved',
  'opened',
  'ended',
] as const;
export type MoveMark = (typeof moveMarks)[number];

export interface Moved {
  /** False if an earlier move had finished. */
  isNew: boolean;
  tables: number;
  rows: number;
  /** Of all tables, the same on both sides; null if an earlier move had finished. */
  digest: string | null;
}

/**
 * Moves everything in a folder into an empty database. At any time only one of the two can be served, or neither: the
 * folder is marked before anything is written to the database, and marked as moved before the database opens. Both
 * contain the same random target, so no other database opens for this folder. Once it has opened, the folder is marked
 * again: a database that was put back to an earlier time would otherwise open twice. It can be interrupted at any point,
 * and starts over if it is called again.
 */
export async function moveData(options: MoveOptions): Promise<Moved> {
  const source = await openSource(options.directory);
  try {
    const target = await openTarget(placeOf(options), options.patience);
    try {
      return await moveInto(source, target, options);
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

const placeOf = ({ url, databaseSchema: schema }: MovePlaces) => ({ url, schema });

async function moveInto(source: Source, target: Target, options: MoveOptions): Promise<Moved> {
  const { at = () => {}, onProgress = () => {} } = options;
  const before = source.move();
  const state = await target.state(before?.target ?? null);
  if (before !== null && before.state !== 'moving' && state?.id === source.id && !state.isFilling) {
    source.mark('opened');
    writeSecret(source, options.secretFile);
    return { isNew: false, tables: movedTables.length, rows: 0, digest: null };
  }
  await startOver(source, target, state, options);
  writeSecret(source, options.secretFile);
  at('secret');
  const name = await begin(source, target, options);
  at('database');

  const counts = movedTables.map((table) => source.count(table));
  const total = counts.reduce((sum, count) => sum + count, 0);
  for (const table of movedTables) {
    for (const page of source.pages(table)) {
      await target.add(name, table, page);
      onProgress('copy', page.length, total);
      at('rows');
    }
  }
  at('copied');
  const digest = await verify(source, target, (rows) => onProgress('verify', rows, total));
  await failing(checkDatabase(placeOf(options), source.secret));
  await target.prepare(name);
  at('verified');
  source.mark('moved');
  at('moved');
  await target.open(name, source.hold());
  at('opened');
  source.mark('opened');
  at('ended');
  return { isNew: true, tables: movedTables.length, rows: total, digest };
}

/** Throws DataError for the first thing that is wrong. */
async function checkDatabase(place: ReturnType<typeof placeOf>, secret: Uint8Array): Promise<void> {
  for await (const { check, subject, problem } of verifyDatabase(place, secret, outboxMigrations)) {
    throw new DataError(`the data does not add up: ${check} ${subject}: ${problem}`, {
      hint: `Nobody serves it yet. Give the move up with --abandon, then see: \`urtuu service verify\``,
    });
  }
}

/**
 * Throws DataError unless the database is empty, and the one of the folder's move, if there is one: the database that a
 * folder is moved to may be served, so no other one takes its place.
 */
async function checkFree(
  source: Source,
  target: Target,
  state: TargetState | null,
  { directory, database }: MovePlaces,
): Promise<void> {
  const move = source.move();
  if (move !== null && move.database !== database) {
    throw new DataError(`the data in ${directory} is being moved to ${move.database}`, {
      hint: `Nothing was changed. Move to that database, or add --abandon to give the move up; if it is gone, create it again first: ${moveLine(directory, move)}`,
    });
  }
  if (state !== null) throw occupied(source, state, database);
  const filled = await target.someRow();
  if (filled === null) return;
  throw new DataError(`the database is not empty: there are rows in ${filled}`, {
    hint: 'Create a new database. Nothing was changed.',
  });
}

/**
 * Empties the database if an earlier move has begun to fill it. Throws DataError for any other one, unless it is empty and
 * has the address of the one that is gone; and if the database may have opened.
 */
async function startOver(
  source: Source,
  target: Target,
  state: TargetState | null,
  places: MovePlaces,
): Promise<void> {
  const move = source.move();
  if (move !== null && move.state !== 'moving') checkUnopened(move, state, places);
  // If it ends before the last step, the empty database can be filled, or given up, too. Not marked before nothing can
  // open the database: what an interrupted process has asked of it may still be done.
  const onUnopened = () => source.mark('moving');
  if (move === null || !state?.isOwn) await checkFree(source, target, state, places);
  else if (!(await target.abandon(move.target, onUnopened))) throw taken();
}

/** Marks the folder, then the database. */
async function begin(source: Source, target: Target, options: MoveOptions): Promise<string> {
  const { database, secretFile, at = () => {} } = options;
  const before = source.move();
  const name = randomBytes(16).toString('hex');
  source.begin({ target: name, database, secretFile });
  at('folder');
  if (await target.begin(name, source.id, source.fingerprint())) return name;
  // A service has just started in it.
  if (before === null) source.abandon();
  throw new DataError('another process has just taken the database', {
    hint: 'Stop what uses it, and create a new database.',
  });
}

/** Abandons a move, and allows the folder to be served again; see `startOver`. False if there is no move. */
export async function abandonMove(places: MovePlaces): Promise<boolean> {
  const { directory } = places;
  const source = await openSource(directory);
  try {
    const move = source.move();
    if (move === null) return false;
    const target = await openTarget(placeOf(places));
    try {
      await startOver(source, target, await target.state(move.target), places);
    } finally {
      target.close();
    }
    source.abandon();
    return true;
  } finally {
    source.close();
  }
}

/** Throws if a table differs; returns a digest of all tables. */
async function verify(source: Source, target: Target, onRows: (count: number) => void): Promise<string> {
  const all = summing();
  for (const table of movedTables) {
    const sum = summing();
    const there = await target.sum(table, countsOf(source.pages(table), sum.add), onRows);
    const here = sum.end();
    if (here.rows !== there.rows || here.digest !== there.digest) {
      throw new DataError(
        `the table ${table.to} differs from the folder: ${there.rows} rows in the database, ${here.rows} in the folder`,
        { hint: 'Nobody serves it yet. Give the move up with --abandon, and move again.' },
      );
    }
    all.add([table.to, here.rows, here.digest]);
  }
  return all.end().digest;
}

/** Of the rows of each page, which as many rows of the database are equal to. */
function* countsOf(pages: Iterable<Row[]>, add: (row: Row) => void): Generator<number> {
  for (const page of pages) {
    page.forEach(add);
    yield page.length;
  }
}

/** A folder that is marked already names the file from then on. */
function writeSecret(source: Source, path: string): void {
  let written: Uint8Array | null;
  try {
    written = asOwnerNow(otherOwnerOf(dirname(path)), () => {
      makeSecret(path, source.secret);
      syncFolder(dirname(path));
      return readSecret(path);
    });
  } catch (error) {
    throw new DataError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`, {
      hint: 'Name a new file in an existing folder with --secret-file. Nothing was moved.',
    });
  }
  if (written !== null && Buffer.compare(written, source.secret) === 0) {
    const named = source.move()?.secretFile ?? path;
    if (named !== path) source.nameSecretFile(path);
    return;
  }
  throw new DataError(`${path} is there already, and is not the secret of the data`, {
    hint: 'Name a new file. Nothing was moved.',
  });
}

/** For a folder that is marked as moved: throws DataError unless the database is still the one that this move fills. */
function checkUnopened(
  { database, state }: Move,
  found: TargetState | null,
  { directory }: MovePlaces,
): void {
  if (!found?.isOwn) {
    throw new DataError(`the data in ${directory} was moved to ${database}`, {
      hint: 'The database may have been served since. If it is lost, restore a backup of it, or one of the folder from before into another folder. Nothing was changed.',
    });
  }
  if (state !== 'opened') return;
  throw new DataError(`${database} was put back to a time before the move ended`, {
    hint: 'What was sent since would be sent again. Restore a newer backup of it. Nothing was changed.',
  });
}
