import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { Database } from './database.js';
import type { Engine } from './engine.js';
import { makePrivate } from './private-files.js';

/**
 * Copies the last commit of an SQLite file, beside processes that use it. It is on disk when this returns, or does
 * not exist.
 */
export function copyDatabase(from: string, to: string, engine: Engine): void {
  // Read-only: if it is the last connection to close, it leaves the -wal unchanged.
  const source = new engine.DatabaseSync(from, { timeout: 0, readOnly: true });
  try {
    copyInto(source, to);
  } finally {
    source.close();
  }
}

/** The same over a connection, which is in no transaction. */
export function copyInto(source: Pick<Database, 'exec'>, to: string): void {
  rmSync(to, { force: true });
  makePrivate(to);
  try {
    // Not prepared: on Node.js 20 a connection stays open while it has statements.
    source.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
  syncFile(to);
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
