import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import type { SimulatedCarrier } from '../../src/service/carriers/simulated/simulated.js';
import type { ManualClock } from '../../src/service/clock.js';
import { type Core, type CoreDoubles, openCore } from '../../src/service/core.js';
import { type Mismatch, verify } from '../../src/service/data/verify-data.js';
import type { Delivery, Fault, ServiceOptions } from '../../src/service/index.js';
import type { Answer, Caller, RateLimit, RequestHead } from '../../src/service/operations/operations.js';
import type { Store } from '../../src/service/storage/store.js';
import { nothingUnderWay } from './postgres/under-way.js';
import { contentOfDatabase } from './postgres.js';
import { isOnPostgres, type TestEngine, testEngine, testSecret } from './test-engine.js';

export const caller: Caller = { projectId: defaultProject.id, keyId: 'test' };

/** Opens services without HTTP, and closes and removes all of them in the end. */
export class Cores {
  readonly #opened: Core[] = [];
  readonly #folders: string[] = [];
  readonly #engines = new Map<string, Promise<TestEngine>>();
  /** What services reported that were given no report of their own. */
  readonly faults: Fault[] = [];
  readonly #report = (fault: Fault) => void this.faults.push(fault);

  async open(
    options: ServiceOptions = {},
    doubles: CoreDoubles = {},
    role: { forOwner?: boolean } = {},
  ): Promise<Core> {
    const core = await openCore({ report: this.#report, ...(await this.#on(options)) }, doubles, role);
    this.#opened.push(core);
    return core;
  }

  /** Opens one whose store does some things in another way. */
  openWith(options: ServiceOptions, changes: (store: Store) => Partial<Store>): Promise<Core> {
    return this.open(options, { store: (store) => ({ ...store, ...changes(store) }) });
  }

  /** Opens one whose simulated carrier does some things in another way. */
  openWithCarrier(
    options: ServiceOptions,
    changes: (carrier: SimulatedCarrier) => Partial<Carrier>,
  ): Promise<Core> {
    return this.open(options, { carrier: (carrier) => ({ ...carrier, ...changes(carrier) }) });
  }

  /** On PostgreSQL a database stands for a folder. */
  async #on({ directory, ...options }: ServiceOptions): Promise<ServiceOptions> {
    if (!isOnPostgres()) return directory === undefined ? options : { directory, ...options };
    const known = directory === undefined ? undefined : this.#engines.get(directory);
    const engine = known ?? testEngine();
    this.#engines.set(directory ?? `memory ${this.#engines.size}`, engine);
    return { ...(await engine).options, ...options };
  }

  /** Opens one that is going to die, which must not be asked to close. */
  async openMortal(options: ServiceOptions, doubles: CoreDoubles): Promise<Core> {
    return openCore({ report: this.#report, ...(await this.#on(options)) }, doubles);
  }

  /** What is wrong with the data of a folder. */
  async mismatchesIn(directory: string): Promise<Mismatch[]> {
    const { database } = (await this.#engines.get(directory))?.options ?? {};
    const found: Mismatch[] = [];
    for await (const mismatch of await verify(
      database === undefined ? { directory } : { database, secret: testSecret },
    ))
      found.push(mismatch);
    return found;
  }

  /** All that the store of a folder has written, as text. */
  async storedIn(directory: string): Promise<string> {
    const url = (await this.#engines.get(directory))?.options.database;
    if (url !== undefined) return contentOfDatabase(url);
    const files = ['service.db', 'service.db-wal'];
    return files.map((name) => readFileSync(join(directory, name), 'latin1')).join('');
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'urtuu-service-'));
    this.#folders.push(folder);
    return folder;
  }

  async closeAll(): Promise<void> {
    this.faults.length = 0;
    await Promise.all(this.#opened.splice(0).map((core) => core.close()));
    for (const engine of this.#engines.values()) (await engine).release();
    this.#engines.clear();
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}

/** What tests ask a service for again and again; `core` gives the one of the running test. */
export const requestsTo = (core: () => Core) => ({
  send: (to: string, text: string, idempotencyKey: string | null = null) =>
    core().operations.sendSms({ caller, params: { to, text }, idempotencyKey }),
  sendBulk: (to: string[], text: string, idempotencyKey: string | null = null) =>
    core().operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey }),
  balance: async () => (await core().operations.getBalance(caller)).balance,
});

/** Admits a read with the local key, unless the test says otherwise. */
export const admit = ({ operations, localKey }: Core, head: Partial<RequestHead> = {}) =>
  operations.admit({ secret: localKey, kind: 'reading', idempotencyKey: null, ...head });

export async function callerWith(core: Core, secret: string): Promise<Caller | null> {
  const admitted = await admit(core, { secret });
  return admitted && { projectId: admitted.caller.projectId, keyId: admitted.caller.keyId };
}

export async function takeToken(
  core: Core,
  kind: RequestHead['kind'],
  secret = core.localKey,
): Promise<RateLimit> {
  const admitted = await admit(core, { kind, secret });
  if (admitted === null) throw new Error('the key is not known');
  return admitted.rateLimit;
}

/** The answer to a repeat with this key; null for a free one. */
export async function replayOf(
  core: Core,
  idempotencyKey: string,
  secret = core.localKey,
): Promise<Answer | null> {
  const admitted = await admit(core, { kind: 'sending', idempotencyKey, secret });
  return admitted?.replay?.() ?? null;
}

export const bodyOf = async <Body>(answer: Promise<{ body: object }>) => (await answer).body as Body;

export async function outboxOf({ administration }: Pick<Core, 'administration'>): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  for await (const delivery of administration.outbox()) deliveries.push(delivery);
  return deliveries;
}

/** The difference between a balance and its ledger: 0 while the money is right. */
export async function ledgerDifference({ administration, operations }: Core): Promise<number> {
  const entries = await administration.ledger();
  const { balance } = await operations.getBalance(caller);
  return balance - entries.reduce((sum, entry) => sum + entry.amount, 0);
}

/** Lets everything run that waits for no timer, what the database is asked included. */
export async function ticks(count = 10): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await new Promise(setImmediate);
  await nothingUnderWay();
}

/** Lets time pass in steps, and in each of them everything run that is due. */
export async function pass(clock: ManualClock, milliseconds: number, step = 250): Promise<void> {
  await ticks();
  for (let passed = 0; passed < milliseconds; passed += step) {
    clock.advance(Math.min(step, milliseconds - passed));
    await ticks(16);
  }
}

/** Lets time pass until everything has ended. */
export async function settle({ administration }: Core, clock: ManualClock): Promise<void> {
  let isOver = false;
  const settled = administration.idle().finally(() => {
    isOver = true;
  });
  await ticks();
  while (!isOver) await pass(clock, 250);
  await settled;
}
