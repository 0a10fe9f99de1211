import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { Engine } from './engine.js';
import { makePrivate } from './private-files.js';

/** Copies the last commit of an SQLite file, beside processes that use it. On disk when it returns, or not there. */
export function copyDatabase(from: string, to: string, engine: Engine): void {
  rmSync(to, { force: true });
  makePrivate(to);
  // Read-only: as the last connection to close, it leaves the -wal as it is.
  const source = new engine.DatabaseSync(from, { timeout: 0, readOnly: true });
  try {
    // Not prepared: on Node.js 20 a connection stays open for as long as it has statements.
    source.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    source.close();
  }
  syncFile(to);
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
