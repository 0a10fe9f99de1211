import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/service/clock.js';
import type { Core } from '../../src/service/core.js';
import { leaseTime } from '../../src/service/dispatch/held-leases.js';
import { Cores, caller, outboxOf, pass, requestsTo, takeToken, ticks } from '../support/cores.js';

const cores = new Cores();
const truth = Date.UTC(2026, 5, 1, 4);
const hour = 3_600_000;
const day = 86_400_000;
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(truth);
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

const { send } = requestsTo(() => core);
const take = () => takeToken(core, 'sending');

async function taken(requests: number): Promise<number> {
  let allowed = 0;
  for (let request = 0; request < requests; request += 1) if ((await take()).allowed) allowed += 1;
  return allowed;
}

describe('ManualClock', () => {
  it('when it is set, no time passes: its timers wait for as long as before', () => {
    const manual = new ManualClock(1_000);
    const run: number[] = [];
    manual.after(100, () => run.push(manual.now()));
    manual.set(500_000);
    expect([manual.now(), manual.monotonic(), run]).toEqual([500_000, 0, []]);
    manual.advance(-499_900);
    manual.advance(100);
    expect([manual.now(), manual.monotonic(), run]).toEqual([200, 100, [200]]);
  });
});

describe.each([
  ['an hour', hour],
  ['2 days', 2 * day],
  ['a year', 365 * day],
])('a clock that is set back by %s', (_, step) => {
  it('does not stop sending: the rate goes on as before', async () => {
    clock.set(truth + step);
    expect((await take()).allowed).toBe(true);
    clock.set(truth);
    const first = await take();
    clock.advance(first.retryAfter * 1_000);
    expect((await take()).allowed).toBe(true);
  });

  it('does not stop sending after a restart either', async () => {
    const directory = cores.folder();
    const before = await cores.open({ directory, clock: new ManualClock(truth + step) });
    expect((await takeToken(before, 'sending')).allowed).toBe(true);
    await before.close();
    core = await cores.open({ directory, clock });
    await take();
    clock.advance(1_000);
    expect((await take()).allowed).toBe(true);
  });

  it('keeps a recipient capped for one window, counted from when it is noticed', async () => {
    clock.set(truth + step);
    for (let sent = 0; sent < 5; sent += 1) await send('99112233', 'Hi');
    clock.set(truth);
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ retryAfter: 600 });
    clock.advance(300_000);
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ retryAfter: 300 });
    clock.advance(300_000);
    for (let sent = 0; sent < 5; sent += 1)
      expect(await send('99112233', 'Hi')).toMatchObject({ status: 200 });
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ retryAfter: 600 });
  });

  it('delivers what was queued before', async () => {
    const directory = cores.folder();
    const before = await cores.open(
      { directory, clock: new ManualClock(truth + step) },
      { store: (store) => ({ ...store, claimMessages: async () => [] }) },
    );
    const params = { to: 'a@example.mn', subject: 'Hi', text: 'Hi' };
    await before.operations.sendEmail({ caller, params, idempotencyKey: null });
    await before.close();
    core = await cores.open({ directory, clock });
    await pass(clock, 2_000);
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('ends leases that nobody could still hold', async () => {
    const directory = cores.folder();
    const dead = await cores.openMortal(
      { directory, clock: new ManualClock(truth + step) },
      { carrier: (real) => ({ ...real, submit: () => new Promise(() => {}) }) },
    );
    void dead.operations.sendSms({ caller, params: { to: '99112233', text: 'Hi' }, idempotencyKey: 'k' });
    await ticks();
    core = await cores.open({ directory, clock });
    await pass(clock, 2_000);
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('lets a verification live as long as it was to live, and no longer', async () => {
    clock.set(truth + step);
    const { id } = await core.operations.createVerification(caller, { to: '99112233', expires_in: 60 });
    clock.set(truth);
    const check = () => core.operations.checkVerification(caller, id, { code: '000000x' });
    await expect(check()).rejects.toMatchObject({ code: 'invalid_code' });
    clock.advance(60_000);
    await expect(check()).rejects.toMatchObject({ code: 'verification_closed' });
    expect(await core.operations.getVerification(caller, id)).toMatchObject({ status: 'expired' });
  });

  it('does not keep a waiting request waiting', async () => {
    const silent = await cores.openWithCarrier({ clock }, () => ({ inquire: async () => 'unknown' }));
    clock.set(truth + step);
    const params = { to: '99000006', text: 'Hi' };
    const answer = silent.operations.sendSms({ caller, params, idempotencyKey: 'k' });
    const refused = expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    await ticks();
    clock.set(truth);
    await pass(clock, 20_500);
    await refused;
  });
});

describe('a clock that is stepped', () => {
  it('forward does not let a process spend its rate faster than time passes', async () => {
    expect(await taken(60)).toBe(40);
    for (let step = 0; step < 20; step += 1) {
      clock.set(clock.now() + day);
      clock.advance(100);
      expect(await taken(10)).toBe(2);
    }
  });

  it('to and fro every second neither locks out nor lets more through', async () => {
    let allowed = 0;
    for (let second = 0; second < 20; second += 1) {
      clock.set(clock.now() + (second % 2 === 0 ? 2 * day : -2 * day));
      clock.advance(1_000);
      allowed += await taken(60);
    }
    expect(allowed).toBeLessThanOrEqual(40 + 20 * 20);
    expect(allowed).toBeGreaterThanOrEqual(20 * 19);
  });

  it('while a message is with its operator does not make it two, nor later', async () => {
    let goOn = () => {};
    let submitted = 0;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = await cores.openWithCarrier({ clock }, (real) => ({
      async submit(submission, signal) {
        submitted += 1;
        await gate;
        return real.submit(submission, signal);
      },
    }));
    const params = { to: '99112233', text: 'Hi' };
    const answer = slow.operations.sendSms({ caller, params, idempotencyKey: 'k' });
    await ticks();
    clock.set(truth + 2 * day);
    await ticks();
    goOn();
    expect(await answer).toMatchObject({ status: 200 });
    await pass(clock, 2 * leaseTime);
    expect([submitted, (await outboxOf(slow)).length]).toEqual([1, 1]);
  });
});
