import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RouteDay, takeOfDay } from '../../../../src/service/storage/route-limits.js';
import type { Store } from '../../../../src/service/storage/store.js';
import { CarrierServices } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { Relay } from '../../../support/relay.js';

const hour = 3_600_000;
const minute = 60_000;

let services: CarrierServices;
let relay: Relay;
let port: number;
let begun: number;
beforeEach(async () => {
  relay = new Relay();
  port = await relay.listen();
  services = new CarrierServices();
  begun = services.clock.now();
});
afterEach(async () => {
  await services.closeAll();
  await relay.close();
});

const configured = (perDay: number, from = 'no-reply@example.mn') =>
  services.configured('off', {
    ...{ smtp: `smtp://127.0.0.1:${port}`, from, connections: 2, per_day: perDay },
  });
const content = { subject: 'S', text: 'T' };
const people = (count: number, name = 'p') =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);
async function sendBatch(to: string[], core = services.core): Promise<string> {
  const { body } = await core.operations.sendEmailBulk({
    caller,
    params: { to, ...content },
    idempotencyKey: null,
  });
  return (body as { id: string }).id;
}
const sendOne = (to: string, isBulk = false) =>
  services.core.operations.sendEmail({ caller, params: { to, ...content }, idempotencyKey: null, isBulk });
const statusesOf = async (batch: string) => (await services.messagesOf(batch)).map(({ status }) => status);
/** In steps of minutes, and some of seconds, in which what is due is sent. */
async function until(hours: number) {
  await services.pass(() => services.clock.now() >= begun + hours * hour, 15 * minute, 400 * hour);
  await seconds(10);
}
const seconds = (count: number) => {
  const end = services.clock.now() + count * 1_000;
  return services.pass(() => services.clock.now() >= end);
};
const slow = async () =>
  (await services.core.administration.status()).lanes.find(({ lane }) => lane === 'email')?.slow;

const refuseAll = async () => {
  relay.options.react = (step) => (step === 'RCPT' ? '450 4.2.0 No' : null);
};
const taken = () => relay.taken.length;

it('no 24 hours have more than a limit of a day, whenever mails begin and are given back', () => {
  const step = fc.record({
    passes: fc.integer({ min: 0, max: 30 * hour }),
    wanted: fc.integer({ min: 0, max: 6 }),
    back: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
      let day: RouteDay = { slots: [], reachedAt: null };
      let now = 1_795_000_000_000;
      let granted: { at: number; slot: number }[] = [];
      for (const { passes, wanted, back } of steps) {
        now += passes;
        const [last] = granted.slice(-1);
        if (back && last !== undefined) {
          ({ day } = takeOfDay(day, { route: 'email', most, wanted: -1, slot: last.slot }, now));
          granted = granted.slice(0, -1);
        }
        const taken = takeOfDay(day, { route: 'email', most, wanted }, now);
        day = taken.day;
        for (let count = 0; count < taken.granted; count += 1) granted.push({ at: now, slot: taken.slot });
        const inDay = granted.filter(({ at }) => at > now - 24 * hour).length;
        expect(inDay).toBeLessThanOrEqual(most);
        // Nothing waits for longer than a slot after that.
        const counted = granted.filter(({ at }) => at > now - 24.25 * hour).length;
        if (wanted > taken.granted) expect(counted).toBeGreaterThanOrEqual(most);
      }
    }),
  );
});

describe('a relay that takes so many mails a day', () => {
  it('gets no more in any 24 hours, whatever waits, also from a second process and a later one, and nothing fails', async () => {
    const directory = services.cores.folder();
    const first = await services.open({ directory, ...configured(2) });
    const batch = await sendBatch(people(5));
    await seconds(10);
    expect([taken(), await statusesOf(batch)]).toEqual([2, ['sent', 'sent', 'queued', 'queued', 'queued']]);
    await services.open({ directory, ...configured(2) });
    await until(12);
    await services.passed(first.close());
    await services.close();
    await services.open({ directory, ...configured(2) });
    await until(23.9);
    expect(taken()).toBe(2);
    await until(24.3);
    expect(taken()).toBe(4);
    await until(48.6);
    expect(await statusesOf(batch)).toEqual(Array(5).fill('sent'));
    expect([taken(), await ledgerDifference(services.core)]).toEqual([5, 0]);
  });

  it('is said in the status and in the log, and when it is over', async () => {
    await services.open(configured(2));
    await services.core.heartbeat.begin('http://127.0.0.1:7788');
    await sendBatch(people(3));
    await seconds(60);
    expect(await slow()).toMatchObject([
      {
        project: null,
        state: 'day_limit',
        seconds: expect.any(Number),
        code: '',
        words: '2 of 2 mails, next in 25 h',
      },
    ]);
    await until(24.3);
    await seconds(60);
    expect(await slow()).toEqual([]);
    expect(services.cores.faults.map(({ stack }) => stack)).toEqual([
      'LaneWarning: lane email: at its daily limit: 2 of 2 mails, next in 25 h',
      'LaneWarning: lane email: ended: at its daily limit',
    ]);
  });

  it('gets nothing while its count cannot be written, and then what waited', async () => {
    let isAway = false;
    const failing = (store: Store): Store => ({
      ...store,
      takeOfDay: async (wanted) => {
        if (isAway) throw new Error('the store is away');
        return store.takeOfDay(wanted);
      },
    });
    await services.open(configured(5), { store: failing });
    isAway = true;
    await sendBatch(people(2));
    await seconds(10);
    expect([taken(), services.cores.faults.length]).toEqual([0, expect.closeTo(10, -1)]);
    isAway = false;
    await seconds(10);
    expect(taken()).toBe(2);
  });

  it('is counted for each mailbox: another one takes what waits', async () => {
    const directory = services.cores.folder();
    await services.open({ directory, ...configured(2) });
    await sendBatch(people(4));
    await seconds(10);
    await services.close();
    await services.open({ directory, ...configured(2, 'other@example.mn') });
    await seconds(10);
    expect(taken()).toBe(4);
  });

  it('keeps a tenth for what is not of a list', async () => {
    await services.open(configured(10));
    await sendBatch(people(8));
    for (const to of people(2, 'row')) await sendOne(to, true);
    await seconds(10);
    expect(taken()).toBe(9);
    await services.core.operations.createVerification(caller, { to: 'code@example.com' });
    await sendOne('one@example.com');
    await seconds(10);
    expect(relay.taken.map(({ to }) => to).slice(9)).toEqual(['code@example.com']);
  });

  it('is given back what the relay did not take', async () => {
    relay.options.react = (step, _, to) =>
      step === 'RCPT' && to.startsWith('bad') ? '550 5.1.1 User unknown' : null;
    await services.open(configured(2));
    await sendBatch(people(4, 'bad'));
    await seconds(10);
    await sendBatch(people(3));
    await seconds(10);
    expect(taken()).toBe(2);
  });

  it('lets a message that waited for days be put off as long as any other', async () => {
    await services.open(configured(1));
    const batch = await sendBatch(people(3));
    await until(30);
    expect(taken()).toBe(2);
    await refuseAll();
    await until(55);
    expect(await statusesOf(batch)).toEqual(['sent', 'sent', 'queued']);
    relay.options.react = () => null;
    await until(56.5);
    expect(await statusesOf(batch)).toEqual(['sent', 'sent', 'sent']);
  });

  it('that takes fewer than it said lets them wait as well', async () => {
    // Counted where a mail begins: two connections begin one each before either is taken.
    let mails = 0;
    relay.options.react = (step) => {
      if (step !== 'MAIL') return null;
      mails += 1;
      return mails > 2 ? '550 5.4.5 Daily user sending limit exceeded' : null;
    };
    await services.open(configured(100));
    const batch = await sendBatch(people(4));
    await until(26);
    expect((await statusesOf(batch)).sort()).toEqual(['queued', 'queued', 'sent', 'sent']);
    relay.options.react = () => null;
    await until(28);
    expect(await statusesOf(batch)).toEqual(Array(4).fill('sent'));
  });

  it.each([
    ['cannot be reached', () => relay.close()],
    ['puts everything off', refuseAll],
  ])('and then %s lets what waited fail after a day of that', async (_, change) => {
    await services.open(configured(1));
    const batch = await sendBatch(people(2));
    await until(20);
    await change();
    await until(44);
    expect(await statusesOf(batch)).toEqual(['sent', 'queued']);
    await until(50);
    expect(await statusesOf(batch)).toEqual(['sent', 'failed']);
    expect(await ledgerDifference(services.core)).toBe(0);
  });
});
