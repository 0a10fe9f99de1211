import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import type { Answer } from '../../../src/service/operations/operations.js';
import {
  admit,
  Cores,
  caller,
  ledgerDifference,
  outboxOf,
  pass,
  replayOf,
  ticks,
} from '../../support/cores.js';
import { isOnPostgres } from '../../support/test-engine.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

/** The store has its own races on PostgreSQL, in its conformance suite. */
const keys = Number(process.env.URTUU_TORTURE_KEYS ?? (isOnPostgres() ? 4 : 20));
const clients = 100;
const roomy = { caps: { per_10_minutes: 20, per_24_hours: 80 } };

type Send = (core: Core, key: string, index: number) => Promise<Answer>;
const sends: [string, Send][] = [
  [
    '/v1/sms',
    ({ operations }, idempotencyKey, index) =>
      operations.sendSms({ caller, params: { to: `${88_000_000 + index}`, text: 'Hi' }, idempotencyKey }),
  ],
  [
    '/v1/sms, refused by the operator',
    ({ operations }, idempotencyKey) =>
      operations.sendSms({ caller, params: { to: '99000001', text: 'Hi' }, idempotencyKey }),
  ],
  [
    '/v1/email',
    ({ operations }, idempotencyKey, index) =>
      operations.sendEmail({
        caller,
        params: { to: `a${index}@example.mn`, subject: 'Hi', text: 'Hi' },
        idempotencyKey,
      }),
  ],
  [
    '/v1/sms/bulk',
    ({ operations }, idempotencyKey, index) =>
      operations.sendSmsBulk({
        caller,
        params: { to: [`${88_000_000 + index}`], text: 'Hi' },
        idempotencyKey,
      }),
  ],
  [
    '/v1/email/bulk',
    ({ operations }, idempotencyKey, index) =>
      operations.sendEmailBulk({
        caller,
        params: { to: [`a${index}@example.mn`], subject: 'Hi', text: 'Hi' },
        idempotencyKey,
      }),
  ],
];

describe('Limits, idempotency', () => {
  it.each(sends)(`rules 1 and 3: ${clients} clients at once on each key of %s`, async (path, send) => {
    const directory = cores.folder();
    const services = [
      await cores.open({ directory, settings: roomy }),
      await cores.open({ directory, settings: roomy }),
    ];
    const [core] = services as [Core, Core];
    const refused = path.includes('refused');
    // Messages that wait for their refusal count towards the caps of their one recipient.
    const count = refused ? Math.min(keys, 20) : keys;
    // One key after another: a busy machine would answer 503 to so many at once.
    for (let index = 0; index < count; index += 1) {
      const same = await Promise.all(
        Array.from({ length: clients }, (_, client) =>
          send(services[client % 2] ?? core, `key ${index}`, index),
        ),
      );
      expect(new Set(same.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
      expect(same.filter(({ replayed }) => !replayed)).toHaveLength(1);
    }
    await core.administration.idle();
    expect(await outboxOf(core)).toHaveLength(refused ? 0 : count);
    expect(await core.carrier.outbox.repeats()).toBe(0);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('rule 1: an end that another process found is the same answer for the first request', async () => {
    const directory = cores.folder();
    const clock = new ManualClock();
    const leaseMs = 5_000;
    const lost = await cores.open(
      { directory, clock },
      {
        store: (store) => ({
          ...store,
          finalizeMessages: async (list) => list.map(() => null),
          claimMessages: async () => [],
          claimDoubts: async () => [],
        }),
        leaseMs,
      },
    );
    const params = { to: '88000001', text: 'Hi' };
    const first = lost.operations.sendSms({ caller, params, idempotencyKey: 'k' });
    await ticks();
    const other = await cores.open({ directory, clock }, { leaseMs });
    await other.administration.credit(-500);
    await pass(clock, leaseMs + 1_000);
    const second = await other.operations.sendSms({ caller, params, idempotencyKey: 'k' });
    await other.administration.credit(-500);
    await pass(clock, 1_000);
    expect({ ...(await first), replayed: true }).toEqual(second);
  });

  it('rule 1: a repeat admitted before the first request was accepted gets its answer', async () => {
    const core = await cores.open();
    const params = { to: '88000001', text: 'Hi' };
    const early = await admit(core, { kind: 'sending', idempotencyKey: 'k' });
    expect(early?.replay).toBeNull();
    const first = await core.operations.sendSms({ caller, params, idempotencyKey: 'k' });
    const call = { caller: early?.caller ?? caller, params: { ...params, text: 'Other' } };
    const repeat = await core.operations.sendSms({ ...call, idempotencyKey: 'k' });
    expect(repeat).toEqual({ ...first, replayed: true });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('rule 1: a repeat admitted while the first request is running waits for its answer', async () => {
    const clock = new ManualClock();
    const core = await cores.open({ clock });
    const slow = { to: '99000004', text: 'Hi' };
    const first = core.operations.sendSms({ caller, params: slow, idempotencyKey: 'k' });
    await vi.waitUntil(async () => (await outboxOf(core)).length === 1);
    const admitted = await admit(core, { kind: 'sending', idempotencyKey: 'k' });
    let isAnswered = false;
    const repeat = admitted?.replay?.().finally(() => {
      isAnswered = true;
    });
    await ticks();
    expect([repeat === undefined, isAnswered]).toEqual([false, false]);
    await pass(clock, 10_000);
    expect(await repeat).toEqual({ ...(await first), replayed: true });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('rule 4: a failed send is reported again, and after a restart too', async () => {
    const directory = cores.folder();
    const first = await cores.open({ directory });
    const failed = await sends[1]?.[1](first, 'k', 0);
    expect(failed?.status).toBe(502);
    await first.close();
    const second = await cores.open({ directory });
    expect(await replayOf(second, 'k')).toEqual({ ...failed, replayed: true });
  });
});
