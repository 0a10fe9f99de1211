import type { Clock } from '../../clock.js';
import type { DataError } from '../../errors/data-error.js';
import type { Random } from '../../random.js';
import { createRateLimiter } from '../rate-limiter.js';
import { createPolledChanges } from '../shared/polled-changes.js';
import { createPseudonyms } from '../shared/secret.js';
import type { Storage } from '../storage.js';
import { admit } from './admission.js';
import type { Database } from './database/database.js';
import { openInstallation } from './installation/open.js';
import { refuseServed } from './installation/served.js';
import { openSqliteBuckets } from './rate-limiter.js';
import { sqliteStore } from './sqlite-store.js';

export interface SqliteStorageOptions {
  /** Folder of the durable data. Without one, everything is in memory. */
  directory: string | undefined;
  /** Opens incomplete data; otherwise it is refused with DataError. */
  acceptData?: boolean;
  /** Leaves data to a running service of an older version: DataError. */
  isExisting?: boolean;
  clock: Clock;
  random: Random;
  /** Called for every unexpected error in the background. */
  report(error: unknown, about?: { level: 'warning' }): void;
  /** Opens the simulated operator's file, which is kept together with the store. */
  openCarrier(path: string): Promise<Database>;
}

export interface SqliteStorage extends Storage {
  /** The file opened by `openCarrier`; the carrier closes it. */
  carrier: Database;
  /** Whether other processes may use the same data. */
  isShared: boolean;
  /** Resolves when a data file is gone or replaced; after that, nothing is read or written. */
  lost: Promise<DataError>;
}

export async function openSqliteStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  const { directory, random, clock, report, isExisting } = options;
  const installation = await openInstallation(directory, random, {
    ...options,
    ...(isExisting && { check: (store: Database) => refuseServed(store, clock) }),
  });
  const { guard, rates, secret, carrier, id } = installation;
  const changes = createPolledChanges(clock);
  const store = sqliteStore(
    installation.store,
    clock,
    changes,
    createPseudonyms(secret),
    guard === null
      ? {}
      : {
          check: () => guard.check(),
          verify: () => guard.verifyCommit(),
          committed: (rows) => guard.committed(rows),
        },
  );
  const shared =
    rates === null ? null : await openSqliteBuckets({ path: rates, installation: id, clock, report });
  const rateLimiter = createRateLimiter(clock, shared);

  return {
    store,
    clock,
    rateLimiter,
    changes,
    instances: store.instances,
    secret,
    admit: (admission) => admit(store, rateLimiter, admission),
    check: store.check,
    async close() {
      changes.close();
      await Promise.all([closeStore(), rateLimiter.close()]);
    },
    carrier,
    isShared: guard !== null,
    lost: guard?.lost ?? new Promise(() => {}),
  };

  async function closeStore(): Promise<void> {
    await store.close();
    await guard?.finish();
    installation.store.close();
  }
}
