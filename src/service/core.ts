import { createAdministration } from './admin/administration.js';
import { defaultProject, openingBalance } from './admin/projects.js';
import { createReset } from './admin/reset.js';
import { checkSettings } from './admin/settings.js';
import type { Carrier } from './carriers/carrier.js';
import { type SimulatedCarrier, simulatedCarrier } from './carriers/simulated/simulated.js';
import { systemClock } from './clock.js';
import type { DataError } from './data-error.js';
import { Delivery } from './dispatch/dispatcher.js';
import { createEncryption } from './encryption.js';
import type { OperationContext, Project } from './operations/context.js';
import { createOperations } from './operations/create-operations.js';
import { hashSecret, newSecret } from './operations/keys.js';
import type { Operations } from './operations/operations.js';
import { OutcomeWaiter } from './operations/outcome-waiter.js';
import { keyTopic, messageTopic } from './operations/outcomes.js';
import { bound, messageAnswer } from './operations/resources.js';
import { idMaker, type Random, seededRandom, systemRandom } from './random.js';
import { createReport, type Report, reportToStderr } from './report.js';
import type { Administration, ServiceOptions } from './service.js';
import { settingsReader } from './settings.js';
import { type Allowances, allowancesOf } from './storage/rate-limiter.js';
import { openInstallation } from './storage/sqlite/installation/open.js';
import { openSqliteBuckets } from './storage/sqlite/rate-limiter.js';
import { sqliteStore } from './storage/sqlite/sqlite-store.js';
import type { Store } from './storage/store.js';

/** Wrappers of parts, for tests of their failures. */
export interface CoreDoubles {
  store?(store: Store): Store;
  carrier?(carrier: SimulatedCarrier): Carrier;
}

/** The service without its HTTP side. */
export interface Core {
  operations: Operations;
  administration: Administration;
  localKey: string;
  report: Report;
  store: Store;
  allowances: Allowances;
  carrier: SimulatedCarrier;
  /** Resolves when a data file is lost or replaced; from then on nothing is read or written. */
  lost: Promise<DataError>;
  close(): Promise<void>;
}

export async function openCore(options: ServiceOptions = {}, doubles: CoreDoubles = {}): Promise<Core> {
  const { clock = systemClock, rates = 'enforced', seed, acceptData = false } = options;
  const settingsOf = settingsReader(checkSettings(options.settings ?? {}));
  const report = createReport(clock, options.report ?? reportToStderr);
  let random: Random = seed === undefined ? systemRandom : seededRandom(seed);
  const installation = await openInstallation(options.directory, random, { acceptData, report });
  const { guard } = installation;
  const opened = sqliteStore(
    installation.store,
    guard === null
      ? {}
      : {
          check: () => guard.check(),
          verify: () => guard.verifyCommit(),
          committed: (rows: number) => guard.committed(rows),
          beforeClose: () => guard.finish(),
        },
  );
  const { rates: path, id } = installation;
  const shared = path === null ? null : await openSqliteBuckets({ path, installation: id, clock, report });
  const allowances = allowancesOf(clock, shared);
  const carrier = simulatedCarrier(installation.carrier, clock);
  const store = doubles.store?.(opened) ?? opened;

  const isNew = await store.createProject({
    ...defaultProject,
    balance: openingBalance,
    createdAt: clock.now(),
  });
  // A seed repeats its ids; over existing data they would clash.
  if (!isNew && seed !== undefined)
    random = seededRandom(`${seed} ${Buffer.from(systemRandom.bytes(8)).toString('hex')}`);

  async function project(id: string): Promise<Project> {
    const record = await store.getProject(id);
    if (record === null) throw new Error(`there is no project ${id}`);
    return { id, name: record.name, settings: settingsOf(record.settings) };
  }

  const outcomes = new OutcomeWaiter(clock);
  const encryption = createEncryption(installation.secret, systemRandom);
  const owner = Buffer.from(systemRandom.bytes(6)).toString('base64url');
  const delivery = new Delivery({
    store,
    carrier: doubles.carrier?.(carrier) ?? carrier,
    clock,
    owner,
    answer: (message, balance) => bound(messageAnswer(message, balance)),
    settingsOf: async (id) => (await project(id)).settings,
    open: encryption.decrypt,
    shared: guard !== null,
    report,
    onSettled({ message }, boundKey) {
      if (message.batchId === null) outcomes.notify(messageTopic(message.id));
      if (boundKey !== null) outcomes.notify(keyTopic(message.projectId, boundKey));
    },
  });
  const localKey = newSecret(systemRandom);
  const context: OperationContext = {
    store,
    allowances,
    clock,
    random,
    newId: idMaker(() => clock.now(), random),
    encryption,
    dispatcher: delivery,
    outcomes,
    project,
    rates,
    localKey: { hash: hashSecret(localKey), projectId: defaultProject.id },
  };
  const operations = createOperations(context);
  const reset = createReset({ store, carrier, allowances, delivery, outcomes, clock, owner, report });
  delivery.start();

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await reset.ended();
    const stopped = delivery.stop();
    carrier.pause();
    await stopped;
    outcomes.close();
    // What is committed stays in its -wal.
    const carrierClosed = carrier.close().catch((error) => report(error, { level: 'warning' }));
    await Promise.all([store.close(), allowances.close(), carrierClosed]);
  }

  return {
    operations,
    administration: createAdministration(context, carrier, reset.run),
    localKey,
    report,
    store,
    allowances,
    carrier,
    lost: guard?.lost ?? new Promise(() => {}),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
