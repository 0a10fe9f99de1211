import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Core } from '../../../../src/service/core.js';
import { takenTwice } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { smppRoute } from '../../../support/routes.js';
import { numbersFrom, SmppInstances } from '../../../support/smpp-instances.js';
import { Smsc } from '../../../support/smsc.js';
import { isOnPostgres } from '../../../support/test-engine.js';

let smsc: Smsc;
let instances: SmppInstances;
let other: string;
const poison = '99999999';
const now = () => instances.clock.monotonic();

beforeEach(async () => {
  smsc = new Smsc();
  const route = smppRoute(await smsc.listen(), { per_second: 100, binds: 2, window: 5 });
  instances = new SmppInstances(route);
});
afterEach(async () => {
  await instances.closeAll();
  await smsc.close();
});

async function open(count: 1 | 2): Promise<Core[]> {
  const cores = [await instances.open()];
  if (count === 2) cores.push(await instances.open());
  await instances.pass(() => instances.capacities().every((bound) => bound > 0), 500);
  other = (await (cores[0] as Core).administration.createProject('other')).id;
  return cores;
}

const batchOf = (core: Core, projectId: string, to: string[]) =>
  core.operations.sendSmsBulk({
    caller: { ...caller, projectId },
    params: { to, text: 'Hi' },
    idempotencyKey: null,
  });
const submits = (to: string) =>
  smsc.heard.filter(
    ({ command, fields }) => command === 'submit_sm' && fields.destination_addr === `976${to}`,
  ).length;
const takenOf = (to: readonly string[]) => smsc.taken.filter((one) => to.includes(one.to)).length;

describe.each(isOnPostgres() ? ([2] as const) : ([1, 2] as const))('a route of %i instances', (count) => {
  it.each(isOnPostgres() ? [0x14, 0x0e] : [0x14, 0x58, 0x08, 0x0e, 0xff])(
    'with one number that is answered %i for ever holds up nobody',
    async (status) => {
      smsc.options.react = ({ to }) => (to === poison ? status : 'take');
      const [one = null as never, two = one] = await open(count);
      const mine = numbersFrom(0, 100);
      const theirs = numbersFrom(1_000, 50);
      const from = now();
      await batchOf(one, caller.projectId, [poison, ...mine]);
      await batchOf(two, other, theirs);
      const single = instances.send(two, '99112233');
      await instances.pass(() => takenOf([...mine, ...theirs, '99112233']) === 151, 20);
      // 151 at 100 a second, and a second at most for the account.
      expect(now() - from).toBeLessThan(3_000);
      expect(await single).toMatchObject({ status: 200 });
      expect(submits(poison)).toBeLessThan(4);
      const { factor } = await one.storage.rateLimiter.takePermits('Mobicom', 100, 1);
      expect(factor).toBe(1);
      expect([takenTwice(smsc.taken), await ledgerDifference(one)]).toEqual([[], 0]);
    },
  );

  it('whose operator throttles one project keeps its rate for others, whichever instance has their messages', async () => {
    const bad = numbersFrom(0, 100);
    const theirs = numbersFrom(1_000, 40);
    smsc.options.react = ({ to }) => (bad.includes(to) ? 0x58 : 'take');
    const [one = null as never, two = one] = await open(count);
    await batchOf(one, other, theirs.slice(0, 5));
    await batchOf(two, caller.projectId, bad);
    const factors: number[] = [];
    for (let sent = 5; sent < theirs.length; sent += 5) {
      await instances.passFor(500, 50);
      // Nobody else waits over 2 s: the clock goes on faster than a busy database answers.
      const waited = theirs.slice(0, Math.max(0, sent - 10));
      await instances.pass(() => takenOf(waited) === waited.length, 50, 1_000);
      factors.push((await one.storage.rateLimiter.takePermits('Mobicom', 100, 1)).factor);
      await batchOf(one, other, theirs.slice(sent, sent + 5));
    }
    expect(factors).toEqual(factors.map(() => 1));
  });

  it.each([1, 2])(
    'whose operator takes 20 of 100 a second from %i projects slows down to it, and loses nothing',
    async (senders) => {
      const seconds = new Map<number, number>();
      smsc.options.react = () => {
        const second = Math.floor(now() / 1_000);
        const taken = seconds.get(second) ?? 0;
        if (taken >= 20) return 0x58;
        seconds.set(second, taken + 1);
        return 'take';
      };
      const [one = null as never, two = one] = await open(count);
      await batchOf(one, caller.projectId, numbersFrom(0, 80));
      await batchOf(two, senders === 1 ? caller.projectId : other, numbersFrom(1_000, 80));
      // A single SMS passes meanwhile, before what waits.
      await instances.passFor(2_000, 50);
      const single = await instances.passed(instances.send(one, '99112233'), 50);
      expect(single).toMatchObject({ status: 200 });
      await instances.pass(() => smsc.taken.length === 161, 50, 120_000);
      expect(takenTwice(smsc.taken)).toEqual([]);
      // At its whole rate four of five would be throttled.
      const all = smsc.heard.filter(({ command }) => command === 'submit_sm').length;
      expect(all).toBeLessThan(400);
      // What it was lowered by has grown back.
      await instances.passFor(12_000, 500);
      expect((await one.storage.rateLimiter.takePermits('Mobicom', 100, 1)).factor).toBe(1);
    },
  );
});

describe('a single SMS on a route that is throttled to one a second', () => {
  it('goes before the batches that wait, and another one fails in time, with the reason', async () => {
    smsc.options.react = ({ to }) => (to.startsWith('9911') ? 'take' : 0x58);
    const [core = null as never] = await open(1);
    await batchOf(core, caller.projectId, numbersFrom(0, 150));
    await batchOf(core, other, numbersFrom(1_000, 150));
    await instances.passFor(3_000, 50);
    for (let index = 0; index < 3; index += 1) {
      const from = now();
      const sent = instances.passed(instances.send(core, `9911000${index}`), 50);
      expect(await sent).toMatchObject({ status: 200 });
      expect(now() - from).toBeLessThan(2_100);
    }
    const from = now();
    const failed = await instances.passed(instances.send(core, '99220000'), 250);
    expect(failed).toMatchObject({
      status: 502,
      body: { error: { message: expect.stringMatching(/throttled the message: .*0x58/) } },
    });
    expect(now() - from).toBeLessThan(16_000);
  });
});
