import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Cluster, makeCluster } from '../../support/postgres/cluster.js';

/** A PostgreSQL for one game, which may stop and terminate it. */
export async function withCluster<Result>(play: (cluster: Cluster) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-cluster-'));
  const cluster = await makeCluster(folder);
  try {
    return await play(cluster);
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one statement on a connection of its own. */
export async function ask<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  // Its backend may be terminated too.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end().catch(() => {});
  }
}

export async function createDatabase(url: string, name: string): Promise<string> {
  await ask(`${url}/postgres`, `CREATE DATABASE ${name}`);
  return `${url}/${name}`;
}
