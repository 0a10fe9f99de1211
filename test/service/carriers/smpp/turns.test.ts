import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Core } from '../../../../src/service/core.js';
import { takenTwice } from '../../../support/carrier-services.js';
import { caller } from '../../../support/cores.js';
import { smppRoute } from '../../../support/routes.js';
import { numbersFrom, SmppInstances } from '../../../support/smpp-instances.js';
import { Smsc } from '../../../support/smsc.js';
import { isOnPostgres } from '../../../support/test-engine.js';

let smsc: Smsc;
let instances: SmppInstances;
const perSecond = 100;
const now = () => instances.clock.monotonic();

beforeEach(async () => {
  smsc = new Smsc();
  const route = smppRoute(await smsc.listen(), { per_second: perSecond, binds: 2, window: 5 });
  instances = new SmppInstances(route);
});
afterEach(async () => {
  await instances.closeAll();
  await smsc.close();
});

const batchOf = (core: Core, projectId: string, to: string[]) =>
  core.operations.sendSmsBulk({
    caller: { ...caller, projectId },
    params: { to, text: 'Hi' },
    idempotencyKey: null,
  });
const takenOf = (first: number, count: number) =>
  smsc.taken.filter(({ to }) => Number(to) - 99_000_000 >= first && Number(to) - 99_000_000 < first + count)
    .length;

describe.each(isOnPostgres() ? ([2] as const) : ([1, 2] as const))('a lane of %i instances', (count) => {
  it('brings a batch of 10 out within 2 s of its time alone, behind thousands of another project', async () => {
    const cores: Core[] = [];
    for (let index = 0; index < count; index += 1) cores.push(await instances.open());
    await instances.pass(() => instances.capacities().every((bound) => bound > 0), 500);
    const [one = null as never, two = one] = cores;
    const other = (await one.administration.createProject('other')).id;
    for (const first of [0, 1_000, 2_000]) await batchOf(one, caller.projectId, numbersFrom(first, 1_000));
    await instances.pass(() => smsc.taken.length > 4 * perSecond, 50);
    for (const first of [10_000, 20_000]) {
      const from = now();
      await batchOf(two, other, numbersFrom(first, 10));
      await instances.pass(() => takenOf(first, 10) === 10, 50);
      expect(now() - from).toBeLessThan(2_000 + (1_000 * 10) / perSecond);
    }
    expect(takenTwice(smsc.taken)).toEqual([]);
  });

  it('takes messages of projects in turn, whosever settings are read first', async () => {
    const cores: Core[] = [];
    for (let index = 0; index < count; index += 1) cores.push(await instances.open());
    const [one = null as never] = cores;
    await one.store.pauseLane('Mobicom');
    await instances.passFor(1_500);
    for (let project = 0; project < 5; project += 1) {
      const { id } = await one.administration.createProject('other');
      await (await one.administration.project(id))?.credit(10_000);
      await batchOf(one, id, numbersFrom(project * 1_000, 60));
    }
    await one.store.resumeLane('Mobicom');
    await instances.pass(() => smsc.taken.length >= 100, 20);
    const counts = [0, 1, 2, 3, 4].map((project) => takenOf(project * 1_000, 1_000));
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(5);
  });
});

it.skipIf(isOnPostgres())(
  'a lane that is full claims for a quarter of a second, not one by one',
  async () => {
    let claims = 0;
    const core = await instances.open({
      store: (store) => ({
        ...store,
        claimMessages(claim) {
          if (claim.class === 'batch') claims += 1;
          return store.claimMessages(claim);
        },
      }),
    });
    await instances.pass(() => instances.capacities().every((bound) => bound > 0), 500);
    await batchOf(core, caller.projectId, numbersFrom(0, 1_000));
    await instances.pass(() => smsc.taken.length === 1_000, 50);
    expect(claims).toBeLessThan(120);
  },
);
