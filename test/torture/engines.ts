import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, withCluster } from './cluster/own-cluster.js';

export const engines = ['SQLite', 'PostgreSQL'] as const;
export type Engine = (typeof engines)[number];

/** Plays where data is kept in an engine; `newData` gives a folder, or an empty database, each time another one. */
export async function withEngine<Result>(
  engine: Engine,
  play: (newData: () => Promise<string>) => Promise<Result>,
): Promise<Result> {
  let made = 0;
  if (engine === 'PostgreSQL')
    return withCluster(({ url }) =>
      play(() => {
        made += 1;
        return createDatabase(url, `urtuu_${made}`);
      }),
    );
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-torture-'));
  try {
    return await play(async () => {
      made += 1;
      return join(folder, `service-${made}`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
