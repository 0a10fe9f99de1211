import type { Mismatch } from './storage/mismatches.js';

export type { Mismatch };

/** Everything that is wrong with the data of a service, which may run. Throws DataError for an older schema. */
export async function verify(
  data: { directory: string } | { database: string; secret: Uint8Array },
): Promise<AsyncIterable<Mismatch>> {
  // Loaded late: a service needs none of it.
  if ('database' in data) {
    const { verifyDatabase } = await import('./storage/postgres/verify.js');
    return verifyDatabase(data.database, data.secret);
  }
  const { verifyFiles } = await import('./storage/sqlite/backup/verify.js');
  return verifyFiles(data.directory);
}
