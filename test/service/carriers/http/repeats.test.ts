import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { CoreDoubles } from '../../../../src/service/core.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { Metrics } from '../../../../src/service/metrics/metrics.js';
import { CarrierServices } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { crashPoints } from '../../../support/crash.js';
import { answer, bytes, FaultyGateway, type Reaction, type TakenRequest } from '../../../support/gateway.js';
import { seededRandom } from '../../../support/random.js';
import { httpRoute } from '../../../support/routes.js';
import { isOnPostgres, oneOnPostgres } from '../../../support/test-engine.js';

let services: CarrierServices;
let gateway: FaultyGateway;
let port: number;
/** By key: how often the gateway took its message. */
let sent: Map<string, number>;

beforeEach(async () => {
  gateway = new FaultyGateway();
  port = await gateway.listen();
  services = new CarrierServices();
  sent = new Map();
});
afterEach(async () => {
  await services.closeAll();
  await gateway.close();
});

const route = (changes: object = {}) =>
  httpRoute(port, {
    refused: { field: 'status', is: ['6'] },
    id: 'id',
    repeat_key: { header: 'Idempotency-Key' },
    repeat_for: '1h',
    concurrent: 3,
    per_second: 20_000,
    ...changes,
  });
const configured = (changes?: object) => services.configured({ routes: [route(changes)] });
const open = (options: ServiceOptions = configured(), doubles: CoreDoubles = {}) =>
  services.open(options, doubles);
const keyOf = ({ headers }: TakenRequest) => String(headers['idempotency-key']);
const accepted: Reaction = (response, request, index) => {
  const key = keyOf(request);
  sent.set(key, 1);
  answer(200, { status: '0', id: `g-${key}` })(response, request, index);
};
/** The first of each key is taken, and answered with something else. */
const firstOf = (react: Reaction, then: Reaction = accepted): Reaction => {
  const seen = new Set<string>();
  return (response, request, index) => {
    const isFirst = !seen.has(keyOf(request));
    seen.add(keyOf(request));
    (isFirst ? react : then)(response, request, index);
  };
};
const numbers = Array.from({ length: 20 }, (_, index) => `991122${10 + index}`);
const send = async (to = ['99112233']) => {
  const batch = await services.sendBatch(to, 'Hi');
  return { batch, completed: () => services.completed(batch).then(() => services.messagesOf(batch)) };
};
/** For so many milliseconds. */
const pass = (milliseconds: number) => {
  const end = services.clock.monotonic() + milliseconds;
  return services.pass(() => services.clock.monotonic() >= end, 500);
};
const isTaken = (times: number) => services.pass(() => gateway.taken.length >= times, 250);
const sameBytes = () =>
  new Set(gateway.taken.map(({ url, body, headers }) => JSON.stringify([url, body, headers])));

describe('a request without a known outcome, over a route with a key', () => {
  it.each(
    oneOnPostgres<[string, Reaction]>([
      ['a 500', answer(500)],
      ['a 2xx that nobody described', answer(200, { status: '99' })],
      ['half an answer', bytes('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"status":')],
      ['silence', () => {}],
    ]),
  )('goes out again after %s, the same bytes, and is accepted', async (_, react) => {
    await open();
    gateway.react = firstOf(react);
    const messages = await (await send()).completed();
    expect(messages).toMatchObject([{ status: 'sent', delivery: null }]);
    expect(gateway.taken.map(keyOf)).toEqual([messages[0]?.id, messages[0]?.id]);
    expect(sameBytes().size).toBe(1);
    expect(await ledgerDifference(services.core)).toBe(0);
  });

  it('answers the single message that waits for it', async () => {
    await open();
    gateway.react = firstOf(answer(500));
    expect(await services.passed(services.send('99112233', 'Hi'), 100)).toMatchObject({ status: 200 });
  });

  it('goes out again behind what measures its carrier', async () => {
    const metrics = new Metrics();
    onTestFinished(() => metrics.close());
    await open(configured(), metrics.wrappers);
    gateway.react = firstOf(answer(500));
    expect(await (await send()).completed()).toMatchObject([{ status: 'sent', delivery: null }]);
  });

  it('goes out after 1 s, doubled up to 60 s, until its doubt is over', async () => {
    await open();
    const times: number[] = [];
    gateway.react = (...given) => {
      times.push(services.clock.monotonic());
      answer(500)(...given);
    };
    expect(await (await send()).completed()).toMatchObject([{ status: 'sent', delivery: 'unknown' }]);
    const waits = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 1_000);
    expect(waits.length).toBeGreaterThan(7);
    for (const [index, wait] of waits.slice(0, 6).entries()) {
      expect(wait).toBeGreaterThanOrEqual(2 ** Math.max(0, index - 1) - 0.1);
      expect(wait).toBeLessThanOrEqual(2 ** index + 4);
    }
    expect(Math.max(...waits)).toBeLessThan(65);
  });

  it.each(
    oneOnPostgres<[string, Reaction]>([
      ['refused', answer(200, { status: '6' })],
      ['a 422', answer(422)],
      ['a 401', answer(401)],
      ['throttled', answer(429)],
      ['cut', bytes('')],
    ]),
  )('is unknown where each repeat is %s: charged, and no other route', async (_, react) => {
    const second = new FaultyGateway();
    const other = {
      ...route(),
      name: 'other',
      http: `http://127.0.0.1:${await second.listen()}/`,
      prefixes: [],
    };
    await open(services.configured({ routes: [route({ fallback: ['other'] }), other] }));
    gateway.react = firstOf(answer(500), react);
    expect(await (await send()).completed()).toMatchObject([
      { status: 'sent', delivery: 'unknown', credits: 10 },
    ]);
    expect([gateway.taken.length > 4, sameBytes().size, second.taken]).toEqual([true, 1, []]);
    await second.close();
  });

  it('is the same bytes whatever the configuration says meanwhile', async () => {
    const directory = services.cores.folder();
    await open({ directory, ...configured({ form: { to: '{number}', text: 'A: {text}' } }) });
    gateway.react = answer(500);
    const { completed } = await send();
    await isTaken(2);
    await services.close();
    gateway.react = accepted;
    await open({
      directory,
      ...configured({ form: { to: '{number}', text: 'B: {text}' }, headers: { 'X-New': '1' } }),
    });
    expect(await completed()).toMatchObject([{ status: 'sent', delivery: null }]);
    expect(sameBytes().size).toBe(1);
  });

  it.each(
    oneOnPostgres<[string, Record<string, unknown>]>([
      ['its key stands in another header', { repeat_key: { header: 'X-Key' } }],
      ['it has another address', { http: '/other' }],
      ['its gateway knows no keys any more', { repeat_key: undefined, repeat_for: undefined }],
      ['its key is known for too short a time', { repeat_for: '1m' }],
    ]),
  )('does not go out where %s', async (_, { http, ...changes }) => {
    const directory = services.cores.folder();
    await open({ directory, ...configured() });
    gateway.react = answer(500);
    const { completed } = await send();
    await isTaken(1);
    await services.close();
    const before = gateway.taken.length;
    gateway.react = accepted;
    services.clock.advance(60_000);
    const address = http === undefined ? {} : { http: `http://127.0.0.1:${port}${http}` };
    await open({ directory, ...configured({ ...changes, ...address }) });
    expect(await completed()).toMatchObject([{ status: 'sent', delivery: 'unknown' }]);
    expect(gateway.taken).toHaveLength(before);
  });

  it('does not go out while its lane is paused, nor after its batch was stopped', async () => {
    await open();
    gateway.react = answer(500);
    const { batch, completed } = await send();
    await isTaken(1);
    const { administration } = services.core;
    await administration.setLaneStatus('gateway', 'paused');
    await pass(2_000);
    const before = gateway.taken.length;
    await pass(30_000);
    expect(gateway.taken).toHaveLength(before);
    await administration.setLaneStatus('gateway', 'open');
    await isTaken(before + 1);
    await administration.stopBatch(batch);
    await pass(2_000);
    const then = gateway.taken.length;
    gateway.react = accepted;
    expect(await completed()).toMatchObject([{ delivery: 'unknown' }]);
    expect(gateway.taken).toHaveLength(then);
  });

  it('does not go out with a code that has expired', async () => {
    await open();
    gateway.react = answer(500);
    const params = { to: '99112233', expires_in: 60 };
    const creating = services.core.operations.createVerification(caller, params).catch(() => {});
    await isTaken(2);
    await pass(60_000);
    const before = gateway.taken.length;
    await pass(120_000);
    expect(gateway.taken).toHaveLength(before);
    await services.passed(creating);
  });

  it('goes out for a minute where the service was down for longer than a doubt lasts', async () => {
    const directory = services.cores.folder();
    await open({ directory, ...configured() });
    gateway.react = answer(500);
    const { completed } = await send();
    await isTaken(1);
    await services.close();
    services.clock.advance(1_800_000);
    await open({ directory, ...configured() });
    await isTaken(gateway.taken.length + 2);
    gateway.react = accepted;
    expect(await completed()).toMatchObject([{ status: 'sent', delivery: null }]);
  });

  it('takes a quarter of the places at most', async () => {
    await open(configured({ concurrent: 8 }));
    const waiting: (() => void)[] = [];
    gateway.react = firstOf(
      (response) => void waiting.push(() => answer(500)(response, {} as TakenRequest, 0)),
      () => {},
    );
    await send(numbers.slice(0, 8));
    await isTaken(8);
    for (const react of waiting) react();
    await pass(20_000);
    expect(gateway.taken).toHaveLength(8 + 2);
  });
});

describe('a gateway with keys that fails now and then', () => {
  const reactions: Reaction[] = [
    accepted,
    answer(500),
    answer(429),
    bytes('HTTP/1.1 200'),
    answer(422),
    accepted,
  ];
  /** Each key is taken by its first request, unless that was answered with what says that it was not. */
  const random = seededRandom(1);
  const react: Reaction = (response, request, index) => {
    const key = keyOf(request);
    const at = Math.floor(random() * reactions.length);
    if (![2, 4].includes(at)) sent.set(key, 1);
    reactions[at]?.(response, request, index);
  };

  it('has nothing twice, lost or untrue, and nothing unknown', async () => {
    await open();
    gateway.react = react;
    const messages = await (await send(numbers)).completed();
    for (const { id, status, delivery } of messages)
      expect([delivery, sent.get(id) ?? 0]).toEqual([null, status === 'sent' ? 1 : 0]);
    expect(await ledgerDifference(services.core)).toBe(0);
  });
});

describe('a process that dies, over a route with a key', () => {
  const methods = ['markSubmitting', 'markRepeating', 'finalizeMessages'] as const;
  const points = crashPoints(methods, isOnPostgres() ? [1] : [1, 2]);

  it.each(points)('$when $method $call leaves nothing unknown', async (point) => {
    gateway.react = firstOf(answer(500));
    await services.die(point, configured(), {
      send: (dying) => services.sendBatch(numbers, 'Hi', dying),
      isOver: () => sent.size === numbers.length,
    });
    const messages = await (await send(numbers)).completed();
    expect(messages.filter(({ status, delivery }) => status !== 'sent' || delivery !== null)).toEqual([]);
    expect([...sent.keys()].sort()).toEqual(messages.map(({ id }) => id).sort());
  });
});
