import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Administration } from '../../src/service/administration.js';
import { type Clock, systemClock } from '../../src/service/clock.js';
import type { Core } from '../../src/service/core.js';
import type { Operations } from '../../src/service/operations/operations.js';
import { readinessOf } from '../../src/service/readiness.js';
import { DatabaseClock } from '../../src/service/storage/postgres/database-clock.js';
import { Cores, caller } from '../support/cores.js';
import { newDatabase, query } from '../support/postgres.js';

const day = 86_400_000;
const minute = 60_000;
const secret = new Uint8Array(32).fill(7);
const cores = new Cores();
let database: string;
beforeEach(async () => {
  database = await newDatabase();
});
afterEach(() => cores.closeAll());

const aheadBy = (milliseconds: number): Clock => ({ ...systemClock, now: () => Date.now() + milliseconds });
const open = (ahead: number) => cores.open({ database, secret, report() {} }, { clock: aheadBy(ahead) });

/** The date in Ulaanbaatar. */
const dateAt = (instant: number) => new Date(instant + 8 * 3_600_000).toISOString().slice(0, 10);
const holidays = () => ({
  [dateAt(Date.now() - day)]: 3,
  [dateAt(Date.now())]: 2,
  [dateAt(Date.now() + day)]: 5,
});

/** Every time in a value, wherever it stands: in ids, too. */
function timesIn(value: unknown): number[] {
  if (typeof value === 'string') {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return [Date.parse(value)];
    const id = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(value);
    return id === null || value === caller.projectId ? [] : [Number.parseInt(`${id[1]}${id[2]}`, 16)];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(timesIn);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

type Asked<Methods> = { [Name in keyof Methods]: () => Promise<unknown> };

const idOf = (answer: unknown) => ((answer as { body: { id: string } }).body ?? answer).id;
const page = { limit: 100, after: null };
const to = '99112233';
/** Another each time: the caps count those to one. */
let recipients = 0;
const newNumber = () => `${88_000_000 + ++recipients}`;

/** One of each; those that have an end say how far it is. */
function operationsOf({ operations }: Core) {
  const call = <Params>(params: Params) => ({ caller, params, idempotencyKey: null });
  const sms = () => operations.sendSms(call({ to: newNumber(), text: 'Hi' }));
  const bulk = () => operations.sendSmsBulk(call({ to: [to, newNumber()], text: 'Hi' }));
  const email = { to: 'bat@example.mn', subject: 'S', text: 'T' };
  const verify = () => operations.createVerification(caller, { to: newNumber(), expires_in: 3_600 });
  const sooner = ({ expires_at: at, ...rest }: { expires_at: string }) => ({
    ...rest,
    expires_at: new Date(Date.parse(at) - 3_600_000).toISOString(),
  });
  return {
    admit: async () => null,
    sendSms: sms,
    sendSmsBulk: bulk,
    sendEmail: () => operations.sendEmail(call(email)),
    sendEmailBulk: () => operations.sendEmailBulk(call({ ...email, to: [email.to] })),
    createVerification: async () => sooner(await verify()),
    checkVerification: async () => {
      const checking = operations.checkVerification(caller, (await verify()).id, { code: '1' });
      await expect(checking).rejects.toMatchObject({ code: 'invalid_code' });
    },
    getVerification: async () => sooner(await operations.getVerification(caller, (await verify()).id)),
    getMessage: async () => operations.getMessage(caller, idOf(await sms())),
    getBatch: async () => operations.getBatch(caller, idOf(await bulk())),
    listBatchMessages: async () => operations.listBatchMessages(caller, idOf(await bulk()), page),
    listMessages: () => operations.listMessages(caller, {}, page),
    listBatches: () => operations.listBatches(caller, {}, page),
    listInbox: () => operations.listInbox(caller, {}, page),
    listEvents: () => operations.listEvents(caller, {}),
    getBalance: () => operations.getBalance(caller),
    getPricing: () => operations.getPricing(caller),
    checkSuppressions: () => operations.checkSuppressions(caller, { to: [to] }),
  } satisfies Asked<Operations>;
}

function administrationOf({ administration, store, operations, heartbeat }: Core) {
  const hour = { expires_in: 3_600 };
  const made = ({ expires_at: at, ...key }: { expires_at: string | null }) => ({
    ...key,
    expires_at: new Date(Date.parse(at ?? '') - 3_600_000).toISOString(),
  });
  const mail = 'From: a@example.mn\r\nTo: info@shop.mn\r\nSubject: S\r\n\r\nHi\r\n';
  const params = { to: [to], text: 'Hi' };
  return {
    createFirstKey: () => administration.createFirstKey(),
    createKey: async () => made(await administration.createKey(hour)),
    listKeys: async () => (await administration.listKeys()).filter((key) => key.expires_at === null),
    revokeKey: async () => administration.revokeKey((await administration.createKey()).id),
    credit: () => administration.credit(5),
    ledger: () => administration.ledger(),
    newestLedger: () => all(administration.newestLedger()),
    createDashboardLink: async () => {
      await store.recordDashboard('http://127.0.0.1:1', null);
      return administration.createDashboardLink();
    },
    settings: async () => {
      await administration.settings.update({ own_domain: 'shop.mn' });
      return administration.settings.get();
    },
    receiveMail: () => administration.receiveMail(Buffer.from(mail), ['info@shop.mn']),
    inbox: () => administration.inbox(),
    suppressions: async () => {
      await store.suppress(caller.projectId, to, 'unknown_recipient');
      const listed = await administration.suppressions.list();
      await administration.suppressions.remove(to);
      return listed;
    },
    dnsRecords: () => administration.dnsRecords(),
    createProject: () => administration.createProject(`Shop ${Math.random()}`),
    listProjects: () => administration.listProjects(),
    renameProject: () => administration.renameProject(caller.projectId, 'Shop'),
    project: async () => (await administration.project(caller.projectId))?.ledger(),
    isReal: async () => administration.isReal,
    outbox: () => all(administration.outbox()),
    status: async () => {
      await heartbeat.begin('http://127.0.0.1:1');
      return administration.status();
    },
    listLanes: () => administration.listLanes(),
    setLaneStatus: async () => {
      const paused = await administration.setLaneStatus('sms', 'paused');
      await administration.setLaneStatus('sms', 'open');
      return paused;
    },
    stopBatch: async () => {
      const { body } = await operations.sendSmsBulk({ caller, params, idempotencyKey: null });
      return administration.stopBatch((body as { id: string }).id);
    },
    // What they end at is later.
    listSignIns: async () => (await administration.listSignIns()).map(({ created_at }) => created_at),
    endSignIns: () => administration.endSignIns('all'),
    idle: () => administration.idle(),
    prune: () => administration.prune({ to }),
    held: () => administration.held(),
    release: () => administration.release('queue'),
    reset: () => administration.reset(),
  } satisfies Asked<Administration>;
}

/** The columns with a time that is further from now than what is stored for later. */
async function columnsThatAreOff(): Promise<string[]> {
  const columns = await query<{ table: string; column: string }>(
    database,
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'urtuu' AND data_type = 'bigint' AND column_name ~ '(_at|^at|until)$'
       AND column_name NOT IN ('bound_at', 'expires_at')`,
  );
  expect(columns.length).toBeGreaterThan(20);
  const each = columns.map(
    ({ table, column }) =>
      `SELECT '${table}.${column}' AS name FROM ${table} WHERE abs(${column} - $1) > $2 AND ${column} > 0`,
  );
  const found = await query<{ name: string }>(database, each.join(' UNION '), [Date.now(), 30 * minute]);
  return found.map(({ name }) => name);
}

/** What is not of now: operations that gave such a time, and columns that have one. */
async function wrongIn(core: Core): Promise<string[]> {
  const wrong: string[] = [];
  const { reset, ...administration } = administrationOf(core);
  for (const asked of [operationsOf(core), administration]) {
    for (const [name, ask] of Object.entries(asked)) {
      const answer = await ask();
      if (timesIn(answer).some((time) => Math.abs(time - Date.now()) > minute)) wrong.push(name);
    }
  }
  wrong.push(...(await columnsThatAreOff()));
  await reset();
  return [...wrong, ...(await columnsThatAreOff())];
}

describe.each([
  ['ahead', day],
  ['behind', -day],
])('an instance whose clock is a day %s', (_, ahead) => {
  it('goes by the time of the database in every operation, and in all that it stores', async () => {
    const core = await open(ahead);
    expect(await wrongIn(core)).toEqual([]);
    const readiness = await readinessOf({ ...core, clock: core.context.clock })();
    expect(timesIn(readiness).every((time) => Math.abs(time - Date.now()) < minute)).toBe(true);
    expect(timesIn(readiness).length).toBeGreaterThan(0);
  });

  it('charges what the others charge', async () => {
    const right = await open(0);
    const wrong = await open(ahead);
    await right.administration.settings.update({ holidays: holidays() });
    for (const core of [right, wrong]) {
      const call = <Params>(params: Params) => ({ caller, params, idempotencyKey: null });
      const { operations } = core;
      const pricing = await operations.getPricing(caller);
      const sms = await operations.sendSms(call({ to: newNumber(), text: 'Hi' }));
      const bulk = await operations.sendSmsBulk(call({ to: [to], text: 'Hi' }));
      const verification = await operations.createVerification(caller, { to: newNumber() });
      expect([pricing.sms.rate_multiplier, sms.body, bulk.body, verification]).toMatchObject([
        2,
        { credits: 20, rate_multiplier: 2 },
        { credits: 20 },
        { credits: 20 },
      ]);
    }
  });

  it('makes keys that are good for as long as they shall be, and refuses one that is over', async () => {
    const core = await open(ahead);
    const key = await core.administration.createKey({ expires_in: 3_600 });
    expect(Math.abs(Date.parse(key.expires_at ?? '') - Date.now() - 3_600_000)).toBeLessThan(minute);
    for (const off of [-minute, minute]) {
      const making = core.administration.createKey({ expires_at: new Date(Date.now() + off).toISOString() });
      if (off < 0) await expect(making).rejects.toMatchObject({ code: 'invalid_request' });
      else expect(await making).toMatchObject({ revoked_at: null });
    }
  });
});

it('control: an instance that goes by its own clock is noticed', async () => {
  const own = vi.spyOn(DatabaseClock.prototype, 'now').mockImplementation(() => Date.now() + day);
  onTestFinished(() => own.mockRestore());
  const core = await open(day);
  const wrong = await wrongIn(core);
  expect(wrong).toContain('status');
  await core.administration.settings.update({ holidays: holidays() });
  expect(await core.operations.getPricing(caller)).toMatchObject({ sms: { rate_multiplier: 5 } });
});

describe('quiet hours', () => {
  const half = day / 2;
  const hhmm = (instant: number) => new Date(instant).toISOString().slice(11, 16);
  /** Two hours around a time. */
  const hoursAround = (instant: number) => `${hhmm(instant - 60 * minute)}-${hhmm(instant + 60 * minute)}`;
  const sent = async (core: Core, id: string) => (await core.operations.getBatch(caller, id)).sent;

  async function sendAt(core: Core, hours: string): Promise<string> {
    await core.administration.settings.update({ quiet_hours: hours, quiet_zone: 'UTC' });
    const params = { to: [newNumber()], text: 'Hi' };
    return idOf(await core.operations.sendSmsBulk({ caller, params, idempotencyKey: null }));
  }

  it.each([
    ['ahead', half],
    ['behind', -half],
  ])('are those of the database for an instance whose clock is 12 hours %s', async (_, ahead) => {
    const core = await open(ahead);
    const id = await sendAt(core, hoursAround(Date.now()));
    await core.administration.idle();
    expect(await sent(core, id)).toBe(0);
    const others = await sendAt(core, hoursAround(Date.now() + half));
    await vi.waitUntil(async () => (await sent(core, id)) + (await sent(core, others)) === 2, 5_000);
  });

  it('hold where a process takes the night for the day: the database gives it nothing', async () => {
    const core = await open(0);
    const own = vi.spyOn(DatabaseClock.prototype, 'now').mockImplementation(() => Date.now() + half);
    onTestFinished(() => own.mockRestore());
    const id = await sendAt(core, hoursAround(Date.now()));
    const claim = { token: 'wrong', leaseMs: 30_000, limit: 10, lane: 'Unitel', class: 'batch' } as const;
    expect(await core.store.claimMessages(claim)).toEqual([]);
    expect(await sent(core, id)).toBe(0);
  });
});
