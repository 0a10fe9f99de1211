import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Carrier, Submission } from '../../../src/service/carriers/carrier.js';
import type { Core } from '../../../src/service/core.js';
import { openCore } from '../../../src/service/core.js';
import type { FinishAs, ServiceOptions } from '../../../src/service/index.js';
import { prepareHolds } from '../../../src/service/storage/sqlite/dispatch/holds.js';
import { openStoreDatabase } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { Cores, caller, ledgerDifference, outboxOf, replayOf, ticks } from '../../support/cores.js';
import { backupOfDatabase, copyOfDatabase, newDatabase, query } from '../../support/postgres.js';

const secret = new Uint8Array(32).fill(7);
const cores = new Cores();
afterEach(() => cores.closeAll());

type Where = Pick<ServiceOptions, 'directory' | 'database' | 'secret'>;

/** A store, and what its owner does to restore it. */
interface Engine {
  name: string;
  open(): Promise<Where>;
  /** A backup of the data of a service that has ended, as it is restored. */
  restored(where: Where): Promise<Where>;
}

let template: string;
const sqlite: Engine = {
  name: 'SQLite',
  open: async () => ({ directory: cores.folder() }),
  async restored({ directory = '' }) {
    const copy = cores.folder();
    cpSync(directory, copy, { recursive: true });
    const database = await openStoreDatabase(join(copy, 'service.db'));
    prepareHolds(database).begin('restored');
    database.close();
    return { directory: copy };
  },
};
const postgres: Engine = {
  name: 'PostgreSQL',
  open: async () => ({ database: await copyOfDatabase(template), secret }),
  restored: async ({ database = '' }) => ({ database: await backupOfDatabase(database), secret }),
};

beforeAll(async () => {
  template = await newDatabase();
  await (await openCore({ database: template, secret })).close();
});

const params = { to: '99112233', text: 'hi' };
const sms = ({ operations }: Core, to: string, idempotencyKey: string | null = null) =>
  operations.sendSms({ caller, params: { ...params, to }, idempotencyKey });
const statusOf = async ({ operations }: Core, id: string) =>
  (await operations.getMessage(caller, id)) as { status: string; delivery: string | null; credits: number };

/** Two messages that wait, and one that a carrier was given when its process died, maybe after its receipt. */
async function backup(engine: Engine, { hasReceipt = false } = {}) {
  const where = await engine.open();
  const isClosed = (carriers: readonly Carrier[]) =>
    carriers.map((one): Carrier => ({ ...one, capacity: () => 0 }));
  const before = await cores.open(where);
  const sent = await sms(before, '99112233', 'before');
  await before.close();

  const hangs = (carriers: readonly Carrier[]) =>
    carriers.map((one): Carrier => ({ ...one, submit: () => new Promise(() => {}) }));
  const dying = await cores.openMortal({ ...where, report() {} }, { carriers: hangs, leaseMs: 60_000 });
  void sms(dying, '88112233', 'in doubt').catch(() => {});
  await vi.waitUntil(async () => (await dying.store.countUnfinished()).submitting === 1);
  const page = { limit: 1, after: null };
  const doubtId = (await dying.operations.listMessages(caller, { to: '88112233' }, page)).data[0]?.id ?? '';
  const receipt = { route: 'Unitel', carrierId: 'c', to: '88112233', reference: doubtId, submittedAt: null };
  if (hasReceipt) {
    const answer = () => ({ status: 200, body: '{}' });
    await dying.store.recordReceipts([{ ...receipt, state: 'delivered' }], answer);
  }
  // Its process is gone.
  await dying.storage.close();
  const closed = await cores.open(where, { carriers: isClosed });
  const email = { to: 'bat@example.mn', subject: 's', text: 't' };
  const one = await closed.operations.sendEmail({ caller, params: email, idempotencyKey: 'waits' });
  const batch = { to: ['95112233', '94112233'], text: 'hi' };
  await closed.operations.sendSmsBulk({ caller, params: batch, idempotencyKey: null });
  await closed.close();
  const restored = await engine.restored(where);
  return { restored, sent, doubtId, emailId: (one.body as { id: string }).id };
}

/** As an operator that cannot be asked, which remembers what it was given. */
function deaf() {
  const submitted: Submission[] = [];
  const carriers = (all: readonly Carrier[]) =>
    all.map(
      ({ inquire: _, ...one }): Carrier => ({
        ...one,
        async submit(submission) {
          submitted.push(submission);
          return { kind: 'accepted', carrierIds: [] };
        },
      }),
    );
  return { submitted, doubles: { carriers } };
}

describe.each([sqlite, postgres])('a restored service on $name', (engine) => {
  it('answers sends with 503 and reads as ever, and submits nothing', async () => {
    const { restored, sent, emailId } = await backup(engine);
    const { submitted, doubles } = deaf();
    const core = await cores.open(restored, doubles);
    expect(await core.administration.held()).toEqual({ reason: 'restored', messages: 4, submitting: 1 });
    for (const send of [
      () => sms(core, '99112233'),
      () =>
        core.operations.sendSmsBulk({ caller, params: { to: ['99112233'], text: 'x' }, idempotencyKey: 'n' }),
      () => core.operations.createVerification(caller, { to: '99112233' }),
    ])
      await expect(send()).rejects.toMatchObject({ code: 'unavailable', status: 503, retryAfter: 10 });
    expect(await replayOf(core, 'before')).toMatchObject({ status: 200, body: sent.body });
    expect(await statusOf(core, emailId)).toMatchObject({ status: 'queued' });
    await ticks(50);
    expect(submitted).toEqual([]);
    expect(await core.administration.held()).toMatchObject({ messages: 4 });
    expect(await ledgerDifference(core)).toBe(0);
  });

  it.each<[FinishAs, object]>([
    ['sent', { status: 'sent', delivery: 'unknown', credits: 2 }],
    ['failed', { status: 'failed', delivery: null, credits: 0 }],
  ])('released with everything %s submits none of it', async (finishAs, end) => {
    const { restored, emailId } = await backup(engine);
    const { submitted, doubles } = deaf();
    const core = await cores.open(restored, doubles);
    const { balance: before } = await core.operations.getBalance(caller);
    expect(await core.administration.release(finishAs)).toBe(true);
    expect(await core.administration.held()).toBeNull();
    expect(await core.administration.release(finishAs)).toBe(false);
    expect(await statusOf(core, emailId)).toMatchObject(end);
    const { balance } = await core.operations.getBalance(caller);
    expect(balance - before).toBe(finishAs === 'failed' ? 32 : 0);
    expect(await ledgerDifference(core)).toBe(0);
    const status = finishAs === 'failed' ? 502 : 200;
    expect(await replayOf(core, 'in doubt')).toMatchObject({ status });
    const { data } = await core.operations.listBatches(caller, {}, { limit: 9, after: null });
    expect(data).toMatchObject([{ status: 'completed', sent: finishAs === 'sent' ? 2 : 0 }]);
    await core.administration.idle();
    expect(submitted).toEqual([]);
    await sms(core, '99112233');
    expect(submitted).toHaveLength(1);
  });

  it('released with everything queued submits what was not marked, and the rest never again', async () => {
    const { restored } = await backup(engine);
    const { submitted, doubles } = deaf();
    const core = await cores.open(restored, doubles);
    await core.administration.release('queue');
    await vi.waitUntil(() => submitted.length === 3);
    await core.administration.idle();
    expect(submitted.map(({ to }) => to).sort()).toEqual(['94112233', '95112233', 'bat@example.mn']);
    expect(await core.store.countUnfinished()).toEqual({ messages: 1, submitting: 1 });
  });

  it('released as failed keeps what a receipt came for before its doubt', async () => {
    const { restored, doubtId, emailId } = await backup(engine, { hasReceipt: true });
    const core = await cores.open(restored, deaf().doubles);
    expect(await core.administration.release('failed')).toBe(true);
    expect(await statusOf(core, doubtId)).toMatchObject({
      ...{ status: 'sent', delivery: 'delivered', credits: 10 },
    });
    expect(await statusOf(core, emailId)).toMatchObject({ status: 'failed', credits: 0 });
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('ends every message once while attempts that are under way end too', async () => {
    const where = await engine.open();
    const answers: (() => void)[] = [];
    const slow = (all: readonly Carrier[]) =>
      all.map(
        (one): Carrier => ({
          ...one,
          // 36 of them for batches.
          capacity: () => 40,
          async submit() {
            await new Promise<void>((resolve) => answers.push(resolve));
            return { kind: 'accepted', carrierIds: [] };
          },
        }),
      );
    const core = await cores.open(where, { carriers: slow });
    const to = Array.from({ length: 60 }, (_, index) => `991100${10 + index}`);
    const { body } = await core.operations.sendSmsBulk({
      caller,
      params: { to, text: 'hi' },
      idempotencyKey: null,
    });
    await vi.waitUntil(() => answers.length === 36);
    await core.store.hold('failed_over');
    const released = core.administration.release('failed');
    for (const answer of answers.splice(0)) {
      answer();
      await ticks(1);
    }
    await released;
    await core.administration.idle();
    const { sent, failed, total } = await core.operations.getBatch(caller, (body as { id: string }).id);
    expect({ total, ended: sent + failed }).toEqual({ total: 60, ended: 60 });
    expect(sent).toBeLessThanOrEqual(36);
    const { balance } = await core.operations.getBalance(caller);
    expect(balance).toBe(100_000 - 10 * sent);
    expect(await ledgerDifference(core)).toBe(0);
    expect(await core.store.countUnfinished()).toEqual({ messages: 0, submitting: 0 });
  });

  it('asks an operator that can be asked about what was marked', async () => {
    const { restored } = await backup(engine);
    const core = await cores.open(restored);
    await core.administration.release('queue');
    await vi.waitUntil(async () => (await core.store.countUnfinished()).messages === 0);
    expect((await outboxOf(core)).map(({ to }) => to).sort()).toEqual([
      '88112233',
      '94112233',
      '95112233',
      '99112233',
      'bat@example.mn',
    ]);
  });
});

describe('a dump that is loaded', () => {
  it('into the same database again is seen, and moving its table is not taken for it', async () => {
    const where = await postgres.open();
    const core = await cores.open(where);
    const { database = '' } = where;
    await query(database, 'VACUUM FULL hold');
    await query(database, 'VACUUM FREEZE hold');
    expect(await core.administration.held()).toBeNull();
    await query(
      database,
      'SELECT * INTO TEMP dump FROM hold; DELETE FROM hold; INSERT INTO hold SELECT * FROM dump',
    );
    expect(await core.administration.held()).toMatchObject({ reason: 'restored' });
    await expect(sms(core, '99112233')).rejects.toMatchObject({ code: 'unavailable' });
    await core.administration.release('queue');
    expect((await sms(core, '99112233')).status).toBe(200);
  });
});
