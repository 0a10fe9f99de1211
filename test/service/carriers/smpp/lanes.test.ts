import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Core } from '../../../../src/service/core.js';
import { takenTwice } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { Crash, type CrashPoint } from '../../../support/crash.js';
import { smppRoute } from '../../../support/routes.js';
import { numbersFrom, SmppInstances, StoreCut } from '../../../support/smpp-instances.js';
import { Smsc } from '../../../support/smsc.js';

let smsc: Smsc;
let instances: SmppInstances;
const window = 5;

beforeEach(async () => {
  smsc = new Smsc();
  instances = new SmppInstances(smppRoute(await smsc.listen(), { per_second: 100, window }));
});
afterEach(async () => {
  smsc.release();
  await instances.closeAll();
  await smsc.close();
});

const balance = async (core: Core) => (await core.operations.getBalance(caller)).balance;

describe('a lane that another instance pauses', () => {
  it('submits nothing more than was marked, and all of the rest once it is resumed', async () => {
    await instances.open();
    const two = await instances.open();
    const batch = await instances.sendBatch(two, numbersFrom(0, 60));
    await instances.pass(() => smsc.taken.length >= 20, 10);
    expect(await two.administration.setLaneStatus('Mobicom', 'paused')).toMatchObject({ status: 'paused' });
    await instances.idle();
    const before = smsc.taken.length;
    await instances.passFor(60_000, 1_000);
    expect(smsc.taken.length).toBeLessThanOrEqual(before + window);
    await instances.pass(async () => {
      const lane = (await two.administration.listLanes()).find((one) => one.lane === 'Mobicom');
      return lane?.status === 'paused' && lane.waiting === 60 - smsc.taken.length && lane.connected === 1;
    });
    await two.administration.setLaneStatus('Mobicom', 'open');
    await instances.completed(two, batch);
    expect([smsc.taken.length, takenTwice(smsc.taken)]).toEqual([60, []]);
  });

  it('refuses a single SMS at once and stores nothing; a batch waits', async () => {
    const one = await instances.open();
    const two = await instances.open();
    await two.administration.setLaneStatus('Mobicom', 'paused');
    await instances.passFor(2_000);
    for (const core of [one, two]) {
      await expect(instances.send(core, '99112233')).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('paused'),
      });
    }
    expect(await balance(one)).toBe(100_000);
    await instances.sendBatch(one, ['99112233']);
    await instances.passFor(10_000, 500);
    expect(smsc.taken).toEqual([]);
    expect(await one.administration.setLaneStatus('nothing', 'paused')).toBeNull();
  });
});

describe('a batch that another instance stops', () => {
  it('keeps what was submitted, and fails and refunds the rest', async () => {
    await instances.open();
    const two = await instances.open();
    const batch = await instances.sendBatch(two, numbersFrom(0, 60));
    await instances.pass(() => smsc.taken.length >= 20, 10);
    const stopped = await two.administration.stopBatch(batch);
    expect(stopped).toMatchObject({ total: 60, refunded: 10 * (stopped?.stopped ?? 0) });
    expect(stopped?.in_progress).toBeLessThanOrEqual(window);
    await instances.completed(two, batch);
    const messages = await instances.messagesOf(two, batch);
    const taken = smsc.taken.map(({ to }) => to).sort();
    expect(messages.filter(({ status }) => status === 'sent').map(({ to }) => to)).toEqual(taken);
    expect(messages.filter(({ error }) => error?.code === 'provider_failed')).toHaveLength(60 - taken.length);
    expect(await balance(two)).toBe(100_000 - 10 * taken.length);
    expect([takenTwice(smsc.taken), await ledgerDifference(two)]).toEqual([[], 0]);
    expect(await two.administration.stopBatch('none')).toBeNull();
  });

  it('does not submit again what its operator puts off', async () => {
    const cut = new StoreCut('postponeMessages');
    await instances.open(cut.doubles);
    const two = await instances.open();
    smsc.options.react = () => 0x64;
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    cut.delay = () => gate;
    const batch = await instances.sendBatch(two, numbersFrom(0, 20));
    const submits = () => smsc.heard.filter(({ command }) => command === 'submit_sm').length;
    await instances.pass(() => submits() === window, 10);
    expect(await two.administration.stopBatch(batch)).toMatchObject({ in_progress: window, stopped: 15 });
    goOn();
    await instances.completed(two, batch);
    expect(await two.operations.getBatch(caller, batch)).toMatchObject({ sent: 0, failed: 20 });
    expect([submits(), await balance(two), await ledgerDifference(two)]).toEqual([window, 100_000, 0]);
  });

  const points: CrashPoint[] = (['claimMessages', 'markSubmitting', 'finalizeMessages'] as const).flatMap(
    (method) => (['before', 'after'] as const).map((when) => ({ when, method, call: 2 })),
  );
  it.each(points)('while its instance dies $when $method: counts and credits are exact', async (point) => {
    const crash = new Crash(point);
    const store = crash.doubles.store as NonNullable<typeof crash.doubles.store>;
    const dying = await instances.openMortal({ store });
    const two = await instances.open();
    void instances.sendBatch(dying, numbersFrom(0, 40), 'k').catch(() => {});
    let happened = false;
    void crash.happened.then(() => (happened = true));
    await instances.pass(() => happened || smsc.taken.length === 40, 100);
    smsc.cut();
    crash.now();
    const batch = await instances.sendBatch(two, numbersFrom(0, 40), 'k');
    const stopped = await two.administration.stopBatch(batch);
    expect(stopped?.in_progress).toBeLessThanOrEqual(window);
    await instances.completed(two, batch);
    const { total, sent, failed } = await two.operations.getBatch(caller, batch);
    expect([total, sent + failed]).toEqual([40, 40]);
    expect(await balance(two)).toBe(100_000 - 10 * sent);
    const taken = new Set(smsc.taken.map(({ to }) => to));
    const messages = await instances.messagesOf(two, batch);
    expect(messages.filter(({ to, status }) => status === 'failed' && taken.has(to))).toEqual([]);
    expect([takenTwice(smsc.taken), await ledgerDifference(two)]).toEqual([[], 0]);
  });
});
