import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CoreDoubles } from '../../../../src/service/core.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { CarrierServices, careless } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { crashPoints } from '../../../support/crash.js';
import { answer, bytes, FaultyGateway, type Reaction } from '../../../support/gateway.js';
import { httpRoute } from '../../../support/routes.js';

let services: CarrierServices;
let gateway: FaultyGateway;
let port: number;

beforeEach(async () => {
  gateway = new FaultyGateway();
  port = await gateway.listen();
  services = new CarrierServices();
});
afterEach(async () => {
  await services.closeAll();
  await gateway.close();
});

const route = (changes: object = {}) =>
  httpRoute(port, {
    form: { to: '{number}', text: '{text}', ref: '{id}' },
    refused: { field: 'status', is: ['6', '7'] },
    unknown_recipient: { field: 'status', is: ['7'] },
    id: 'id',
    concurrent: 3,
    per_second: 20_000,
    prefixes: ['99', '95'],
    ...changes,
  });
const configured = (...routes: object[]) =>
  services.configured({ routes: routes.length === 0 ? [route()] : routes });
const open = (options: ServiceOptions = configured(), doubles: CoreDoubles = {}) =>
  services.open(options, doubles);
const numbers = Array.from({ length: 20 }, (_, index) => `991122${10 + index}`);
const timesTaken = (to: string) => gateway.taken.filter(({ fields }) => fields.to === `976${to}`).length;

/** Throws when a message is twice, lost or untrue; the number of unknown ones. `isTaken`: what the gateway did. */
async function judged(batch: string, isTaken: (index: number) => boolean = () => true): Promise<number> {
  const messages = await services.messagesOf(batch);
  const problems = [];
  for (const { to, status, delivery } of messages) {
    const times = gateway.taken.filter(
      ({ fields }, index) => fields.to === `976${to}` && isTaken(index),
    ).length;
    const isTrue = status === 'failed' ? times === 0 : delivery === 'unknown' || times === 1;
    if (times > 1 || !isTrue) problems.push(`${to} is ${status}, ${delivery}, and was taken ${times} times`);
  }
  expect(problems).toEqual([]);
  expect(await ledgerDifference(services.core)).toBe(0);
  return messages.filter(({ delivery }) => delivery === 'unknown').length;
}

describe('a service with a gateway', () => {
  it('sends', async () => {
    await open();
    const { status, body } = await services.passed(services.send('99112233', 'Сайн уу'));
    expect([status, body]).toMatchObject([200, { status: 'sent' }]);
    const { id } = body as { id: string };
    expect(gateway.taken.map(({ fields }) => fields)).toEqual([
      { to: '97699112233', text: 'Сайн уу', ref: id },
    ]);
  });

  const refunded = { status: 502, body: { error: { code: 'provider_failed' } } };
  it.each([
    ['refused', answer(200, { status: '6' }), refunded, 1],
    ['refused by its status', answer(422), refunded, 1, { refused: undefined, unknown_recipient: undefined }],
    ['about the account, again and again until the bound', answer(401), refunded, null],
    ['throttled, again and again until the bound', answer(429), refunded, null],
    ['throttled for longer than its caller waits', answer(429, {}, { 'Retry-After': '60' }), refunded, 1],
    ['about the account for longer', answer(401, {}, { 'Retry-After': '60' }), refunded, 1],
  ] as [string, Reaction, object, number | null, object?][])(
    '%s: refunded',
    async (_, react, expected, times, changes) => {
      await open(configured(route(changes)));
      gateway.react = react;
      expect(await services.passed(services.send('99112233', 'Hi'))).toMatchObject(expected);
      if (times === null) expect(timesTaken('99112233')).toBeGreaterThan(1);
      else expect(timesTaken('99112233')).toBe(times);
      expect(await services.core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
    },
  );

  it.each([
    ['a 500', answer(500)],
    ['silence', () => {}],
  ] as [string, Reaction][])('unknown after %s: charged, never sent again', async (_, react) => {
    await open();
    gateway.react = react;
    const batch = await services.sendBatch(['99112233'], 'Hi');
    await services.completed(batch);
    expect(await services.messagesOf(batch)).toMatchObject([{ status: 'sent', delivery: 'unknown' }]);
    expect(gateway.taken).toHaveLength(1);
    expect(await services.core.operations.getBalance(caller)).toEqual({ balance: 99_990 });
  });

  it('takes the fallback where a number is refused, and sends later where nobody is there', async () => {
    const second = new FaultyGateway();
    const other = route({
      name: 'other',
      http: `http://127.0.0.1:${await second.listen()}/`,
      prefixes: [],
      links: false,
    });
    await open(configured(route({ fallback: ['other'] }), other));
    gateway.react = answer(200, { status: '7' });
    const sent = await services.passed(services.send('99112233', 'See https://a.mn/x now'));
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(second.taken.map(({ fields }) => fields.text)).toEqual(['See now']);
    await second.close();
    gateway.react = answer(200, { status: '0' });
    await gateway.close();
    const batch = await services.sendBatch(['95112233'], 'Hi');
    await services.pass(() => services.core.heartbeat.connections.length > 0, 1_000);
    await services.passed(gateway.listen(port));
    await services.completed(batch);
    expect(await services.messagesOf(batch)).toMatchObject([{ status: 'sent', delivery: null }]);
  });

  it('takes a message of which a part was refused for sent and undelivered', async () => {
    const parts = {
      accepted: { status: [200], field: 'parts.*.status', is: ['0'] },
      refused: { field: 'parts.*.status', is: ['6'] },
      unknown_recipient: undefined,
      id: 'parts.*.id',
    };
    await open(configured(route(parts)));
    const part = (status: string, id: string) => ({ status, id });
    gateway.react = answer(200, { parts: [part('0', 'a'), part('6', 'b')] });
    const { body } = await services.passed(services.send('99112233', 'Hi'));
    const { id } = body as { id: string };
    const read = await services.core.operations.getMessage(caller, id);
    expect(read).toMatchObject({ status: 'sent', delivery: 'undelivered', credits: 10 });
    expect(gateway.taken).toHaveLength(1);
  });

  it('keeps a number that its gateway does not know from later messages', async () => {
    await open();
    await services.core.administration.settings.update({ suppressions: true });
    gateway.react = answer(200, { status: '7' });
    expect(await services.passed(services.send('99112233', 'Hi'))).toMatchObject(refunded);
    gateway.react = answer(200, { status: '6' });
    expect(await services.passed(services.send('95112233', 'Hi'))).toMatchObject(refunded);
    const listed = await services.core.administration.suppressions.list();
    expect(listed.data.map(({ to }) => to)).toEqual(['99112233']);
  });

  it('puts one message a pause in doubt while its gateway answers nothing that it knows', async () => {
    await open();
    gateway.react = answer(500);
    const batch = await services.sendBatch(numbers, 'Hi');
    await services.pass(() => services.clock.monotonic() > 60_000, 500, 61_000).catch(() => {});
    // Those that were under way, and one after each of the pauses of 1, 2, 4, ... s.
    expect(gateway.taken.length).toBeLessThan(10);
    gateway.react = answer(200, { status: '0' });
    await services.completed(batch);
    expect(await judged(batch)).toBeLessThan(11);
    // Its lane has no connection whose loss would be seen.
    expect(services.cores.faults.map(({ stack }) => stack)).toEqual([
      'LaneWarning: lane gateway: paused by an error of its carrier: HTTP 500',
      'LaneWarning: lane gateway: ended: paused by an error of its carrier',
    ]);
  });
});

describe('a gateway that fails now and then', () => {
  const reactions: Reaction[] = [
    answer(200, { status: '0' }),
    answer(500),
    answer(200, { status: '0' }),
    answer(429),
    bytes('HTTP/1.1 200'),
    answer(200, { status: '6' }),
  ];
  const isTaken = (index: number) => ![3, 5].includes(index % reactions.length);
  const react: Reaction = (response, request, index) =>
    reactions[index % reactions.length]?.(response, request, index);

  it('has nothing twice, lost or untrue', async () => {
    await open();
    gateway.react = react;
    const batch = await services.sendBatch(numbers, 'Hi');
    await services.completed(batch);
    expect(await judged(batch, isTaken)).toBeGreaterThan(0);
  });

  it('controls: who sends again what is unknown sends twice', async () => {
    await open(configured(), careless);
    gateway.react = react;
    const batch = await services.sendBatch(numbers, 'Hi');
    await services.completed(batch);
    await expect(judged(batch, isTaken)).rejects.toThrow();
  });
});

describe('a process that dies', () => {
  const points = crashPoints(['markSubmitting', 'finalizeMessages']);

  it.each(points)('$when $method $call leaves no more unknown than its window', async (point) => {
    await services.die(point, configured(), {
      send: (dying) => services.sendBatch(numbers, 'Hi', dying),
      isOver: () => gateway.taken.length === numbers.length,
    });
    const batch = await services.sendBatch(numbers, 'Hi');
    await services.completed(batch);
    expect(await judged(batch)).toBeLessThanOrEqual(3);
  });
});
