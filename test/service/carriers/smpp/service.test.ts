import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/contract/index.js';
import { statuses } from '../../../../src/service/carriers/smpp/codec/commands.js';
import { ManualClock } from '../../../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../../../src/service/core.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { Cores, caller, ledgerDifference } from '../../../support/cores.js';
import { Crash, type CrashPoint } from '../../../support/crash.js';
import { Smsc, type TakenSegment } from '../../../support/smsc.js';

const cores = new Cores();
let smsc: Smsc;
let port: number;
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  smsc = new Smsc();
  port = await smsc.listen();
  clock = new ManualClock(Date.UTC(2026, 10, 22));
});
afterEach(async () => {
  await Promise.all([cores.closeAll(), passing()]);
  await smsc.close();
});

/** Time that passes for as long as something is closed. */
async function passing(): Promise<void> {
  for (let turn = 0; turn < 300; turn += 1) {
    await new Promise(setImmediate);
    clock.advance(100);
  }
}

/** Lets time pass, and the sockets exchange what they have, until something holds. */
async function pass(
  holds: () => boolean | Promise<boolean>,
  step = 500,
  longest = 1_200_000,
): Promise<number> {
  for (let passed = 0; passed <= longest; passed += step) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    if (await holds()) return passed;
    clock.advance(step);
  }
  throw new Error('it never holds');
}

const route = (changes: object = {}) => ({
  name: 'Mobicom',
  smpp: `smpp://127.0.0.1:${port}`,
  system_id: 'urtuu',
  password: { env: 'PASSWORD' },
  per_second: 1_000,
  window: 3,
  prefixes: ['99', '95'],
  ...changes,
});

function configured(
  sms: object | string = { routes: [route()] },
  email = 'off',
): Pick<ServiceOptions, 'configuration'> {
  const file = join(cores.folder(), 'service.json');
  writeFileSync(file, JSON.stringify({ sms, email }));
  return { configuration: { file, environment: { PASSWORD: 'secret' } } };
}

const open = async (options: ServiceOptions = configured()) => {
  core = await cores.open({ clock, rates: 'off', ...options });
  return core;
};

/** Closes it and keeps its data. */
async function close(): Promise<void> {
  await Promise.all([core.close(), passing()]);
}

const send = (to: string, text: string, idempotencyKey: string | null = null) =>
  core.operations.sendSms({ caller, params: { to, text }, idempotencyKey });

/** A result, for which time passes. */
async function passed<Result>(promise: Promise<Result>, step = 500): Promise<Result> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  await pass(() => isDone, step);
  return promise;
}

async function sendBatch(to: string[], text: string, of = core): Promise<string> {
  const { body } = await of.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: 'batch' });
  return (body as { id: string }).id;
}

async function messagesOf(batch: string): Promise<Message[]> {
  const { data } = await core.operations.listBatchMessages(caller, batch, { limit: 1_000, after: null });
  return data;
}

const deliveryOf = async (id: string) => (await core.operations.getMessage(caller, id)).delivery;

describe('a service with SMPP routes', () => {
  it('sends, and takes the receipt', async () => {
    await open();
    const { status, body } = await send('99112233', 'Сайн уу');
    expect([status, body]).toMatchObject([200, { status: 'sent' }]);
    const { id } = body as { id: string };
    expect(smsc.taken).toMatchObject([{ to: '99112233', text: 'Сайн уу', reference: id.slice(-4) }]);
    smsc.sendReceipt(smsc.taken[0] as TakenSegment);
    await pass(async () => (await deliveryOf(id)) === 'delivered');
    expect(smsc.acknowledged).toEqual([0]);
  });

  it('takes a receipt that comes before the answer', async () => {
    await open();
    smsc.options.onTaken = (segment, answer) => {
      smsc.sendReceipt(segment, 'UNDELIV');
      setImmediate(answer);
    };
    const { body } = await send('99112233', 'Hi');
    expect(await deliveryOf((body as { id: string }).id)).toBe('undelivered');
  });

  it.each([
    ['same', '00a1', '00a1'],
    ['hex_to_dec', 'a1', '0000000161'],
    ['dec_to_hex', '161', 'A1'],
  ])('joins receipts by their ids: %s', async (receipt_id, submitted, received) => {
    await open(configured({ routes: [route({ receipt_id })] }));
    smsc.options.idOf = () => submitted;
    const { body } = await send('99112233', 'Hi');
    smsc.sendReceipt(smsc.taken[0] as TakenSegment, 'DELIVRD', received);
    await pass(async () => (await deliveryOf((body as { id: string }).id)) === 'delivered');
  });

  it('is delivered when all segments are', async () => {
    await open();
    const { body } = await send('99112233', 'a'.repeat(400));
    const { id } = body as { id: string };
    for (const segment of smsc.taken.slice(0, 2)) smsc.sendReceipt(segment);
    await pass(() => smsc.acknowledged.length === 2);
    expect(await deliveryOf(id)).toBeNull();
    smsc.sendReceipt(smsc.taken[2] as TakenSegment);
    await pass(async () => (await deliveryOf(id)) === 'delivered');
  });

  it('takes the fallback where a number is refused, without links there', async () => {
    const second = new Smsc();
    const other = {
      name: 'no-link',
      smpp: `smpp://127.0.0.1:${await second.listen()}`,
      prefixes: [],
      links: false,
    };
    await open(configured({ routes: [route({ fallback: ['no-link'] }), route(other)] }));
    smsc.options.react = () => statuses.invalidRecipient;
    const sent = await passed(send('99112233', 'See https://a.mn/x now'));
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(second.taken.map(({ text }) => text)).toEqual(['See now']);
    await Promise.all([cores.closeAll(), passing()]);
    await second.close();
  });

  it('refuses a number that no route has, and keeps the operators of its settings out', async () => {
    await open();
    await expect(send('88112233', 'Hi')).rejects.toMatchObject({ code: 'unsupported_number' });
    expect((await core.administration.settings.get()).operators).toEqual({ Mobicom: ['99', '95'] });
  });

  it('has no faults on demand', async () => {
    await open();
    expect(await send('99000001', 'Hi')).toMatchObject({ status: 200 });
    expect(core.isReal).toBe(true);
  });

  it('gives a code no longer than its life', async () => {
    await open();
    await core.operations.createVerification(caller, { to: '99112233', expires_in: 120 });
    expect(smsc.taken[0]?.pdu.fields.validity_period).toBe('000000000200000R');
  });

  it('pauses the lane of a throttling operator, and sends then', async () => {
    await open();
    smsc.options.react = (_, index) => (index < 4 ? statuses.throttled : 'take');
    const batch = await sendBatch(['99112233', '99112234', '99112235'], 'Hi');
    await pass(async () => (await messagesOf(batch)).every(({ status }) => status === 'sent'));
    expect(smsc.taken).toHaveLength(3);
  });

  it('refuses a send once its operator was away for 30 s, and stores nothing', async () => {
    await open();
    await smsc.close();
    await pass(() => core.carrier !== null && smsc.sockets.size === 0);
    clock.advance(31_000);
    await expect(passed(send('99112233', 'Hi'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
    const batch = await sendBatch(['99112233'], 'Hi');
    await smsc.listen(port);
    await pass(async () => (await messagesOf(batch)).every(({ status }) => status === 'sent'));
  });
});

describe('an unknown outcome', () => {
  it('of a single SMS is 503, and a late answer ends it', async () => {
    await open();
    smsc.options.react = () => 'held';
    await expect(passed(send('99112233', 'Hi', 'k'))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfter: 10,
    });
    smsc.release();
    const again = await passed(send('99112233', 'Hi', 'k'));
    expect(again).toMatchObject({ status: 200, replayed: true, body: { status: 'sent' } });
    expect(smsc.taken).toHaveLength(1);
    const { id } = again.body as { id: string };
    expect(await deliveryOf(id)).toBeNull();
    smsc.sendReceipt(smsc.taken[0] as TakenSegment);
    await pass(async () => (await deliveryOf(id)) === 'delivered');
  });

  it('that a late refusal ends is refunded or sent again, never both', async () => {
    await open();
    smsc.options.react = (_, index) => (index === 0 ? 'lost' : 'take');
    const batch = await sendBatch(['99112233'], 'Hi');
    await pass(() => smsc.heard.filter(({ command }) => command === 'enquire_link').length > 0);
    // The answer to the first submit_sm, which is the second PDU of its session.
    smsc.writeRaw(Buffer.from('00000010800000040000005800000002', 'hex'));
    await pass(async () => (await messagesOf(batch))[0]?.status === 'sent');
    expect(smsc.taken).toHaveLength(1);
  });

  it.each([null, 'echo'] as const)('ends with a receipt (reference: %s)', async (echo) => {
    await open();
    smsc.options.react = () => 'cut_after';
    const batch = await sendBatch(['99112233'], 'Hi');
    await pass(() => smsc.taken.length === 1 && smsc.sockets.size === 1);
    smsc.options = {};
    const [taken] = smsc.taken as [TakenSegment];
    await pass(() => smsc.heard.filter(({ command }) => command === 'bind_transceiver').length === 2);
    await pass(async () => {
      smsc.sendReceipt(taken, 'DELIVRD', taken.id, echo && taken.reference);
      return (await messagesOf(batch))[0]?.delivery === 'delivered';
    });
    expect(smsc.taken).toHaveLength(1);
  });

  it('ends after 5 min as sent, charged and unknown; a receipt still counts', async () => {
    await open();
    smsc.options.react = () => 'cut_after';
    const batch = await sendBatch(['99112233'], 'Hi');
    const waited = await pass(async () => (await messagesOf(batch))[0]?.status === 'sent');
    expect(waited).toBeGreaterThanOrEqual(299_000);
    expect(await messagesOf(batch)).toMatchObject([{ delivery: 'unknown', credits: 10 }]);
    smsc.sendReceipt(smsc.taken[0] as TakenSegment);
    await pass(async () => (await messagesOf(batch))[0]?.delivery === 'delivered');
    expect(smsc.taken).toHaveLength(1);
  });
});

const numbers = ['99000101', '99000102', '99000103', '99000104', '99000105', '99000106', '99000107'];
/** Two segments. */
const text = 'a'.repeat(200);

/** 0 twice, 0 lost; unknown is at most the window. */
async function judge(batch: string, window: number): Promise<number> {
  const messages = await messagesOf(batch);
  const takenBy = (to: string) => smsc.taken.filter((segment) => segment.to === to);
  const keys = smsc.taken.map(({ to, number }) => `${to} ${number}`);
  expect(keys).toEqual([...new Set(keys)]);
  for (const { to, status, delivery } of messages) {
    expect(status).toBe('sent');
    if (delivery !== 'unknown') expect(takenBy(to)).toHaveLength(2);
  }
  expect(messages.map(({ to }) => to)).toEqual(numbers);
  const unknown = messages.filter(({ delivery }) => delivery === 'unknown').length;
  expect(unknown).toBeLessThanOrEqual(window);
  expect(await ledgerDifference(core)).toBe(0);
  return unknown;
}

const isCompleted = (batch: string) => async () =>
  (await core.operations.getBatch(caller, batch)).status === 'completed';

describe('a connection that is cut', () => {
  /** The points of a run, and the unknown ones. */
  async function runCutAt(cutAt: number): Promise<{ points: number; unknown: number }> {
    smsc.options = {
      cutAt,
      onTaken: (segment, answer) => {
        answer();
        smsc.sendReceipt(segment);
      },
    };
    await open();
    const batch = await sendBatch(numbers, text);
    await pass(isCompleted(batch), 1_000);
    return { points: smsc.points, unknown: await judge(batch, 3) };
  }

  it('nowhere leaves nothing unknown', async () => {
    expect(await runCutAt(0)).toMatchObject({ unknown: 0 });
  });

  // More than a run has: see the last expectation.
  it.each(Array.from({ length: 8 }, (_, part) => part))(
    'at every PDU (part %i of 8): nothing twice, nothing lost',
    async (part) => {
      let unknown = 0;
      for (let cutAt = part + 1; cutAt <= 96; cutAt += 8) {
        unknown += (await runCutAt(cutAt)).unknown;
        await Promise.all([cores.closeAll(), passing()]);
        await smsc.close();
        smsc = new Smsc();
        port = await smsc.listen();
      }
      expect(unknown).toBeGreaterThan(0);
    },
  );
});

describe('a process that dies', () => {
  const points: CrashPoint[] = (['markSubmitting', 'finalizeMessages', 'claimMessages'] as const).flatMap(
    (method) =>
      [1, 2, 3].flatMap((call) => (['before', 'after'] as const).map((when) => ({ when, method, call }))),
  );

  it.each(points)('$when $method $call leaves no more unknown than its window', async (point) => {
    const directory = cores.folder();
    const settings = configured();
    const crash = new Crash(point);
    const doubles: CoreDoubles = { store: crash.doubles.store as NonNullable<CoreDoubles['store']> };
    const dying = await cores.openMortal({ clock, rates: 'off', directory, ...settings }, doubles);
    void sendBatch(numbers, text, dying).catch(() => {});
    let happened = false;
    void crash.happened.then(() => {
      happened = true;
    });
    await pass(() => happened || smsc.taken.length === 14, 100);
    // Its connections end with it.
    smsc.cut();
    crash.now();
    await open({ directory, ...settings });
    const batch = await sendBatch(numbers, text);
    await pass(isCompleted(batch), 1_000);
    await judge(batch, 3);
  });
});

describe('data that was served for real', () => {
  it('is never simulated: without a configuration it sends nothing, and no reset empties it', async () => {
    const directory = cores.folder();
    await open({ directory, ...configured() });
    await close();
    await open({ directory });
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(core.administration.reset()).rejects.toThrow('never reset');
    expect([core.administration.isReal, core.channels]).toEqual([true, { sms: 'off', email: 'off' }]);
    await close();
    await expect(open({ directory, ...configured('simulated', 'simulated') })).rejects.toThrow(
      'sms: must not be "simulated"',
    );
    await open({ directory, ...configured('off', 'simulated') });
    expect(core.isReal).toBe(true);
    await expect(send('99112233', 'Hi')).rejects.toThrow('SMS is off');
  });

  it('keeps what waits for a route that was renamed', async () => {
    const directory = cores.folder();
    await smsc.close();
    await open({ directory, ...configured({ routes: [route({ name: 'Old' })] }) });
    const batch = await sendBatch(['99112233', '95112233'], 'Hi');
    await close();
    await smsc.listen(port);
    await open({
      directory,
      ...configured({ routes: [route({ name: 'Old', prefixes: ['95'] }), route({ prefixes: ['99'] })] }),
    });
    await pass(async () => (await messagesOf(batch)).every(({ status }) => status === 'sent'));
    await close();
    expect(smsc.taken).toHaveLength(2);
  });

  it('refunds what waits for a route that is gone, after its bound', async () => {
    const directory = cores.folder();
    await smsc.close();
    await open({ directory, ...configured({ routes: [route({ name: 'Old', prefixes: ['95'] })] }) });
    const batch = await sendBatch(['95112233'], 'Hi');
    await close();
    await smsc.listen(port);
    await open({ directory, ...configured({ routes: [route({ prefixes: ['99'] })] }) });
    await pass(async () => (await messagesOf(batch))[0]?.status === 'failed', 60_000, 30 * 3_600_000);
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
    expect(smsc.taken).toEqual([]);
  });
});
