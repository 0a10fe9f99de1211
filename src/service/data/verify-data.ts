import { actAs, asOwner, type Owner, otherOwnerOf } from '../as-owner.js';
import type { Mismatch } from '../storage/checks/mismatches.js';

export type { Mismatch };

/**
 * Lists everything that is wrong with the data of a service, which may be running. Throws DataError for an older or
 * newer schema.
 */
export async function verify(
  data: { directory: string } | { database: string; databaseSchema?: string | undefined; secret: Uint8Array },
): Promise<AsyncIterable<Mismatch>> {
  // Loaded late: a service does not need it.
  if ('database' in data) {
    const { verifyDatabase } = await import('../storage/postgres/verify.js');
    const { outboxMigrations } = await import('../carriers/simulated/postgres-outbox.js');
    return verifyDatabase({ url: data.database, schema: data.databaseSchema }, data.secret, outboxMigrations);
  }
  const { verifyFiles } = await import('../storage/sqlite/backup/verify.js');
  const { outboxMigrations } = await import('../carriers/simulated/sqlite-outbox.js');
  const owner = otherOwnerOf(data.directory);
  const found = await asOwner(owner, () => verifyFiles(data.directory, outboxMigrations));
  return owner === null ? found : readAs(owner, found);
}

async function* readAs(owner: Owner, mismatches: AsyncIterable<Mismatch>): AsyncGenerator<Mismatch> {
  const back = actAs(owner);
  try {
    yield* mismatches;
  } finally {
    back();
  }
}
