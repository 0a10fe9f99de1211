import { dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import type { Database } from '../database/database.js';
import type { Engine } from '../database/engine.js';
import type { DataFiles } from './folder.js';

/** A move of the folder to a database. */
export interface Move {
  /** Random; the same in the database. */
  target: string;
  /** Its URL without a password. */
  database: string;
  /** Where the secret was written. */
  secretFile: string;
  state: MoveState;
}

/**
 * `moved`: the database has everything, and nobody serves the folder any more. `opened`: the database can be served; a
 * mark of an earlier release stays `moved`.
 */
export type MoveState = 'moving' | 'moved' | 'opened';

interface Row {
  target: string;
  database: string;
  secret_file: string;
  is_done: number;
  is_opened: number;
}

export function readMove(store: Database): Move | null {
  const row = store.prepare('SELECT * FROM moves').get() as Row | undefined;
  if (row === undefined) return null;
  const { target, database, secret_file: secretFile, is_done, is_opened } = row;
  const state = is_opened === 1 ? 'opened' : is_done === 1 ? 'moved' : 'moving';
  return { target, database, secretFile, state };
}

/**
 * Whether there is a row. It prepares nothing: on Node.js 20 a connection stays open while it has statements, and the
 * caller goes on with the file.
 */
export function isMarked(store: Pick<InstanceType<Engine['DatabaseSync']>, 'exec' | 'function'>): boolean {
  let rows = 0;
  store.function('count_row', () => {
    rows += 1;
    return null;
  });
  // A release before there were moves has no such table.
  store.exec("SELECT count_row() FROM sqlite_schema WHERE name = 'moves'");
  if (rows === 0) return false;
  rows = 0;
  store.exec('SELECT count_row() FROM moves');
  return rows > 0;
}

/** Throws DataError if the data is being moved, or was: its only owner is then not this folder. */
export function refuseMoved(store: Database, files: DataFiles): void {
  const move = readMove(store);
  if (move === null) return;
  const folder = dirname(files.store);
  const { database, secretFile } = move;
  throw movedError(folder, move, {
    moving: `Run it again, or add --abandon to give the move up: ${moveLine(folder, move)}`,
    moved: `The database may not be open yet. Finish the move: ${moveLine(folder, move)}`,
    opened: `Set URTUU_SECRET_FILE to ${secretFile}, and serve it from there: \`urtuu serve --database ${quoted(database)}\``,
  });
}

/** Throws DataError if it is moved: a copy has no mark, and could be served beside the database. */
export function refuseCopy(store: Database, files: DataFiles): void {
  const move = readMove(store);
  if (move === null) return;
  const folder = dirname(files.store);
  throw movedError(folder, move, {
    moving: `Nothing was copied. Run it again, or add --abandon to give the move up: ${moveLine(folder, move)}`,
    moved: `Nothing was copied. Back that database up with pg_dump, and the secret in ${move.secretFile}.`,
  });
}

/** The refusal of a restore over a folder with a mark, which would be lost. */
export function replacingError(store: Database, files: DataFiles): DataError {
  const folder = dirname(files.store);
  const move = readMove(store) as Move;
  return movedError(folder, move, {
    moving: `Restore into another folder with --data; or go on, or add --abandon to give the move up: ${moveLine(folder, move)}`,
    moved: 'Nothing was changed. Serve the database, or restore into another folder with --data.',
  });
}

/** `opened`: the hint for `moved`, unless given. */
function movedError(
  folder: string,
  { database, state }: Move,
  hints: Readonly<Record<'moving' | 'moved', string> & { opened?: string }>,
): DataError {
  const what = state === 'moving' ? 'is being moved' : 'was moved';
  const hint = hints[state] ?? hints.moved;
  return new DataError(`the data in ${folder} ${what} to ${database}`, { hint });
}

/** The command that continues a move of the data in a folder. */
export const moveLine = (folder: string, { database, secretFile }: Move) =>
  `\`urtuu service move --data ${quoted(folder)} --database ${quoted(database)} --secret-file ${quoted(secretFile)}\``;

/** A word of a command in backticks; its own quotes are doubled. */
const quoted = (word: string) => `'${word.replaceAll("'", "''")}'`;
