import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startShared, stopShared } from './postgres/shared.js';

/** Gives a run the folder of its PostgreSQL, which starts with the first test that needs it, and stops it. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-postgres-'));
  process.env[startShared] = folder;
  return async () => {
    await stopShared(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
