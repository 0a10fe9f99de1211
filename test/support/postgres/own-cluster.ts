import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Cluster, makeCluster } from './cluster.js';

/** A cluster that ends with its test. `more` goes to its settings. */
export async function ownCluster(more = ''): Promise<{ cluster: Cluster; folder: string; url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-cluster-'));
  const cluster = await makeCluster(folder, undefined, more);
  onTestFinished(async () => {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  });
  return { cluster, folder, url: `${cluster.url}/postgres` };
}
