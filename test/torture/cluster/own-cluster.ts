import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, makeCluster } from '../../support/postgres/cluster.js';
import { query } from '../../support/postgres.js';

/** A PostgreSQL for one game, which may stop and terminate it. */
export async function withCluster<Result>(play: (cluster: Cluster) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-cluster-'));
  let cluster: Cluster | undefined;
  try {
    cluster = await makeCluster(folder);
    return await play(cluster);
  } finally {
    await cluster?.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function createDatabase(url: string, name: string): Promise<string> {
  await query(`${url}/postgres`, `CREATE DATABASE ${name}`);
  return `${url}/${name}`;
}
