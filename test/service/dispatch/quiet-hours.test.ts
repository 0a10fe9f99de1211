import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import {
  Cores,
  caller,
  ledgerDifference,
  outboxOf,
  pass,
  replayOf,
  requestsTo,
  ticks,
} from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

const hour = 3_600_000;
/** 12:00 in Ulaanbaatar. */
const noon = Date.UTC(2026, 5, 1, 4);
const evening = noon + 9 * hour;
const morning = evening + 11 * hour;

let core: Core;
let clock: ManualClock;
/** When what was submitted. */
let submitted: [to: string, hoursFromEvening: number][];
let isBusy: boolean;
const { sendBulk, balance } = requestsTo(() => core);
const sms = (to: string, isBulk: boolean, idempotencyKey: string | null = null) =>
  core.operations.sendSms({ caller, params: { to, text: 'hi' }, idempotencyKey, isBulk });
const email = (to: string, isBulk: boolean) =>
  core.operations.sendEmail({
    caller,
    params: { to, subject: 'S', text: 'T' },
    idempotencyKey: null,
    isBulk,
  });
const set = (quiet_hours: string | null, quiet_zone = 'Asia/Ulaanbaatar') =>
  core.administration.settings.update({ quiet_hours, quiet_zone });
const toSubmitted = () => submitted.map(([to]) => to).sort();
/** As long as the clock takes to it. */
const until = (time: number, step = 60_000) => pass(clock, time - clock.now(), step);

beforeEach(async () => {
  clock = new ManualClock(noon);
  submitted = [];
  isBusy = false;
  core = await cores.openWithCarrier({ clock }, (carrier) => ({
    async submit(submission, signal) {
      submitted.push([submission.to, (clock.now() - evening) / hour]);
      if (isBusy) return { kind: 'later', reason: 'busy', code: 'busy', scope: 'message' };
      return carrier.submit(submission, signal);
    },
  }));
  await set('21:00-08:00');
});

describe('in quiet hours', () => {
  it('batches and queued emails of lists wait until the morning; other messages and codes do not', async () => {
    await until(evening);
    await sendBulk(['88000001', '88000002'], 'hi');
    await email('list@example.mn', true);
    await sms('88000003', false);
    await email('one@example.mn', false);
    await core.operations.createVerification(caller, { to: '88000004' });
    await core.operations.createVerification(caller, { to: 'code@example.mn' });
    await until(morning - 1_000);
    expect(toSubmitted()).toEqual(['88000003', '88000004', 'code@example.mn', 'one@example.mn']);
    submitted.length = 0;
    await until(morning + 2_000, 1_000);
    expect(toSubmitted()).toEqual(['88000001', '88000002', 'list@example.mn']);
    expect(await outboxOf(core)).toHaveLength(7);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('a single SMS of a list is refused until the morning, and binds nothing', async () => {
    await until(evening + hour);
    const before = await balance();
    for (const key of ['night', null]) {
      const refused = await sms('88000001', true, key).catch((error) => error);
      expect(refused).toBeInstanceOf(ServiceError);
      expect(refused).toMatchObject({ code: 'rate_limited', retryAfter: 10 * 3_600 });
      expect(refused.message).toContain('quiet until 08:00 (Asia/Ulaanbaatar)');
    }
    expect([await balance(), submitted, await replayOf(core, 'night')]).toEqual([before, [], null]);
    await until(morning);
    const answer = sms('88000001', true, 'night');
    await ticks();
    expect(await answer).toMatchObject({ status: 200, replayed: false });
  });

  it.each([
    ['14 s before they begin', -14_000, 14 + 11 * 3_600],
    ['as they begin', 0, 11 * 3_600],
    ['1 ms before they end', 11 * hour - 1, 1],
  ])('a single SMS of a list is refused %s', async (_, after, retryAfter) => {
    await until(evening + after);
    await expect(sms('88000001', true)).rejects.toMatchObject({ code: 'rate_limited', retryAfter });
  });

  it('a number without an operator is refused as by day', async () => {
    await until(evening);
    await expect(sms('70110000', true)).rejects.toMatchObject({ code: 'unsupported_number' });
  });

  it('nothing is tried again that was put off in the evening', async () => {
    await until(evening - 1_000);
    isBusy = true;
    await sendBulk(['88000001'], 'hi');
    await email('list@example.mn', true);
    await until(morning - 1_000);
    expect(submitted.filter(([, at]) => at >= 0)).toEqual([]);
    expect(submitted).toHaveLength(2);
    isBusy = false;
    await until(morning + 1_000, 1_000);
    expect((await outboxOf(core)).map(({ to }) => to).sort()).toEqual(['88000001', 'list@example.mn']);
  });

  it('a message that was accepted before them may be put off for 24 open hours', async () => {
    await until(evening - 60_000);
    isBusy = true;
    const { body } = await sendBulk(['88000001'], 'hi');
    const { id } = body as { id: string };
    const failed = async () => (await core.operations.getBatch(caller, id)).failed;
    // 1 minute, 13 hours of the day after, and all but a minute of the 11 that are left.
    await until(morning + 24 * hour + 10 * hour, 10 * 60_000);
    expect(await failed()).toBe(0);
    await until(morning + 24 * hour + 11 * hour, 60_000);
    expect(await failed()).toBe(1);
    expect(submitted.every(([, at]) => at < 0 || ((at % 24) + 24) % 24 >= 11)).toBe(true);
  });

  it('the setting holds from the next message on, and lets go at once', async () => {
    await set(null);
    await until(evening + hour);
    await sendBulk(['88000001'], 'hi');
    await pass(clock, 1_000, 100);
    expect(toSubmitted()).toEqual(['88000001']);
    await set('21:00-08:00');
    await sendBulk(['88000002'], 'hi');
    await pass(clock, 60_000);
    expect(toSubmitted()).toEqual(['88000001']);
    // In Berlin it is 15:00.
    await set('21:00-08:00', 'Europe/Berlin');
    await pass(clock, 2_000, 100);
    expect(toSubmitted()).toEqual(['88000001', '88000002']);
  });

  it('nothing goes out whose process was stopped between its mark and its submission, until the morning', async () => {
    await core.close();
    let isStopped = false;
    core = await cores.open(
      { clock },
      {
        store: (store) => ({
          ...store,
          async markSubmitting(marks) {
            const marked = await store.markSubmitting(marks);
            if (isStopped) clock.advance(hour);
            isStopped = false;
            return marked;
          },
        }),
      },
    );
    await set('21:00-08:00');
    await until(evening - 30_000);
    isStopped = true;
    await sendBulk(['88000001'], 'hi');
    await ticks();
    expect(clock.now()).toBe(evening + hour - 30_000);
    await until(morning - 1_000);
    expect(await outboxOf(core)).toEqual([]);
    await until(morning + 1_000, 100);
    expect(await outboxOf(core)).toHaveLength(1);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('who waits until nothing is due does not wait for the morning', async () => {
    await until(evening);
    await sendBulk(['88000001'], 'hi');
    await core.administration.idle();
    expect(submitted).toEqual([]);
  });
});
