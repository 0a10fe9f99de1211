import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../src/service/clock.js';
import type { Mismatch } from '../../src/service/data/verify-data.js';
import { Metrics } from '../../src/service/metrics/metrics.js';
import { Cores, caller, pass, requestsTo, ticks } from '../support/cores.js';
import { testOnPostgres } from '../support/test-engine.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

/** What people read about a service. */
interface Figures {
  operation: string;
  lanes: object[];
  metrics: string[];
  mismatches: Mismatch[];
  held: unknown;
  balance: number;
}

/** Times, memory and what only one engine does. */
const isOther = /^#|_bucket|_sum|^urtuu_(store_|http_|event_loop|info)|^process_/;

/** One service and its owner, who does everything once; the figures after each step. */
async function story(): Promise<Figures[]> {
  const clock = new ManualClock(Date.UTC(2026, 5, 1));
  const directory = cores.folder();
  const metrics = new Metrics();
  const core = await cores.open({ directory, clock }, metrics.wrappers);
  const owner = await cores.open({ directory, clock }, {}, { forOwner: true });
  const { administration } = owner;
  const { send, sendBulk, balance } = requestsTo(() => core);
  await core.heartbeat.begin('http://127.0.0.1:7788');
  const all: Figures[] = [];

  async function look(operation: string): Promise<void> {
    await ticks(20);
    const { lanes } = await administration.status();
    const counted = (await metrics.read({ heartbeat: core.heartbeat, store: core.store })).split('\n');
    // It counts the queue every 5 s.
    const queued = new Metrics();
    const depths = (await queued.read({ heartbeat: core.heartbeat, store: core.store })).split('\n');
    queued.close();
    all.push({
      operation,
      lanes: lanes.map(({ instances, ...figures }) => ({
        ...figures,
        instances: instances.map(({ state }) => state),
      })),
      metrics: [
        ...counted.filter((line) => line !== '' && !isOther.test(line) && !/^urtuu_queue/.test(line)).sort(),
        ...depths.filter((line) => /^urtuu_queue/.test(line)),
      ],
      mismatches: await cores.mismatchesIn(directory),
      held: await administration.held(),
      balance: await balance(),
    });
  }
  /** Without letting time pass. */
  async function at(operation: string, work: () => Promise<unknown>): Promise<void> {
    await work();
    await look(operation);
  }
  async function after(operation: string, milliseconds: number, work: () => Promise<unknown>): Promise<void> {
    const working = work();
    await pass(clock, milliseconds);
    await working.catch(() => {});
    await look(operation);
  }
  const idOf = async (sending: Promise<{ body: object }>) => ((await sending).body as { id: string }).id;
  const email = (to: string) =>
    core.operations.sendEmail({ caller, params: { to, subject: 'S', text: 'T' }, idempotencyKey: null });
  const nothing = async () => {};

  await look('nothing');
  await at('single SMS', () => send('99112233', 'Hi', 'one'));
  await at('its repeat', () => send('99112233', 'Hi', 'one'));
  await at('one that is refused', () => send('99000001', 'Hi', 'two'));
  await after('one that is put off', 6_000, () => send('99000024', 'Hi'));
  await after('one that nobody can tell about', 30_000, () => send('99000023', 'Hi'));
  await after('emails', 1_000, async () => {
    await email('bat@example.mn');
    await email('fault-bounced@example.mn');
    await email('fault-refused@example.mn');
  });
  await after('verification', 1_000, () => core.operations.createVerification(caller, { to: '88112233' }));
  await at('batch that is put off', () => sendBulk(['99000024', '99112244', '99000001'], 'Hi'));
  await after('and goes on', 6_000, nothing);
  await after('batch of every outcome', 30_000, () =>
    sendBulk(['99000021', '99000022', '99000023', '99000001', '99000006'], 'Hi'),
  );
  await after('a minute later', 60_000, nothing);

  let stopping = '';
  await at('a batch put off, to be stopped', async () => {
    stopping = await idOf(sendBulk(['99000024', '88112244', '99000001'], 'Hi'));
  });
  await at('batch stopped', () => administration.stopBatch(stopping));
  await after('heartbeats after the stop', 10_000, nothing);
  await after('lane paused', 6_000, () => administration.setLaneStatus('sms', 'paused'));
  await at('batch in a paused lane', async () => {
    stopping = await idOf(sendBulk(['88112201', '88112202', '88112203'], 'Hi'));
  });
  await at('another', () => sendBulk(['88112204', '88112205'], 'Hi'));
  await at('batch in a paused lane stopped', () => administration.stopBatch(stopping));
  await after('heartbeats after the second stop', 10_000, nothing);
  await at('held', () => owner.store.hold('restored'));
  await at('released as failed', () => administration.release('failed'));
  await after('heartbeats after the release', 10_000, nothing);
  await at('waiting again', () => sendBulk(['88112206', '88112207'], 'Hi'));
  await at('held again', () => owner.store.hold('restored'));
  await at('released as sent', () => administration.release('sent'));
  await at('a last one', () => sendBulk(['88112208'], 'Hi'));
  await at('held at last', () => owner.store.hold('restored'));
  await at('released to the queue', () => administration.release('queue'));
  await after('lane resumed', 6_000, () => administration.setLaneStatus('sms', 'open'));
  await at('credit', () => administration.credit(50, { note: 'x' }));
  clock.advance(3 * 86_400_000);
  await after('three days later', 10_000, nothing);
  await at('pruned', () => administration.prune({ olderMs: 2 * 86_400_000 }));
  metrics.close();
  return all;
}

/** In the lane of SMS: what waits, and what failed in the last minute; what failed since the start. */
function failuresIn(figures: readonly Figures[], operation: string): object {
  const { lanes, metrics } = figures.find((one) => one.operation === operation) as Figures;
  const [, { waiting, failed }] = lanes as [object, { waiting: number; failed: number }];
  const total = metrics.find((line) =>
    line.startsWith('urtuu_messages_total{channel="sms",status="failed"}'),
  );
  return { waiting, failed, total: Number(total?.split(' ')[1]) };
}

it('status, metrics and verify show the same figures on both engines after every operation', async () => {
  const sqlite = await story();
  await cores.closeAll();
  testOnPostgres();
  const postgres = await story();
  expect(postgres.map(({ operation }) => operation)).toEqual(sqlite.map(({ operation }) => operation));
  for (const [index, figures] of sqlite.entries()) expect(postgres[index]).toEqual(figures);
  for (const { operation, mismatches } of sqlite) expect([operation, mismatches]).toEqual([operation, []]);
  const of = (operation: string) => failuresIn(sqlite, operation);
  // What the owner ended is counted at once by status, and by an instance with its next heartbeat.
  expect(of('a batch put off, to be stopped')).toEqual({ waiting: 1, failed: 0, total: 4 });
  expect(of('batch stopped')).toEqual({ waiting: 0, failed: 1, total: 4 });
  expect(of('heartbeats after the stop')).toEqual({ waiting: 0, failed: 2, total: 5 });
  expect(of('heartbeats after the second stop')).toEqual({ waiting: 2, failed: 5, total: 8 });
  expect(of('heartbeats after the release')).toEqual({ waiting: 0, failed: 7, total: 10 });
}, 120_000);
