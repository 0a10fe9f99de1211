import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeCluster } from './cluster.js';
import { once, sharedFolder } from './once.js';

/** Nothing is kept, and nobody follows. */
const quick = 'wal_level = minimal\nmax_wal_senders = 0\nautovacuum = off\njit = off\nmax_wal_size = 4GB\n';

/** The address of the run's PostgreSQL, without a database; the first test that asks starts it. */
export async function sharedUrl(): Promise<string> {
  const given = process.env.URTUU_TEST_POSTGRES_URL;
  if (given !== undefined) return given.replace(/\/$/, '');
  const folder = process.env[sharedFolder];
  if (folder === undefined) throw new Error('the global set-up of the tests did not run');
  return once(folder, 'cluster', async () => (await makeCluster(folder, undefined, quick)).url);
}

/** Stops the cluster where one was started; nothing of it is kept. */
export async function stopShared(folder: string): Promise<void> {
  const pidFile = join(folder, 'data/postmaster.pid');
  if (!existsSync(pidFile)) return;
  process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGQUIT');
  for (let tries = 0; tries < 100 && existsSync(pidFile); tries += 1) await pause(50);
}
