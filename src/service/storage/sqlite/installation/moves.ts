import { dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import type { Database } from '../database/database.js';
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

/** Throws DataError if the data is being moved, or was: its only owner is then not this folder. */
export function refuseMoved(store: Database, files: DataFiles): void {
  const move = readMove(store);
  if (move === null) return;
  const folder = dirname(files.store);
  const { database, secretFile, state } = move;
  if (state !== 'moving') {
    throw new DataError(`the data in ${folder} was moved to ${database}`, {
      hint: `Set URTUU_SECRET_FILE to ${secretFile}, and serve it from there: \`urtuu serve --database '${database}'\``,
    });
  }
  throw new DataError(`the data in ${folder} is being moved to ${database}`, {
    hint: `Go on, or add --abandon to give the move up: ${moveLine(folder, move)}`,
  });
}

/** The command that continues a move of the data in a folder. */
export const moveLine = (folder: string, { database, secretFile }: Pick<Move, 'database' | 'secretFile'>) =>
  `\`urtuu service move --data '${folder}' --database '${database}' --secret-file '${secretFile}'\``;
