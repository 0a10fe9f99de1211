import { afterEach, describe, expect, it } from 'vitest';
import type { Submission } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../../src/service/core.js';
import type { Answer } from '../../../src/service/operations/operations.js';
import { lockedTooLong } from '../../../src/service/storage/sqlite/database/busy.js';
import { Cores, caller, ledgerDifference, outboxOf, pass, replayOf, ticks } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

const send = (core: Core, to: string, idempotencyKey: string | null = null) =>
  core.operations.sendSms({ caller, params: { to, text: 'Hi' }, idempotencyKey });
const sendBulk = (core: Core, to: string[]) =>
  core.operations.sendSmsBulk({ caller, params: { to, text: 'Hi' }, idempotencyKey: null });
const idOf = ({ body }: Answer) => (body as { id: string }).id;
const newClock = () => new ManualClock(Date.UTC(2026, 5, 1));

/** Every delivery is of a message that the service knows as sent, once; every balance is that of its ledger. */
async function expectWhole(core: Core, count: number): Promise<void> {
  const deliveries = await outboxOf(core);
  const messages = await Promise.all(
    deliveries.map(({ message_id }) => core.store.getMessage(caller.projectId, message_id)),
  );
  expect(messages.map((message) => message?.status)).toEqual(Array(count).fill('sent'));
  expect(await core.carrier.outbox.repeats()).toBe(0);
  expect(await ledgerDifference(core)).toBe(0);
  expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 - count * 10 });
}

/** Submissions to one number wait until `goOn`. */
function stuckAt(number: string) {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const doubles: CoreDoubles = {
    carrier: (carrier) => ({
      ...carrier,
      async submit(submission: Submission, signal: AbortSignal) {
        if (submission.to === number) await gate;
        return carrier.submit(submission, signal);
      },
    }),
  };
  return { doubles, goOn: () => goOn() };
}

describe('a reset', () => {
  it.each(['99000004', '99000006'])('ends a send that is on its way (to %s), then empties', async (to) => {
    const clock = newClock();
    const core = await cores.open({ clock });
    const before = send(core, to, 'k');
    await ticks(2);
    await core.administration.reset();
    expect(await before).toMatchObject({ status: 200, body: { status: 'sent' } });
    await expectWhole(core, 0);
    const after = send(core, to, 'k');
    await pass(clock, 11_000);
    expect(await after).toMatchObject({ status: 200, replayed: false });
    expect(idOf(await after)).not.toBe(idOf(await before));
    await expectWhole(core, 1);
  });

  it('gives no request the answer of another message', async () => {
    const clock = newClock();
    const core = await cores.open({ clock });
    // Nobody can tell for 30 seconds whether it was taken.
    const waiting = [send(core, '99000007', 'k'), send(core, '99000007'), send(core, '99000007', 'k')].map(
      (answer) => answer.then(idOf, (error) => error),
    );
    await ticks();
    const resetting = core.administration.reset();
    await ticks(1);
    const after = send(core, '88112233', 'k');
    await resetting;
    expect(await after).toMatchObject({ status: 200, replayed: false, body: { to: '88112233' } });
    for (const one of waiting) {
      expect(await one).toMatchObject({ code: 'unavailable', status: 503, retryAfter: 1 });
    }
    await expectWhole(core, 1);
  });

  it('gives a request that another process finalizes no answer of another message', async () => {
    const clock = newClock();
    const directory = cores.folder();
    let resetNow: () => Promise<void> = async () => {};
    const core = await cores.openWith({ clock, directory }, (store) => ({
      // Just before its end is written down, it is gone, and its key is another message's.
      async finalizeMessages(finalizations, answer) {
        await resetNow();
        return store.finalizeMessages(finalizations, answer);
      },
    }));
    const other = await cores.open({ clock, directory });
    resetNow = async () => {
      resetNow = async () => {};
      await other.administration.reset();
      await send(other, '88112233', 'k');
    };
    await expect(send(core, '99112233', 'k')).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    expect(await send(core, '99112233', 'k')).toMatchObject({ replayed: true, body: { to: '88112233' } });
    await expectWhole(core, 1);
  });

  it('holds back what arrives meanwhile: it comes after it, whole', async () => {
    const core = await cores.open({ clock: newClock() });
    const numbers = Array.from({ length: 300 }, (_, index) => `${88_000_000 + index}`);
    const before = Promise.allSettled(numbers.slice(0, 100).map((to) => send(core, to, to)));
    const resetting = core.administration.reset();
    await ticks(1);
    const during = numbers.slice(100).map((to) => send(core, to, to));
    const batch = sendBulk(core, ['99112233', '99112234']);
    const email = core.operations.createVerification(caller, { to: '99112235' });
    await resetting;
    await Promise.all([...during, batch, email]);
    await before;
    await core.administration.idle();
    // Repeats of those that were answered before it are new sends.
    await Promise.all(numbers.map((to) => send(core, to, to)));
    await expectWhole(core, 303);
  });

  it('of several at once are one after the other', async () => {
    const core = await cores.open({ clock: newClock() });
    const resets = [1, 2, 3].map(() => core.administration.reset());
    const during = send(core, '99112233', 'k').catch(() => {});
    await Promise.all(resets);
    await during;
    await send(core, '99112233', 'k');
    await expectWhole(core, 1);
  });

  it('leaves no timer and no lease behind: what comes after it is renewed', async () => {
    const clock = newClock();
    const renewed: string[] = [];
    const core = await cores.openWith({ clock }, (store) => ({
      renewLeases(tokens, leaseMs) {
        renewed.push(...tokens);
        return store.renewLeases(tokens, leaseMs);
      },
    }));
    const before = send(core, '99000005');
    await ticks();
    await core.administration.reset();
    await before;
    const after = send(core, '99000005');
    await pass(clock, 35_000);
    expect(renewed.length).toBeGreaterThanOrEqual(3);
    await pass(clock, 6_000);
    expect(await after).toMatchObject({ status: 200 });
    await expectWhole(core, 1);
  });
});

describe('a reset that fails', () => {
  it.each(['beginReset', 'reset', 'endReset'] as const)(
    'in %s says so, and everything goes on',
    async (method) => {
      const clock = newClock();
      let broken = true;
      const core = await cores.openWith({ clock }, (store) => ({
        [method]: async (...args: never[]) => {
          if (broken) throw new Error('database is locked');
          return (store[method] as (...given: never[]) => unknown)(...args);
        },
      }));
      const kept = await send(core, '99112233', 'k');
      const resetting = core.administration.reset();
      if (method === 'endReset') await resetting;
      else await expect(resetting).rejects.toThrow('database is locked');
      // A reset that could not say that it is over is so by itself.
      await pass(clock, method === 'endReset' ? 5_000 : 0);
      if (method !== 'endReset') {
        expect(await send(core, '99112233', 'k')).toEqual({ ...kept, replayed: true });
      }
      const email = { to: 'bat@example.mn', subject: 'Hi', text: 'Hi' };
      await core.operations.sendEmail({ caller, params: email, idempotencyKey: null });
      const slow = send(core, '99000003');
      await pass(clock, 2_000);
      expect(await slow).toMatchObject({ status: 200 });
      expect((await outboxOf(core)).map(({ to }) => to)).toEqual(
        expect.arrayContaining(['bat@example.mn', '99000003']),
      );
      broken = false;
      await core.administration.reset();
      await expectWhole(core, 0);
    },
  );

  it.each([() => new Error('disk full'), lockedTooLong])(
    'in emptying the outbox: says that the store is empty by then, and another one empties the rest',
    async (failure) => {
      const core = await cores.open({ clock: newClock() });
      await send(core, '99112233', 'k');
      const { reset } = core.carrier.outbox;
      core.carrier.outbox.reset = () => Promise.reject(failure());
      await expect(core.administration.reset()).rejects.toMatchObject({
        code: 'unavailable',
        message: 'the messages were removed, but not the outbox; reset again to finish',
      });
      expect(cores.faults).toMatchObject([{ stack: expect.stringContaining(failure().message) }]);
      expect(await replayOf(core, 'k')).toBeNull();
      expect(await send(core, '99112233', 'k')).toMatchObject({ status: 200, replayed: false });
      core.carrier.outbox.reset = reset;
      await core.administration.reset();
      await expectWhole(core, 0);
    },
  );
});

describe('a reset by another process', () => {
  it('fences what this one was about to submit: a repeat sends it once', async () => {
    const clock = newClock();
    const directory = cores.folder();
    const stuck = stuckAt('99112233');
    const core = await cores.open({ clock, directory }, stuck.doubles);
    const waiting = expect(send(core, '99112233', 'k')).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
    });
    const alone = expect(send(core, '99112233')).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    await ticks();
    const other = await cores.open({ clock, directory });
    await other.administration.reset();
    const again = send(other, '99112233', 'k');
    stuck.goOn();
    await Promise.all([waiting, alone]);
    expect(await again).toMatchObject({ status: 200, replayed: false });
    await expectWhole(other, 1);
    expect(await send(core, '99112233', 'k')).toEqual({ ...(await again), replayed: true });
  });

  it('holds back what is sent here, and it comes after it', async () => {
    const clock = newClock();
    const directory = cores.folder();
    const core = await cores.open({ clock, directory });
    const other = await cores.open({ clock, directory });
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { reset } = other.carrier.outbox;
    other.carrier.outbox.reset = async () => {
      await gate;
      await reset();
    };
    const resetting = other.administration.reset();
    await ticks();
    const sends = [send(core, '99112233', 'k'), sendBulk(core, ['88112233', '88112234'])];
    await ticks();
    expect(await outboxOf(core)).toEqual([]);
    goOn();
    await resetting;
    await pass(clock, 1_000);
    expect((await Promise.all(sends)).map(({ status }) => status)).toEqual([200, 202]);
    await core.administration.idle();
    await expectWhole(core, 3);
  });

  it('that dies in the middle of it is over after some seconds', async () => {
    const clock = newClock();
    const directory = cores.folder();
    const core = await cores.open({ clock, directory });
    await core.store.beginReset('dead', 4_000);
    const sent = send(core, '99112233', 'k');
    await pass(clock, 5_000);
    expect(await sent).toMatchObject({ status: 200 });
    const reset = core.administration.reset();
    await pass(clock, 1_000);
    await reset;
    await expectWhole(core, 0);
  });

  it('that never ends is told as 503 with the time to wait', async () => {
    const clock = newClock();
    const core = await cores.open({ clock });
    await core.store.beginReset('endless', 60_000);
    const refused = expect(send(core, '99112233')).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: 1,
    });
    await pass(clock, 21_000, 1_000);
    await refused;
  });
});
