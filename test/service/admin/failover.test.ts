import { expect, it, onTestFinished, vi } from 'vitest';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import type { Core } from '../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, requestsTo } from '../../support/cores.js';
import { ownCluster } from '../../support/postgres/own-cluster.js';
import { newDatabase, query } from '../../support/postgres.js';

const later = { timeout: 15_000, interval: 50 };

it('a failover of PostgreSQL holds the instances that run, until the release; a restart does not', async () => {
  const { cluster } = await ownCluster();
  const cores = new Cores();
  onTestFinished(() => cores.closeAll());
  const submitted: string[] = [];
  const carriers = (all: readonly Carrier[]) =>
    all.map(
      (one): Carrier => ({
        ...one,
        async submit({ to }) {
          submitted.push(to);
          return { kind: 'accepted', carrierIds: [] };
        },
      }),
    );
  const where = { database: `${cluster.url}/postgres`, secret: new Uint8Array(32).fill(7) };
  const opened = [await cores.open(where, { carriers }), await cores.open(where, { carriers })] as const;
  const [core, other] = opened;
  const held = (one: Core) =>
    vi.waitUntil(
      () =>
        one.administration.held().then(
          (hold) => ({ hold }),
          () => null,
        ),
      later,
    );
  const { send } = requestsTo(() => core);

  await send('99112233', 'one');
  await cluster.stop('immediate');
  await cluster.start();
  expect(await held(core)).toEqual({ hold: null });
  await send('88112233', 'two');
  const link = new Uint8Array(32).fill(1);
  const session = new Uint8Array(32).fill(2);
  const { projectId } = caller;
  await core.store.addSignInLink({ hash: link, projectId, lifeMs: 600_000 });
  await core.store.openSession(link, { hash: session, lifeMs: 600_000 });
  await core.store.recordDashboard('https://sms.example.mn', null);
  expect(await other.store.findSession(session)).toBe(projectId);

  await cluster.stop('fast');
  await expect(send('95112233', 'away')).rejects.toMatchObject({ code: 'unavailable' });
  await cluster.promote();
  for (const one of opened)
    expect(await held(one)).toEqual({ hold: { reason: 'failed_over', messages: 0, submitting: 0 } });
  await expect(send('95112233', 'three')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 10 });
  expect(submitted).toEqual(['99112233', '88112233']);
  expect(await other.store.findSession(session)).toBeNull();
  expect(await other.store.dashboardUrl()).toBe('https://sms.example.mn');
  expect(await other.administration.release('queue')).toBe(true);
  await send('94112233', 'four');
  expect(submitted).toEqual(['99112233', '88112233', '94112233']);
});

it.each([
  ['sent', { status: 'sent', delivery: 'unknown', credits: 2 }],
  ['failed', { status: 'failed', credits: 0 }],
] as const)(
  'after a promoted standby, released as %s, what waited ends once and is never submitted',
  async (finishAs, end) => {
    const { cluster } = await ownCluster();
    const cores = new Cores();
    onTestFinished(() => cores.closeAll());
    const where = { database: `${cluster.url}/postgres`, secret: new Uint8Array(32).fill(7) };
    const core = await cores.open(where, { carriers: () => [] });
    const params = { to: 'bat@example.mn', subject: 's', text: 't' };
    const { body } = await core.operations.sendEmail({ caller, params, idempotencyKey: 'k' });
    await cluster.stop('fast');
    await cluster.promote();
    const held = () => core.administration.held().catch(() => null);
    await vi.waitUntil(async () => (await held())?.messages === 1, later);
    expect(await core.administration.release(finishAs)).toBe(true);
    // With carriers, once it is released.
    const other = await cores.open(where);
    await other.administration.idle();
    expect(await other.operations.getMessage(caller, (body as { id: string }).id)).toMatchObject(end);
    expect(await outboxOf(other)).toEqual([]);
    expect(await ledgerDifference(other)).toBe(0);
  },
);

it('the outcome of an attempt whose mark the failover has lost is written while the service is held', async () => {
  const cores = new Cores();
  onTestFinished(() => cores.closeAll());
  const answers: (() => void)[] = [];
  const submitted: string[] = [];
  const carriers = (all: readonly Carrier[]) =>
    all.map(
      (one): Carrier => ({
        ...one,
        async submit({ to }) {
          submitted.push(to);
          await new Promise<void>((resolve) => answers.push(resolve));
          return { kind: 'accepted', carrierIds: ['c1'] };
        },
      }),
    );
  const database = await newDatabase();
  const core = await cores.open({ database, secret: new Uint8Array(32).fill(7) }, { carriers });
  const { send } = requestsTo(() => core);
  const sent = send('99112233', 'hi', 'k');
  await vi.waitUntil(() => answers.length === 1);
  // As a replica that is a moment behind: the message waits.
  await query(
    database,
    `WITH lost AS (UPDATE messages SET route = NULL, attempts = 0 RETURNING *), gone AS (DELETE FROM leases)
     INSERT INTO queue (lane, class, due_at, message, queued_at, bound_at)
     SELECT lane, 0, created_at, seq, created_at, bound_at FROM lost`,
  );
  await core.store.hold('failed_over');
  answers[0]?.();
  expect(await sent).toMatchObject({ status: 200, body: { status: 'sent' } });
  const receipt = {
    route: 'Mobicom',
    carrierId: 'c1',
    to: '99112233',
    reference: '',
    submittedAt: null,
  } as const;
  await core.store.recordReceipts([{ ...receipt, state: 'delivered' }], () => ({ status: 200, body: '' }));
  const [message] = await query(database, 'SELECT status, delivery FROM messages');
  expect(message).toEqual({ status: 'sent', delivery: 'delivered' });
  expect(await core.store.claimUnfinished({ token: 't', leaseMs: 1_000, limit: 1 })).toEqual([]);
  await core.administration.release('queue');
  await core.administration.idle();
  expect(submitted).toEqual(['99112233']);
});

it('a sign-in out of a dump is none, in the same database too', async () => {
  const cores = new Cores();
  onTestFinished(() => cores.closeAll());
  const database = await newDatabase();
  const { store } = await cores.open({ database, secret: new Uint8Array(32).fill(7) });
  const one = Buffer.alloc(32, 1);
  const two = Buffer.alloc(32, 2);
  const session = Buffer.alloc(32, 3);
  for (const hash of [one, two])
    await store.addSignInLink({ hash, projectId: caller.projectId, lifeMs: 600_000 });
  await store.openSession(one, { hash: session, lifeMs: 600_000 });
  expect(await store.findSession(session)).toBe(caller.projectId);
  // Written anew, as a load does.
  await query(database, 'CREATE TABLE dumped AS SELECT * FROM sign_ins');
  await query(database, 'WITH gone AS (DELETE FROM sign_ins) SELECT');
  await query(database, 'INSERT INTO sign_ins SELECT * FROM dumped');
  expect(await store.findSession(session)).toBeNull();
  expect(await store.openSession(two, { hash: one, lifeMs: 600_000 })).toBeNull();
});

it('the address of the dashboard out of a dump is none until an instance serves it', async () => {
  const cores = new Cores();
  onTestFinished(() => cores.closeAll());
  const database = await newDatabase();
  const { store } = await cores.open({ database, secret: new Uint8Array(32).fill(7) });
  await store.recordDashboard('https://sms.example.mn', null);
  await query(database, 'CREATE TABLE dumped AS SELECT * FROM dashboard');
  await query(database, 'WITH gone AS (DELETE FROM dashboard) SELECT');
  await query(database, 'INSERT INTO dashboard SELECT * FROM dumped');
  expect(await store.dashboardUrl()).toBeNull();
  await store.recordDashboard('http://127.0.0.1:7788', null);
  expect(await store.dashboardUrl()).toBe('http://127.0.0.1:7788');
  await query(database, "UPDATE dashboard SET place = 'another', written = transaction_1()");
  expect(await store.dashboardUrl()).toBeNull();
});
