import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, ManualClock } from '../../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../../src/service/core.js';
import { leaseTime } from '../../../src/service/dispatch/held-leases.js';
import { lockedTooLong } from '../../../src/service/storage/sqlite/database/busy.js';
import type { Store } from '../../../src/service/storage/store.js';
import { Cores, caller, ledgerDifference, outboxOf, pass, requestsTo, ticks } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

let core: Core;
const { send, sendBulk, balance } = requestsTo(() => core);
const clock = () => new ManualClock(Date.UTC(2026, 5, 1, 4));
const statusOf = async (answer: Promise<{ body: object }>) => {
  const { id } = (await answer).body as { id: string };
  return async () => (await core.operations.getBatch(caller, id)).status;
};
/** A store one of whose methods fails while `fails` says so. */
const failing = (method: keyof Store, fails: () => boolean): CoreDoubles => ({
  store: (store) => ({
    ...store,
    [method]: (...args: never[]) => {
      if (fails()) throw new TypeError(`${method} of 99112233 broke`);
      return (store[method] as (...given: never[]) => unknown)(...args);
    },
  }),
});

const withRoom = (capacity: () => number): CoreDoubles => ({
  carrier: (carrier) => ({ ...carrier, capacity }),
});

describe('a worker that meets an unexpected error', () => {
  it.each(['nextWork', 'claimMessages'] as const)(
    'in %s reports it, waits longer each time, goes on',
    async (method) => {
      const time = clock();
      let broken = true;
      core = await cores.open(
        { clock: time },
        // Nothing of a batch is claimed as it is accepted, and there is room to claim it afterwards.
        { ...failing(method, () => broken), ...withRoom(() => (broken ? 1 : 2_000)) },
      );
      await ticks();
      cores.faults.length = 0;
      const many = Array.from({ length: 1_000 }, (_, at) => `${88_000_000 + at}`);
      const status = await statusOf(sendBulk(many, 'Hi'));
      for (let index = 0; index < 50; index += 1) {
        const to = [`p${index}@example.mn`, `q${index}@example.mn`];
        const params = { to, subject: 'Hi', text: 'Hi' };
        await core.operations.sendEmailBulk({ caller, params, idempotencyKey: null });
        await ticks(2);
      }
      await pass(time, 60_000);
      // 1, 2, 4, 8, 10, 10 ... seconds after each other, however much is accepted meanwhile.
      expect(cores.faults.length).toBeGreaterThan(4);
      expect(cores.faults.length).toBeLessThan(10);
      expect(cores.faults[0]).toMatchObject({
        level: 'error',
        request_id: null,
        code: 'TypeError',
        stack: expect.stringMatching(new RegExp(`^TypeError: ${method} of … broke\\n`)),
      });
      broken = false;
      await pass(time, 31_000);
      expect(await status()).toBe('completed');
      expect(await outboxOf(core)).toHaveLength(1_100);
      expect(await ledgerDifference(core)).toBe(0);
    },
  );

  it('in writing down an end: the message is sent once, and ends by itself', async () => {
    const time = clock();
    let broken = true;
    core = await cores.open(
      { clock: time },
      failing('finalizeMessages', () => broken),
    );
    const answers = [send('99112233', 'Hi', 'k'), send('88112233', 'Hi')];
    const verification = core.operations.createVerification(caller, { to: '89112233' });
    await ticks();
    expect(await outboxOf(core)).toHaveLength(3);
    expect(cores.faults.map(({ stack }) => stack.split('\n')[0])).toEqual([
      'TypeError: finalizeMessages of … broke',
    ]);
    broken = false;
    await pass(time, 6_000);
    for (const answer of answers) expect(await answer).toMatchObject({ status: 200, replayed: false });
    expect(await verification).toMatchObject({ status: 'pending', balance: 99_970 });
    expect(await send('99112233', 'Hi', 'k')).toMatchObject({ status: 200, replayed: true });
    expect(await outboxOf(core)).toHaveLength(3);
  });

  it('a store that is slow for long fails no message that was never submitted', async () => {
    const time = clock();
    let slow = true;
    let isOpen = false;
    core = await cores.open(
      { clock: time },
      {
        store: (store) => ({
          ...store,
          // As where another program writes for as long as a lease, again and again.
          async claimMessages(claim) {
            const claimed = await store.claimMessages(claim);
            if (slow) time.advance(leaseTime);
            return claimed;
          },
        }),
        ...withRoom(() => (isOpen ? 2_000 : 0)),
      },
    );
    const params = { to: 'bat@example.mn', subject: 'Hi', text: 'Hi' };
    const { body } = await core.operations.sendEmail({ caller, params, idempotencyKey: null });
    const { id } = body as { id: string };
    isOpen = true;
    await pass(time, 600_000, 5_000);
    expect(await core.operations.getMessage(caller, id)).toMatchObject({ status: 'queued', error: null });
    slow = false;
    await pass(time, 61_000);
    expect(await core.operations.getMessage(caller, id)).toMatchObject({ status: 'sent' });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('a store that was slow for longer than a lease fails no message as one that waited for a day', async () => {
    const time = clock();
    // Without room the email waits to be claimed.
    let isOpen = false;
    let isSlow = true;
    const outcomes: string[] = [];
    core = await cores.open(
      { clock: time },
      {
        carrier: (carrier) => ({ ...carrier, capacity: () => (isOpen ? 100 : 0) }),
        store: (store) => ({
          ...store,
          async claimMessages(claim) {
            const claimed = await store.claimMessages(claim);
            if (claimed.length === 0 || !isSlow) return claimed;
            isSlow = false;
            time.advance(leaseTime + 1_000);
            // Its lease makes the dispatcher forget the one that is over; then the carrier disconnects.
            await send('99112233', 'Hi');
            isOpen = false;
            return claimed;
          },
          finalizeMessages(all, answer) {
            outcomes.push(
              ...all.map(({ claimed, outcome }) => `${claimed.message.channel} ${outcome.status}`),
            );
            return store.finalizeMessages(all, answer);
          },
        }),
      },
    );
    const params = { to: 'bat@example.mn', subject: 'Hi', text: 'Hi' };
    await core.operations.sendEmail({ caller, params, idempotencyKey: null });
    await ticks(50);
    isOpen = true;
    await pass(time, 5_000);
    expect(outcomes).toEqual(['sms sent']);
    isOpen = true;
    await pass(time, 5_000);
    expect(outcomes).toEqual(['sms sent', 'email sent']);
  });

  it('in writing down an end, for long: says that the message was accepted, and never that nothing was done', async () => {
    const time = clock();
    let broken = true;
    core = await cores.openWith({ clock: time }, (store) => ({
      finalizeMessages: (...parameters) =>
        broken ? Promise.reject(lockedTooLong()) : store.finalizeMessages(...parameters),
    }));
    const answers = [send('99112233', 'Hi', 'k'), send('88112233', 'Hi')].map((answer) =>
      answer.catch((error) => error),
    );
    const verification = core.operations.createVerification(caller, { to: '89112233' });
    await pass(time, 21_000);
    for (const answer of answers) {
      expect(await answer).toMatchObject({
        status: 503,
        message: expect.stringMatching(/^The message was accepted, but its outcome is not known yet/),
      });
    }
    const { id } = await verification;
    broken = false;
    await pass(time, 6_000);
    expect(await core.operations.getVerification(caller, id)).toMatchObject({ status: 'pending' });
    expect(await outboxOf(core)).toHaveLength(3);
    expect(await core.carrier.outbox.repeats()).toBe(0);
  });

  it('in writing down many ends: reports one error for all at each try, and writes them together', async () => {
    const time = clock();
    // Each timer in a tick of its own, as those of Node.js.
    const turning: Clock = {
      now: () => time.now(),
      monotonic: () => time.monotonic(),
      after: (milliseconds, run) => time.after(milliseconds, () => setImmediate(run)),
    };
    let broken = true;
    const sizes: number[] = [];
    core = await cores.openWith({ clock: turning }, (store) => ({
      finalizeMessages: async (all, answer) => {
        sizes.push(all.length);
        if (broken) throw lockedTooLong();
        return store.finalizeMessages(all, answer);
      },
    }));
    const many = Array.from({ length: 1_000 }, (_, at) => `${88_000_000 + at}`);
    const { id } = (await sendBulk(many, 'Hi')).body as { id: string };
    await ticks(60);
    await pass(time, 8_000);
    expect(cores.faults.length).toBe(sizes.length);
    broken = false;
    await pass(time, 10_000);
    expect(sizes.length).toBeLessThan(10);
    expect(await core.operations.getBatch(caller, id)).toMatchObject({ status: 'completed', sent: 1_000 });
  });

  it('in writing down the end of one of many: holds up no other', async () => {
    const time = clock();
    let broken = true;
    core = await cores.openWith({ clock: time }, (store) => ({
      finalizeMessages: async (all, answer) => {
        if (broken && all.some(({ claimed }) => claimed.message.to === '88000500'))
          throw new TypeError('broke');
        return store.finalizeMessages(all, answer);
      },
    }));
    const many = Array.from({ length: 1_000 }, (_, at) => `${88_000_000 + at}`);
    const { id } = (await sendBulk(many, 'Hi')).body as { id: string };
    await ticks(60);
    expect(await core.operations.getBatch(caller, id)).toMatchObject({ sent: 999 });
    expect(cores.faults.map(({ code }) => code)).toEqual(['TypeError']);
    broken = false;
    await pass(time, 2_000);
    expect(await core.operations.getBatch(caller, id)).toMatchObject({ status: 'completed', sent: 1_000 });
  });

  it('in renewing leases: warns and tries again', async () => {
    const time = clock();
    core = await cores.open({ clock: time }, { ...failing('renewLeases', () => true), leaseMs: 5_000 });
    const answer = send('99000003', 'Hi');
    await pass(time, 2_000);
    expect(await answer).toMatchObject({ status: 200 });
    expect(cores.faults).toMatchObject([{ level: 'warning', code: 'TypeError' }]);
  });

  it('of a carrier reports it; what a carrier expects is none', async () => {
    const time = clock();
    core = await cores.openWithCarrier({ clock: time }, (carrier) => ({
      submit: async (submission, signal) => {
        if (submission.to === '88112233' && submission.attempt === 1) throw new TypeError('a bug');
        return carrier.submit(submission, signal);
      },
    }));
    const answers = ['99000006', '99000008', '88112233'].map((to) => send(to, 'Hi'));
    await pass(time, 1_000);
    for (const answer of answers) expect(await answer).toMatchObject({ status: 200 });
    expect(cores.faults.map(({ stack }) => stack.split('\n')[0])).toEqual(['TypeError: a bug']);
    expect(await outboxOf(core)).toHaveLength(3);
  });
});

describe('an error before any submission counts as an attempt, and the message ends as failed and refunded', () => {
  it('a text that cannot be decrypted', async () => {
    const time = clock();
    const directory = cores.folder();
    const spoilt = (store: Store): Store => ({
      ...store,
      acceptVerification: (acceptance) =>
        store.acceptVerification({
          ...acceptance,
          content: { ...acceptance.content, encrypted: new Uint8Array(40) },
        }),
    });
    core = await cores.open({ clock: time, directory }, { store: spoilt });
    const { id } = await core.operations.createVerification(caller, { to: 'bat@example.mn' });
    expect(await balance()).toBe(99_998);
    await pass(time, 60_000);
    expect(await core.operations.getVerification(caller, id)).toMatchObject({ status: 'failed', credits: 0 });
    expect([await balance(), await ledgerDifference(core)]).toEqual([100_000, 0]);
    expect(cores.faults).toHaveLength(10);
    expect(await outboxOf(core)).toEqual([]);
  });

  it('settings of a project that cannot be read hold nobody else up', async () => {
    const time = clock();
    let waits = true;
    core = await cores.open(
      { clock: time },
      withRoom(() => (waits ? 0 : 2_000)),
    );
    const { id } = await core.administration.createProject('Other');
    const params = { to: 'bat@example.mn', subject: 'Hi', text: 'Hi' };
    const [unreadable, readable] = await Promise.all(
      [id, caller.projectId].map(async (projectId) => {
        const one = { projectId, keyId: 'x' };
        const { body } = await core.operations.sendEmail({ caller: one, params, idempotencyKey: null });
        return () => core.store.getMessage(projectId, (body as { id: string }).id);
      }),
    );
    await core.store.changeSettings(id, () => 'no JSON: 99112233');
    waits = false;
    await pass(time, 60_000);
    expect(await readable?.()).toMatchObject({ status: 'sent' });
    expect(await unreadable?.()).toMatchObject({ status: 'failed', credits: 0 });
    expect(cores.faults).toHaveLength(10);
    expect(JSON.stringify(cores.faults)).not.toContain('99112233');
  });
});

describe('submissions that share a deadline', () => {
  it('make Node.js warn of nothing, however many they are', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const time = clock();
    core = await cores.open({ clock: time });
    const to = Array.from({ length: 20 }, (_, at) => `fault-2s@d${at}.mn`);
    const params = { to, subject: 'Hi', text: 'Hi' };
    await core.operations.sendEmailBulk({ caller, params, idempotencyKey: null });
    await pass(time, 3_000);
    expect(await outboxOf(core)).toHaveLength(20);
    expect(warnings).toEqual([]);
  });
});

describe('room', () => {
  it.each([
    [20, 18],
    [2_100, 2_000],
    [9, 9],
  ])('of %i takes %i of batches: what is left goes to single messages', async (capacity, taken) => {
    const inCarrier: (() => void)[] = [];
    core = await cores.openWithCarrier({ clock: clock() }, (carrier) => ({
      capacity: () => capacity,
      submit(submission, signal) {
        if (submission.to.startsWith('99')) return carrier.submit(submission, signal);
        return new Promise((resolve) => inCarrier.push(() => resolve(carrier.submit(submission, signal))));
      },
    }));
    for (let batch = 0; batch < 3; batch += 1) {
      await sendBulk(
        Array.from({ length: 1_000 }, (_, at) => `${88_000_000 + batch * 1_000 + at}`),
        'Hi',
      );
    }
    await ticks(200);
    expect(inCarrier).toHaveLength(taken);
    if (capacity > taken) expect(await send('99112233', 'Hi')).toMatchObject({ status: 200 });
    while (inCarrier.length > 0) {
      for (const answer of inCarrier.splice(0)) answer();
      await ticks(200);
    }
    expect(await outboxOf(core)).toHaveLength(capacity > taken ? 3_001 : 3_000);
  });

  it.each([
    [3, 1_000],
    [3, 900],
    [7, 1_000],
    [30, 300],
  ])('%i batches of %i at once all end, though time stands still', async (count, size) => {
    core = await cores.open({ clock: clock() });
    const ends = await Promise.all(
      Array.from({ length: count }, (_, batch) =>
        statusOf(
          sendBulk(
            Array.from({ length: size }, (_, at) => `${88_000_000 + batch * size + at}`),
            'Hi',
          ),
        ),
      ),
    );
    // Not by way of idle(), which looks for what is due.
    await ticks(600);
    expect(await Promise.all(ends.map((status) => status()))).toEqual(Array(count).fill('completed'));
    expect(await outboxOf(core)).toHaveLength(count * size);
    expect(await core.carrier.outbox.repeats()).toBe(0);
  });
});
