import { createAdministration } from './admin/create-administration.js';
import { checkedSettings, noSandbox } from './admin/options.js';
import { type ProjectOutbox, projectOutbox } from './admin/project-outbox.js';
import { defaultProject, openingBalance } from './admin/projects.js';
import { createPrune } from './admin/prune.js';
import { createReset } from './admin/reset.js';
import { Retention } from './admin/retention.js';
import type { Administration } from './administration.js';
import type { Carrier, Taken } from './carriers/carrier.js';
import { leavesMachine, secretsOf } from './carriers/configured/configuration.js';
import { configurationOf, openCarriers } from './carriers/configured/open-carriers.js';
import { type SimulatedCarrier, simulatedCarrier } from './carriers/simulated/simulated.js';
import { type Clock, systemClock } from './clock.js';
import { openData } from './data/open-data.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { createEncryption, deriveKey } from './encryption.js';
import type { DataError } from './errors/data-error.js';
import { countedStore } from './heartbeat/counted-store.js';
import { Heartbeat } from './heartbeat/heartbeat.js';
import { smsReceiver } from './inbox/receive-sms.js';
import { emailRulesOf, unsubscribeTokens } from './inbox/unsubscribe-token.js';
import type { OperationContext } from './operations/context.js';
import { createOperations } from './operations/create-operations.js';
import { EventWaits } from './operations/events/event-waits.js';
import { KeyUse } from './operations/key-use.js';
import { hashSecret, newSecret } from './operations/keys.js';
import type { Operations } from './operations/operations.js';
import { OutcomeWaiter } from './operations/outcome-waiter.js';
import { bound, messageAnswer } from './operations/resources.js';
import { VerificationLimits } from './operations/verification-limits.js';
import { idMaker, type Random, seededRandom, systemRandom } from './random.js';
import { createReport, type Report, reportToStderr } from './report.js';
import type { Service, ServiceOptions } from './service.js';
import { settingsReader } from './settings.js';
import type { Ended } from './storage/instances.js';
import type { Storage } from './storage/storage.js';
import type { Store } from './storage/store.js';

/** Wrappers of parts, for tests of their failures and for metrics. */
export interface CoreDoubles {
  store?(store: Store): Store;
  carrier?(carrier: SimulatedCarrier): Carrier;
  /** Of all carriers. */
  carriers?(carriers: readonly Carrier[]): readonly Carrier[];
  admit?(admit: Storage['admit']): Storage['admit'];
  /** Receipts and messages of a lane that changed nothing, by reason. */
  unreadOf?(lane: string): Readonly<Record<string, number>>;
  /** Called for finished messages that this service counts. */
  onEnded?(ended: readonly Ended[]): void;
  /** The process clock, if the engine keeps its own time. */
  clock?: Clock;
  /** How long a process holds messages if nobody can tell whether it has died. */
  leaseMs?: number;
}

/** The service without its HTTP side. */
export interface Core {
  context: OperationContext;
  operations: Operations;
  administration: Administration;
  localKey: string;
  report: Report;
  /** With the doubles. */
  store: Store;
  storage: Storage;
  carrier: SimulatedCarrier;
  /** Whether the data was ever served with a real carrier. */
  isReal: boolean;
  outbox: ProjectOutbox;
  channels: Service['channels'];
  heartbeat: Heartbeat;
  retention: Retention;
  /** Of links in emails. */
  tokens: ReturnType<typeof unsubscribeTokens>;
  /** Accepts requests from carriers; null if none sends any. */
  take: NonNullable<Carrier['take']> | null;
  /** Resolves when a data file is lost or replaced; after that, nothing is read or written. */
  lost: Promise<DataError>;
  /** Answers calls that wait for events, now and from now on. */
  endWaits(): void;
  /** From now on messages of batches are left to other instances, or to the next start. */
  drain(): void;
  close(): Promise<void>;
}

/** `forOwner`: opens existing data beside a running service; creates nothing and dispatches nothing. */
export async function openCore(
  options: ServiceOptions = {},
  doubles: CoreDoubles = {},
  { forOwner = false } = {},
): Promise<Core> {
  const { rates = 'enforced', seed, sandboxKey } = options;
  const processClock = doubles.clock ?? options.clock ?? systemClock;
  const configuration =
    options.configuration === undefined ? undefined : await configurationOf(options.configuration);
  const settings = await checkedSettings(options.settings ?? null);
  const report = createReport(processClock, options.report ?? reportToStderr);
  let random: Random = seed === undefined ? systemRandom : seededRandom(seed);
  const { storage, outbox, isShared, lost } = await openData(options, {
    clock: processClock,
    random,
    report,
    isExisting: forOwner,
  });
  const { rateLimiter, clock } = storage;
  const onEnded = doubles.onEnded ?? (() => {});
  const store = countedStore(doubles.store?.(storage.store) ?? storage.store, (ended) => {
    if (forOwner) return leaveEnded(ended);
    heartbeat.count(ended);
    onEnded(ended);
  });
  const bounceKey = deriveKey(storage.secret, 'bounce addresses');
  const tokens = unsubscribeTokens(storage.secret);
  const owner = Buffer.from(systemRandom.bytes(6)).toString('base64url');
  const giveUp = async (error: unknown): Promise<never> => {
    await Promise.all([storage.close(), outbox.close()]);
    throw error;
  };
  const opened = await openAll().catch(giveUp);
  const { carrier, carriers, isReal, receive } = opened;
  const { operators } = carriers;
  const settingsOf = settingsReader({
    ...settings,
    ...(operators === null ? {} : { operators, no_link_operators: [] }),
  });

  const firstProject = { ...defaultProject, balance: openingBalance };
  const isNew = !forOwner && (await store.createProject(firstProject).catch(giveUp)) !== null;
  // A seed repeats its ids, which would clash with existing data.
  if (!isNew && seed !== undefined)
    random = seededRandom(`${seed} ${Buffer.from(systemRandom.bytes(8)).toString('hex')}`);

  const readProject: OperationContext['readProject'] = ({ id, name, settings }) => {
    return { id, name, settings: settingsOf(settings) };
  };
  const project: OperationContext['project'] = async ({ projectId, project }) => {
    if (project !== undefined) return project;
    const record = await store.getProject(projectId);
    if (record === null) throw new Error(`there is no project ${projectId}`);
    return readProject(record);
  };

  const outcomes = new OutcomeWaiter(clock, storage.changes);
  const eventWaits = new EventWaits(store, clock);
  const encryption = createEncryption(storage.secret, systemRandom);
  const served = doubles.carriers?.(carriers.carriers) ?? carriers.carriers;
  const heartbeat = new Heartbeat({
    instances: storage.instances,
    carriers: served,
    troublesOf: (lane) => dispatcher.lanes.get(lane)?.listTroubles() ?? [],
    unreadOf: (lane) => doubles.unreadOf?.(lane) ?? {},
    clock,
    owner,
    isForOthers: options.database !== undefined,
    onTaken: onEnded,
    report,
  });
  const dispatcher: Dispatcher = new Dispatcher({
    store,
    changes: storage.changes,
    carriers: served,
    routesOf: carriers.routesOf,
    clock,
    owner,
    answer: (message, balance) => bound(messageAnswer(message, balance)),
    rulesOf: async (id) => emailRulesOf(await project({ projectId: id }), tokens, store),
    encrypt: encryption.encrypt,
    decrypt: encryption.decrypt,
    receive,
    isShared,
    secrets: configuration === undefined ? [] : secretsOf(configuration),
    report,
    ...(doubles.leaseMs === undefined ? {} : { leaseMs: doubles.leaseMs }),
  });
  const localKey = newSecret(systemRandom);
  const newId = idMaker(() => clock.now(), random);
  const keyUse = new KeyUse(store, clock, report);
  const verificationLimits = new VerificationLimits(store, clock, report);
  const context: OperationContext = {
    verificationLimits,
    store,
    admit: doubles.admit?.(storage.admit) ?? storage.admit,
    clock,
    random,
    newId,
    encryption,
    dispatcher,
    outcomes,
    eventWaits,
    keyUse,
    isConnectedElsewhere: (lane) => heartbeat.isConnectedElsewhere(lane),
    closed: carriers.closed,
    project,
    readProject,
    rates,
    ownKeys: [
      { id: 'local', hash: hashSecret(localKey) },
      ...(sandboxKey === undefined ? [] : [{ id: 'sandbox' as const, hash: hashSecret(sandboxKey) }]),
    ],
    ownProject: defaultProject.id,
    isSimulated: async () => !isReal && (await store.recordLanes([])).length === 0,
  };
  const operations = createOperations(context);
  const reset = createReset({
    store,
    carrier,
    rateLimiter,
    dispatcher: forOwner ? { start: async () => {}, stop: async () => {} } : dispatcher,
    clock,
    owner,
    report,
  });
  const { prune, ...pruning } = createPrune(context, carrier.outbox);
  const retention = new Retention({ store, prune: pruning, readProject, clock, report });
  if (!forOwner) {
    await dispatcher.start();
    void heartbeat.begin(null);
  }

  /** For the figures of some instance: this process is not one. */
  async function leaveEnded(ended: readonly Ended[]): Promise<void> {
    await storage.instances.leaveEnded(ended).catch((error) => report(error, { level: 'warning' }));
  }

  /** Nothing real starts before it is recorded. */
  async function openAll() {
    const before = await store.recordLanes([]);
    const isReal = before.length > 0 || (configuration !== undefined && leavesMachine(configuration));
    if (isReal && sandboxKey !== undefined) throw noSandbox();
    const carrier = isReal ? simulatedCarrier(outbox, clock, () => null) : simulatedCarrier(outbox, clock);
    const simulated = doubles.carrier?.(carrier) ?? carrier;
    const tools = { rateLimiter, owner, clock, random: systemRandom, report };
    const recorded = { store, instances: storage.instances, recordedLanes: before };
    const carriers = await openCarriers({ configuration, simulated, bounceKey, ...recorded, ...tools });
    const receive = await smsReceiver(
      store,
      async (projectId) => (await project({ projectId })).settings,
      () => newId(),
      defaultProject,
      configuration,
    );
    return { carrier, carriers, isReal, receive };
  }

  const takers = served.flatMap((one) => one.take ?? []);
  async function take(...request: Parameters<NonNullable<Carrier['take']>>): Promise<Taken> {
    for (const takeIt of takers) {
      const isTaken = await takeIt(...request);
      if (isTaken !== null) return isTaken;
    }
    return null;
  }

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await reset.ended();
    await retention.end();
    await dispatcher.stop();
    await heartbeat.end();
    outcomes.close();
    await keyUse.ended();
    // Its -wal contains commits.
    const carrierClosed = carrier.outbox.close().catch((error) => report(error, { level: 'warning' }));
    await Promise.all([storage.close(), carrierClosed]);
  }

  return {
    context,
    operations,
    administration: createAdministration(context, {
      carrier,
      isReal,
      instances: storage.instances,
      reset: reset.run,
      prune,
      identification: { bounceKey, tokens },
      relay: typeof configuration?.email === 'object' ? configuration.email.host : null,
    }),
    localKey,
    report,
    store,
    storage,
    carrier,
    isReal,
    outbox: projectOutbox(context, carrier),
    channels: carriers.channels,
    heartbeat,
    retention,
    tokens,
    take: takers.length === 0 ? null : take,
    lost,
    endWaits: () => eventWaits.close(),
    drain: () => dispatcher.drain(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
