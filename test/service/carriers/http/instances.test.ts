import { afterEach, beforeEach, expect, it } from 'vitest';
import { caller } from '../../../support/cores.js';
import { answer, FaultyGateway } from '../../../support/gateway.js';
import { httpRoute } from '../../../support/routes.js';
import { numbersFrom, SmppInstances } from '../../../support/smpp-instances.js';

let gateway: FaultyGateway;
let instances: SmppInstances;
const perSecond = 20;

beforeEach(async () => {
  gateway = new FaultyGateway();
  gateway.react = answer(200, { status: '0' });
  const route = httpRoute(await gateway.listen(), { concurrent: 5, per_second: perSecond });
  instances = new SmppInstances(route);
});
afterEach(async () => {
  await instances.closeAll();
  await gateway.close();
});

it('instances share the rate of a gateway, and nothing goes out twice', async () => {
  const one = await instances.open();
  await instances.open();
  const from = instances.clock.monotonic();
  const batch = await instances.sendBatch(one, numbersFrom(0, 200));
  const isOver = async () => (await one.operations.getBatch(caller, batch)).status === 'completed';
  await instances.pass(isOver, 100);
  const seconds = (instances.clock.monotonic() - from) / 1_000;
  expect(seconds).toBeGreaterThanOrEqual(200 / perSecond - 1);
  expect(seconds).toBeLessThan(2 * (200 / perSecond));
  const numbers = gateway.taken.map(({ fields }) => fields.to);
  expect([numbers.length, new Set(numbers).size]).toEqual([200, 200]);
});
