import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Carrier, Submission, SubmitResult } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, pass, requestsTo, ticks } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

let core: Core;
let clock: ManualClock;
let submissions: { to: string; at: number; attempt: number; route: string }[];
let answer: (submission: Submission) => SubmitResult | Promise<SubmitResult> | null;
let beforeAcceptance: () => Promise<unknown>;
const { send, sendBulk, balance } = requestsTo(() => core);
const email = () =>
  core.operations.sendEmail({
    caller,
    params: { to: 'bat@example.mn', subject: 'S', text: 'T' },
    idempotencyKey: null,
  });
const later = (scope: 'message' | 'lane'): SubmitResult => ({
  kind: 'later',
  reason: 'busy',
  code: 'busy',
  scope,
});
const times = (to: string) => submissions.filter((one) => one.to === to).map(({ at }) => at);

beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 5, 1));
  const start = clock.now();
  submissions = [];
  answer = () => null;
  beforeAcceptance = async () => {};
  core = await cores.open(
    { clock },
    {
      store: (store) => ({
        ...store,
        async acceptMessage(message) {
          await beforeAcceptance();
          return store.acceptMessage(message);
        },
      }),
      carrier: (carrier): Carrier => ({
        ...carrier,
        async submit(submission, signal) {
          const { to, attempt, route } = submission;
          submissions.push({ to, attempt, route, at: Math.round((clock.now() - start) / 1_000) });
          return (await answer(submission)) ?? carrier.submit(submission, signal);
        },
      }),
    },
  );
});

describe('a carrier that puts a message off', () => {
  it('is given it again after 5 s, 30 s, 2, 5, 10, 20 and 30 minutes, then hourly, for a day', async () => {
    answer = () => later('message');
    const { body } = await email();
    await pass(clock, 200_000, 1_000);
    expect(times('bat@example.mn')).toEqual([0, 5, 35, 155]);
    await pass(clock, 26 * 3_600_000, 60_000);
    expect(times('bat@example.mn').length).toBeGreaterThan(28);
    const { id } = body as { id: string };
    expect(await core.operations.getMessage(caller, id)).toMatchObject({
      status: 'failed',
      credits: 0,
      error: { code: 'provider_failed' },
    });
    expect([await balance(), await ledgerDifference(core)]).toEqual([100_000, 0]);
  });

  it('for 15 s fails a single SMS, which takes its next route after 8: not taken and refunded', async () => {
    answer = () => later('message');
    const failed = send('99112233', 'Hi', 'k');
    await pass(clock, 16_000);
    expect(await failed).toMatchObject({ status: 502, body: { error: { code: 'provider_failed' } } });
    expect(submissions.map(({ at, route }) => [at, route])).toEqual([
      [0, 'Mobicom'],
      [5, 'Mobicom'],
      [8, 'Mobicom'],
      [8, 'no-link'],
      [15, 'Mobicom'],
    ]);
    expect(await balance()).toBe(100_000);
    expect(await outboxOf(core)).toEqual([]);
  });

  it('for 15 s does so too after a submission of a fraction of a millisecond', async () => {
    answer = () => {
      clock.advance(0.3);
      return later('message');
    };
    const failed = send('99112233', 'Hi', 'k');
    await pass(clock, 16_000);
    expect(await failed).toMatchObject({ status: 502, body: { error: { code: 'provider_failed' } } });
    expect(await balance()).toBe(100_000);
  });

  it('once, is given it again, and the send is answered then', async () => {
    const sent = send('99000024', 'Hi');
    await pass(clock, 6_000);
    expect(await sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(times('99000024')).toEqual([0, 5]);
  });

  it('never gets a code that has expired', async () => {
    answer = () => later('message');
    const { id } = await core.operations.createVerification(caller, { to: 'bat@example.mn', expires_in: 60 });
    await ticks();
    await pass(clock, 34_000);
    answer = () => null;
    await pass(clock, 120_000);
    expect(await outboxOf(core)).toHaveLength(1);
    expect(await core.operations.getVerification(caller, id)).toMatchObject({ status: 'expired' });
    const late = core.operations.createVerification(caller, { to: 'dorj@example.mn', expires_in: 60 });
    answer = ({ to }) => (to === 'dorj@example.mn' ? later('message') : null);
    const second = await late;
    await pass(clock, 3_600_000, 1_000);
    expect(times('dorj@example.mn')).toHaveLength(3);
    expect(await core.operations.getVerification(caller, second.id)).toMatchObject({ credits: 0 });
  });
});

describe('a carrier that takes nothing now', () => {
  it('pauses its lane, longer each time, and holds up no other one', async () => {
    answer = ({ channel }) => (channel === 'email' ? later('lane') : null);
    await email();
    await ticks();
    expect(await send('99112233', 'Hi')).toMatchObject({ status: 200 });
    await pass(clock, 130_000);
    const waits = times('bat@example.mn').map((at, index, all) => at - (all[index - 1] ?? 0));
    expect(waits.slice(1, 6)).toEqual([1, 2, 4, 8, 16]);
    answer = () => null;
    await pass(clock, 60_000);
    expect(await outboxOf(core)).toHaveLength(2);
    expect(await core.carrier.outbox.repeats()).toBe(0);
  });

  it('fails a single SMS after 15 s, though its lane submits nothing', async () => {
    answer = () => ({ ...later('lane'), retryAfterMs: 60_000 });
    const failed = send('99112233', 'Hi');
    await pass(clock, 17_000);
    expect(await failed).toMatchObject({
      status: 502,
      body: { error: { message: 'The message was not submitted: the lane sms is paused (busy)' } },
    });
    expect(times('99112233')).toEqual([0]);
    expect(await balance()).toBe(100_000);
  });
});

describe('a lane that its owner pauses', () => {
  it('while an SMS is accepted fails it after 15 s: not submitted', async () => {
    beforeAcceptance = () => core.store.pauseLane('sms');
    const failed = send('99112233', 'Hi');
    await pass(clock, 17_000);
    const message = 'The message was not submitted: the lane sms is paused';
    expect(await failed).toMatchObject({ status: 502, body: { error: { message } } });
    expect([submissions, await balance(), await outboxOf(core)]).toEqual([[], 100_000, []]);
  });

  it('after an SMS was put off fails it after 15 s, with the last answer', async () => {
    answer = () => later('message');
    const failed = send('99112233', 'Hi');
    await ticks();
    await core.administration.setLaneStatus('sms', 'paused');
    await pass(clock, 17_000);
    const message =
      'The operator did not accept the message: Mobicom answered busy; then the lane sms is paused';
    expect(await failed).toMatchObject({ status: 502, body: { error: { message } } });
    expect([times('99112233'), await balance(), await outboxOf(core)]).toEqual([[0], 100_000, []]);
  });
});

describe('a carrier that never answers', () => {
  it('cannot keep a message: its submission is aborted, and the carrier is asked', async () => {
    answer = () => new Promise(() => {});
    const { body } = await sendBulk(['99112233'], 'Hi');
    await pass(clock, 30_000);
    answer = () => null;
    await pass(clock, 40_000);
    const { id } = body as { id: string };
    expect(await core.operations.getBatch(caller, id)).toMatchObject({ sent: 1 });
    expect(submissions.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await outboxOf(core)).toHaveLength(1);
  });
});

describe('a carrier that answers after its deadline', () => {
  const late = async (result: SubmitResult) => {
    let submitted = 0;
    core = await cores.open(
      { clock },
      {
        // One that cannot be asked.
        carrier: ({ inquire: _, ...carrier }): Carrier => ({
          ...carrier,
          async submit(submission, signal) {
            submitted += 1;
            if (submitted > 1) return carrier.submit(submission, signal);
            return new Promise((resolve) => clock.after(70_000, () => resolve(result)));
          },
        }),
      },
    );
    const { id } = (await sendBulk(['99112233'], 'Hi')).body as { id: string };
    await pass(clock, 400_000, 1_000);
    return { batch: await core.operations.getBatch(caller, id), balance: await balance() };
  };

  it('with a refusal ends the doubt: the message fails and is refunded', async () => {
    const { batch, balance } = await late({ kind: 'refused', reason: 'no', tryNextRoute: false });
    expect([batch, balance]).toMatchObject([{ status: 'completed', sent: 0, failed: 1 }, 100_000]);
    expect(await outboxOf(core)).toEqual([]);
  });

  it.each([later('message'), { kind: 'refused', reason: 'no', tryNextRoute: true } as const])(
    'with $kind ends the doubt: the message is submitted again',
    async (result) => {
      const { batch, balance } = await late(result);
      expect([batch, balance]).toMatchObject([{ status: 'completed', sent: 1, failed: 0 }, 99_990]);
      expect(await outboxOf(core)).toHaveLength(1);
    },
  );
});

describe('a carrier that does not say what became of a message', () => {
  it('keeps no room in its lane, no message, and no service from closing', async () => {
    core = await cores.open(
      { clock },
      {
        carrier: (carrier): Carrier => ({
          ...carrier,
          capacity: () => 3,
          submit: async (submission, signal) => {
            if (submission.to.startsWith('88')) throw new TypeError('lost');
            return carrier.submit(submission, signal);
          },
          inquire: () => new Promise(() => {}),
        }),
      },
    );
    const first = (await sendBulk(['88000001', '88000002', '88000003'], 'Hi')).body as { id: string };
    await ticks();
    const second = (await sendBulk(['99112233'], 'Hi')).body as { id: string };
    await pass(clock, 70_000, 1_000);
    expect(await core.operations.getBatch(caller, second.id)).toMatchObject({ sent: 1 });
    await pass(clock, 400_000, 1_000);
    expect(await core.operations.getBatch(caller, first.id)).toMatchObject({ status: 'completed', sent: 3 });
    await sendBulk(['88000004'], 'Hi');
    await ticks();
    const closed = core.close();
    await pass(clock, 70_000, 1_000);
    await closed;
  });
});

describe('a clock that is set back while messages wait for their next try', () => {
  it('makes the caller of a single SMS wait no longer', async () => {
    const sent = send('99000024', 'Hi');
    await ticks();
    clock.set(clock.now() - 3_000_000);
    await pass(clock, 10_000);
    expect(await sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(await core.carrier.outbox.repeats()).toBe(0);
  });

  it('holds up no message behind others that wait rightly', async () => {
    let isOpen = true;
    let claims = 0;
    core = await cores.open(
      { clock },
      {
        carrier: (carrier): Carrier => ({
          ...carrier,
          capacity: () => (isOpen ? 1 : 0),
          submit: async (submission, signal) =>
            submission.to === '88112233'
              ? { kind: 'later', reason: 'busy', code: 'busy', scope: 'message', retryAfterMs: 1_000_000 }
              : carrier.submit(submission, signal),
        }),
        store: (store) => ({
          ...store,
          claimMessages(claim) {
            claims += 1;
            return store.claimMessages(claim);
          },
        }),
      },
    );
    await sendBulk(['88112233'], 'Hi');
    await ticks();
    isOpen = false;
    await sendBulk(['99112233'], 'Hi');
    clock.set(clock.now() - 600_000);
    isOpen = true;
    claims = 0;
    await pass(clock, 5_000, 10);
    expect(await outboxOf(core)).toMatchObject([{ to: '99112233' }]);
    expect(claims).toBeLessThan(10);
  });
});

describe('receipts', () => {
  it('that say unknown are counted in reads of their batch, and in no answer to its send', async () => {
    const numbers = ['99000021', '99000023', '99112233'];
    const { status, body } = await sendBulk(numbers, 'Hi', 'k');
    expect(status).toBe(202);
    await pass(clock, 1_000);
    const { id } = body as { id: string };
    const read = await core.operations.getBatch(caller, id);
    expect(read).toMatchObject({ status: 'completed', sent: 3, unknown: 1 });
    const { data } = await core.operations.listBatches(caller, {}, { limit: 1, after: null });
    expect(data).toEqual([read]);
    expect(await sendBulk(numbers, 'Hi', 'k')).toMatchObject({ replayed: true, body });
    expect(body).not.toHaveProperty('unknown');
  });
});
