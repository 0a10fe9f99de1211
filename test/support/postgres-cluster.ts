import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedFolder } from './postgres/once.js';
import { stopShared } from './postgres/shared.js';

/** Gives a run the folder of its PostgreSQL, which starts with the first test that needs it, and stops it. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-postgres-'));
  // PostgreSQL runs as another user than root.
  chmodSync(folder, 0o755);
  process.env[sharedFolder] = folder;
  return async () => {
    await stopShared(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
