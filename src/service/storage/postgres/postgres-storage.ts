import type { Clock } from '../../clock.js';
import { systemRandom } from '../../random.js';
import type { Topic } from '../changes.js';
import { createPolledChanges } from '../shared/polled-changes.js';
import { createPseudonyms } from '../shared/secret.js';
import { createInstances } from '../sql/instances.js';
import type { Storage } from '../storage.js';
import { createAdmission } from './admission.js';
import { Connections } from './database/connections.js';
import { type Database, databaseOn } from './database/database.js';
import { StatementError } from './database/failure.js';
import { checkSchema, type Migrations, migrate, older } from './database/migrate.js';
import { postgresSql } from './database/sql.js';
import { DatabaseClock } from './database-clock.js';
import { bind, checkSecret } from './installation.js';
import { createLost } from './lost-commits.js';
import { createNotifications, createTopicNames } from './notifications.js';
import { postgresStore } from './postgres-store.js';
import { migrations } from './schema/migrations.js';

export interface PostgresStorageOptions {
  /** `postgres://user@host/database` */
  url: string;
  /** The schema of the service in it; without one, the only one with a service, or a new one. */
  schema?: string | undefined;
  /** 32 bytes that are not in the database. */
  secret: Uint8Array;
  clock: Clock;
  /** Replaces the database's time in what is stored; for tests that travel in time. */
  now?: () => number;
  /** For data that is stored together with the store's. */
  migrations?: readonly Migrations[];
  /** Creates nothing: refuses a database without a service. */
  isExisting?: boolean;
  /** Called for every unexpected error in the background. */
  report(error: unknown, about?: { level: 'warning' }): void;
}

export interface PostgresStorage extends Storage {
  /** For data that is stored together with the store's. */
  database: Database;
}

/**
 * What a send needs after its admission, with the rights for it: an acceptance of nothing, whose commit waits for a
 * standby where a send's does. A lock is written, and waits for the lock of a commit that waits.
 */
const probe = `SELECT pg_catalog.set_config('synchronous_commit'::text, 'on'::text, true),
  :s.can_accept_all_1(nothing, 0::bigint), ARRAY(SELECT a.seq FROM :s.store_accepted_1(nothing, 0::bigint) a)
  FROM (SELECT CAST(ARRAY[] AS :s.acceptance_1[]) AS nothing) one CROSS JOIN :s.installation FOR NO KEY UPDATE OF installation`;

/** Connections of one instance: for work that callers wait for, and for the quick statements before requests. */
const sizes = { store: 8, admission: 2, notifications: 1 };

export async function openPostgresStorage(options: PostgresStorageOptions): Promise<PostgresStorage> {
  const { url, secret, clock, now, report } = options;
  const prepare = options.isExisting ? checkSchema : migrate;
  const allMigrations = [migrations, ...(options.migrations ?? [])];
  const schema = await prepare(options, allMigrations, {
    warn: (warning) => report(warning, { level: 'warning' }),
    clock,
    ...(now && { now }),
  });
  let connectedAt = clock.monotonic();
  const admissions: Connections = new Connections({
    url,
    size: sizes.admission,
    report,
    onShort: () => {
      if (!admissions.isConnected) pools.store.spare();
    },
  });
  const pools = {
    admissions,
    store: new Connections({
      url,
      size: sizes.store,
      after: admissions,
      report,
      onConnected: () => {
        connectedAt = clock.monotonic();
      },
    }),
    notifications: new Connections({ url, size: sizes.notifications, after: admissions, report }),
  };
  const databaseOf = (connections: Connections) =>
    databaseOn(connections, schema, now ?? (() => null), () => clock.monotonic() - connectedAt, report);
  const database = databaseOf(pools.store);
  const beforeRequests = databaseOf(admissions);
  const changes = createPolledChanges(clock);
  const nameOf = createTopicNames(secret);
  const wake = (topic: Topic) => (topic === 'reset' ? changes.tellAll() : changes.tell(topic));
  const notifications = createNotifications(url, schema, pools.notifications, wake);
  const lost = createLost(database, report);
  let time: DatabaseClock | null = null;
  const { admit, rateLimiter } = createAdmission(beforeRequests, clock, report, (at, since) =>
    time?.observe(at, since),
  );
  const sql = postgresSql(database, lost);
  const store = postgresStore(
    database,
    sql,
    lost,
    (topics) => {
      const names = topics.map(nameOf);
      for (const name of names) wake(name);
      notifications.tell(names);
    },
    createPseudonyms(secret),
    () => (time ?? clock).now(),
    report,
  );

  async function close(): Promise<void> {
    changes.close();
    lost.close();
    notifications.close();
    for (const connections of Object.values(pools)) connections.close();
  }

  try {
    if (options.isExisting) await checkSecret(database, secret);
    else {
      await beforeRequests.attempt('SELECT 1', []);
      await bind(database, secret, systemRandom);
    }
    if (now === undefined) time = await clockOf(database, clock);
  } catch (error) {
    await close();
    // Whoever starts an instance sees the reason, not that it may be tried again.
    throw error instanceof StatementError ? error.cause : error;
  }
  void notifications.listen();
  const instances = createInstances(sql);

  async function check(): Promise<void> {
    for (const { table, steps } of allMigrations) {
      const [row] = await database.query<{ version: number }>(`SELECT version FROM :s.${table}`);
      // A newer one keeps the functions of the previous version.
      if ((row?.version ?? 0) < steps.length) throw older();
    }
    await rateLimiter.take('', 'readiness', { interval: 1, burst: 1 });
    await database.query(probe);
  }

  return {
    store,
    clock: time ?? clock,
    rateLimiter,
    changes: { subscribe: (topic, listener) => changes.subscribe(nameOf(topic), listener) },
    instances,
    secret,
    admit,
    check,
    close,
    database,
  };
}

async function clockOf(database: Database, clock: Clock): Promise<DatabaseClock> {
  const since = clock.monotonic();
  const [row] = await database.query<{ at: number }>('SELECT :s.time_1(NULL::bigint) AS at');
  return new DatabaseClock(clock, row?.at ?? clock.now(), since);
}
