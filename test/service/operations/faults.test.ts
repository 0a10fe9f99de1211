import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { bodyOf, Cores, caller, outboxOf, pass, requestsTo } from '../../support/cores.js';

const cores = new Cores();
const start = Date.UTC(2026, 5, 1, 4);
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(start);
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

const { send } = requestsTo(() => core);

describe('faults on demand', () => {
  it.each([
    ['its answer is lost', '99000006', 0],
    ['the submission is lost once', '99000008', 1_000],
    ['the answer takes 10 seconds', '99000004', 10_000],
    ['the account is refused once', '99000027', 5_500],
    ['the operator is down', '99000028', 11_000],
  ])('%s: it is sent, once', async (_, to, milliseconds) => {
    const answer = send(to, 'Hi', 'k');
    await pass(clock, milliseconds);
    expect(await answer).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it.each([
    ['99000025', 'The operator throttled the message: the operator takes no more in a second'],
    ['99000026', 'The operator did not accept the message: the operator is busy'],
  ])('%s is put off at every try: 502 after 15 s, and nobody else waits', async (to, message) => {
    const failed = send(to, 'Hi', 'k');
    for (let second = 0; second < 15; second += 1) {
      expect(await send(`9911223${second % 10}`, `${second}`)).toMatchObject({ status: 200 });
      await pass(clock, 1_000);
    }
    await pass(clock, 500);
    expect(await failed).toMatchObject({
      status: 502,
      body: { error: { code: 'provider_failed', message } },
    });
    expect((await core.operations.getBalance(caller)).balance).toBe(100_000 - 150);
  });

  it('a message that can never be submitted fails in the end and is refunded', async () => {
    const unreachable = await cores.openWithCarrier({ clock }, () => ({
      submit: () => Promise.reject(new Error('no route to host')),
      inquire: async () => 'not_taken',
    }));
    const { id } = await bodyOf<{ id: string }>(requestsTo(() => unreachable).sendBulk(['99112233'], 'Hi'));
    await pass(clock, 200_000, 1_000);
    expect(await unreachable.operations.getBatch(caller, id)).toMatchObject({
      status: 'completed',
      failed: 1,
    });
    expect(await unreachable.operations.getBalance(caller)).toEqual({ balance: 100_000 });
  });

  it('a message whose fate stays unknown is never submitted again, and ends as sent, with delivery unknown', async () => {
    let submissions = 0;
    const mute = await cores.openWithCarrier({ clock }, () => ({
      submit: () => {
        submissions += 1;
        return Promise.reject(new Error('reset'));
      },
      inquire: async () => 'unknown',
    }));
    const { id } = await bodyOf<{ id: string }>(requestsTo(() => mute).sendBulk(['99112233'], 'Hi'));
    const read = async () =>
      (await mute.operations.listBatchMessages(caller, id, { limit: 1, after: null })).data[0];
    await pass(clock, 295_000, 5_000);
    expect(await read()).toMatchObject({ status: 'queued', credits: 10, delivery: null });
    await pass(clock, 600_000, 5_000);
    expect(submissions).toBe(1);
    expect(await read()).toMatchObject({ status: 'sent', credits: 10, delivery: 'unknown' });
    expect(await mute.operations.getBatch(caller, id)).toMatchObject({ status: 'completed', sent: 1 });
  });
});
