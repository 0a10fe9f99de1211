import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { leaseTime } from '../../../src/service/dispatch/held-leases.js';
import {
  Cores,
  caller,
  ledgerDifference,
  outboxOf,
  pass,
  replayOf,
  settle,
  ticks,
} from '../../support/cores.js';
import { Crash, type CrashPoint } from '../../support/crash.js';
import { isOnPostgres } from '../../support/test-engine.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

const sms = { to: '99112233', text: 'Сайн уу' };
const numbers = Array.from({ length: 2_700 }, (_, index) => `${88_000_000 + index}`);

const points: CrashPoint[] = [
  { when: 'before', method: 'submit', call: 1 },
  { when: 'after', method: 'submit', call: 1 },
  { when: 'before', method: 'finalizeMessages', call: 1 },
  { when: 'after', method: 'finalizeMessages', call: 1 },
];
// Three batches: two are dispatched as they are accepted, there is no room for the third, which is claimed.
const batches = [0, 900, 1_800].map((first) => ({
  params: { to: numbers.slice(first, first + 900), text: 'Hello' },
  idempotencyKey: `from ${first}`,
}));
const batchPoints: CrashPoint[] = [
  { when: 'before', method: 'acceptBatch', call: 2 },
  { when: 'after', method: 'acceptBatch', call: 2 },
  { when: 'before', method: 'claimMessages', call: 1 },
  { when: 'after', method: 'claimMessages', call: 1 },
  { when: 'before', method: 'submit', call: 250 },
  { when: 'after', method: 'submit', call: 250 },
  { when: 'after', method: 'submit', call: 900 },
  { when: 'before', method: 'submit', call: 1 },
  { when: 'before', method: 'finalizeMessages', call: 1 },
  { when: 'after', method: 'finalizeMessages', call: 1 },
];

/** Of 2,700 messages each: on PostgreSQL every second one. */
const playedBatchPoints = batchPoints.filter((_, index) => !isOnPostgres() || index % 2 === 1);

/** The data that a service leaves that dies while it sends an SMS with the key `k1`. */
async function diedSending(
  point: CrashPoint,
  leaseMs = leaseTime,
  params = sms,
): Promise<{ directory: string; clock: ManualClock }> {
  const directory = cores.folder();
  const clock = new ManualClock();
  const crash = new Crash(point);
  const dying = await cores.openMortal({ directory, clock }, { ...crash.doubles, leaseMs });
  void dying.operations.sendSms({ caller, params, idempotencyKey: 'k1' });
  await crash.happened;
  return { directory, clock };
}

async function restart(directory: string, clock: ManualClock): Promise<Core> {
  await ticks();
  const core = await cores.open({ directory, clock });
  await ticks();
  await pass(clock, leaseTime + 1_000);
  await settle(core, clock);
  return core;
}

describe('a message is delivered exactly once, whatever the process dies of', () => {
  it.each(points)('single SMS: $when $method', async (point) => {
    const { directory, clock } = await diedSending(point);

    const core = await restart(directory, clock);
    const repeat = await core.operations.sendSms({ caller, params: sms, idempotencyKey: 'k1' });
    expect(repeat).toMatchObject({ status: 200, replayed: true, body: { status: 'sent', balance: 99_990 } });
    expect(await outboxOf(core)).toHaveLength(1);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('single SMS: killed before its transaction, nothing happened and the key is free', async () => {
    const { directory, clock } = await diedSending({ when: 'before', method: 'acceptMessage', call: 1 });

    const core = await restart(directory, clock);
    expect(await replayOf(core, 'k1')).toBeNull();
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
  });

  const refunded = {
    error: {
      code: 'provider_failed',
      message: 'The operator did not accept the message: it could not be reached',
    },
  };
  it.each([
    ['arrives', '99112233', { status: 200, body: { status: 'sent' } }, 1],
    ['fails where that is lost', '99000008', { status: 502, body: refunded }, 0],
  ])(
    'single SMS: found after its 15 s, it is submitted once more and %s',
    async (_, to, answer, delivered) => {
      const point: CrashPoint = { when: 'before', method: 'submit', call: 1 };
      const { directory, clock } = await diedSending(point, leaseTime, { ...sms, to });
      clock.set(clock.now() + 16_000);

      const core = await restart(directory, clock);
      expect(await replayOf(core, 'k1')).toMatchObject({ ...answer, replayed: true });
      expect(await outboxOf(core)).toHaveLength(delivered);
      expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 - 10 * delivered });
      expect(await ledgerDifference(core)).toBe(0);
    },
  );

  it('a repeat that comes while the lease of the dead process still holds waits for the answer', async () => {
    const leaseMs = 5_000;
    const { directory, clock } = await diedSending({ when: 'after', method: 'submit', call: 1 }, leaseMs);
    await ticks();

    const core = await cores.open({ directory, clock }, { leaseMs });
    const repeat = replayOf(core, 'k1');
    await ticks();
    expect(await outboxOf(core)).toHaveLength(1);
    await pass(clock, leaseMs + 1_000);
    expect(await repeat).toMatchObject({ status: 200, replayed: true });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it.each(playedBatchPoints)('batches, each repeated afterwards: $when $method $call', async (point) => {
    const directory = cores.folder();
    const clock = new ManualClock();
    const crash = new Crash(point);
    const dying = await cores.openMortal({ directory, clock }, crash.doubles);
    for (const batch of batches) void dying.operations.sendSmsBulk({ caller, ...batch }).catch(() => {});
    await crash.happened;

    const core = await restart(directory, clock);
    for (const batch of batches) {
      const { body } = await core.operations.sendSmsBulk({ caller, ...batch });
      await settle(core, clock);
      const { id } = body as { id: string };
      const ended = { status: 'completed', sent: 900, failed: 0 };
      expect(await core.operations.getBatch(caller, id)).toMatchObject(ended);
    }
    const delivered = (await outboxOf(core)).map(({ to }) => to);
    expect(delivered.sort()).toEqual(numbers);
    expect(await core.carrier.outbox.repeats()).toBe(0);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('controls: a carrier that forgets what it took makes the same crash a duplicate', async () => {
    const { directory, clock } = await diedSending({ when: 'after', method: 'submit', call: 1 });
    await ticks();

    const core = await cores.open(
      { directory, clock },
      { carrier: (carrier) => ({ ...carrier, inquire: async () => 'not_taken' }) },
    );
    await pass(clock, leaseTime + 1_000);
    await core.administration.idle();
    expect(await core.carrier.outbox.repeats()).toBe(1);
  });
});

describe('close()', () => {
  it('gives back what the operator has not answered, and the next start sends it', async () => {
    const directory = cores.folder();
    const first = await cores.open({ directory });
    const slow = { to: ['99000005'], text: 'Hello' };
    const { body } = await first.operations.sendSmsBulk({ caller, params: slow, idempotencyKey: null });
    await ticks();
    await first.close();

    const clock = new ManualClock(Date.now() + 1_000);
    const second = await cores.open({ directory, clock });
    await pass(clock, 41_000);
    await second.administration.idle();
    const batch = await second.operations.getBatch(caller, (body as { id: string }).id);
    expect(batch).toMatchObject({ status: 'completed', sent: 1 });
    expect(await outboxOf(second)).toHaveLength(1);
  });
});
