import type { Outbox } from '../carriers/simulated/outbox.js';
import { openOutboxDatabase, sqliteOutbox } from '../carriers/simulated/sqlite-outbox.js';
import type { Clock } from '../clock.js';
import type { DataError } from '../errors/data-error.js';
import type { Random } from '../random.js';
import type { Report } from '../report.js';
import type { ServiceOptions } from '../service.js';
import { openSqliteStorage } from '../storage/sqlite/sqlite-storage.js';
import type { Storage } from '../storage/storage.js';

/** Everything that a service stores. */
export interface Data {
  storage: Storage;
  /** The simulated operator's, committed separately. */
  outbox: Outbox;
  /** Whether other processes may use the same data. */
  isShared: boolean;
  /** Resolves when a data file is lost or replaced; after that, nothing is read or written. */
  lost: Promise<DataError>;
}

interface Needs {
  clock: Clock;
  random: Random;
  report: Report;
  /** Creates no database: see NoDataError. */
  isExisting: boolean;
}

export function openData(options: ServiceOptions, needs: Needs): Promise<Data> {
  return options.database === undefined ? openFiles(options, needs) : openDatabase(options, needs);
}

async function openFiles({ directory, acceptData = false }: ServiceOptions, needs: Needs): Promise<Data> {
  const storage = await openSqliteStorage({
    directory,
    acceptData,
    ...needs,
    openCarrier: openOutboxDatabase,
  });
  const { carrier, isShared, lost } = storage;
  return { storage, outbox: sqliteOutbox(carrier, needs.clock), isShared, lost };
}

async function openDatabase(options: ServiceOptions, { clock, report, isExisting }: Needs): Promise<Data> {
  const { database: url = '', databaseSchema: schema, secret, directory } = options;
  if (directory !== undefined) throw new TypeError('database and directory cannot be combined');
  if (secret?.length !== 32) throw new TypeError('secret must have 32 bytes');
  // Loaded late: only needed with a database.
  const { openPostgresStorage } = await import('../storage/postgres/postgres-storage.js');
  const { outboxMigrations, postgresOutbox } = await import('../carriers/simulated/postgres-outbox.js');
  const storage = await openPostgresStorage({
    url,
    schema,
    secret,
    clock,
    report,
    isExisting,
    migrations: [outboxMigrations],
    ...(options.clock === undefined ? {} : { now: () => clock.now() }),
  });
  return {
    storage,
    outbox: postgresOutbox(storage.database, report),
    isShared: true,
    lost: new Promise(() => {}),
  };
}
