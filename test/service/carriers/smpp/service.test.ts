import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { statuses } from '../../../../src/service/carriers/smpp/codec/commands.js';
import type { CoreDoubles } from '../../../../src/service/core.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { Metrics } from '../../../../src/service/metrics/metrics.js';
import { openStoreDatabase } from '../../../../src/service/storage/sqlite/sqlite-store.js';
import { CarrierServices, judge, takenTwice } from '../../../support/carrier-services.js';
import { caller } from '../../../support/cores.js';
import { crashPoints } from '../../../support/crash.js';
import { Smsc, type TakenSegment } from '../../../support/smsc.js';

let services: CarrierServices;
let smsc: Smsc;
let port: number;

beforeEach(async () => {
  smsc = new Smsc();
  port = await smsc.listen();
  services = new CarrierServices();
});
afterEach(async () => {
  await services.closeAll();
  await smsc.close();
});

const route = (changes: object = {}) => ({
  name: 'Mobicom',
  smpp: `smpp://127.0.0.1:${port}`,
  system_id: 'urtuu',
  password: { env: 'PASSWORD' },
  per_second: 20_000,
  window: 3,
  prefixes: ['99', '95'],
  ...changes,
});

const configured = (sms: object | string = { routes: [route()] }, email?: string) =>
  services.configured(sms, email);
const open = (options: ServiceOptions = configured(), doubles: CoreDoubles = {}) =>
  services.open(options, doubles);
const deliveryOf = async (id: string) => (await services.core.operations.getMessage(caller, id)).delivery;

describe('a service with SMPP routes', () => {
  it('sends, and takes the receipt', async () => {
    await open();
    const { status, body } = await services.send('99112233', 'Сайн уу');
    expect([status, body]).toMatchObject([200, { status: 'sent' }]);
    const { id } = body as { id: string };
    expect(smsc.taken).toMatchObject([{ to: '99112233', text: 'Сайн уу', reference: id.slice(-4) }]);
    smsc.sendReceipt(smsc.taken[0] as TakenSegment);
    await services.pass(async () => (await deliveryOf(id)) === 'delivered');
    expect(smsc.acknowledged).toEqual([0]);
  });

  it('takes the receipt of a message that an earlier release has sent, whatever the form of its id', async () => {
    const directory = services.cores.folder();
    const options = { directory, ...configured() };
    smsc.options.idOf = () => '00B8BE19';
    await open(options);
    const { body } = await services.send('99112233', 'Hi');
    await services.close();
    const database = await openStoreDatabase(join(directory, 'service.db'));
    database.exec("UPDATE receipts SET carrier_id = '00B8BE19'; UPDATE lanes SET has_normal_ids = 0");
    database.close();
    await open(options);
    await services.pass(() => smsc.receivers.size > 0);
    smsc.sendReceipt(smsc.taken[0] as TakenSegment, 'DELIVERED', 'B8be19');
    await services.pass(async () => (await deliveryOf((body as { id: string }).id)) === 'delivered');
  });

  it('counts what it cannot read or join, and segments beyond the parts, by route', async () => {
    const metrics = new Metrics();
    onTestFinished(() => metrics.close());
    await open(configured({ routes: [route({ alphabet: 'ucs2' })] }), metrics.wrappers);
    expect(services.cores.faults.map(({ stack }) => stack)).toEqual([
      expect.stringContaining('SMPP route Mobicom, alphabet ucs2: Latin texts can need'),
    ]);
    await services.send('99112233', 'a'.repeat(150));
    const [taken] = smsc.taken as [TakenSegment];
    smsc.sendReceipt(taken, 'NEWSTATE');
    smsc.sendReceipt(taken, 'ENROUTE');
    smsc.sendReceipt(taken, 'DELIVRD', '');
    smsc.sendReceipt(taken, 'DELIVRD', 'another');
    smsc.sendReceipt(taken);
    smsc.writeRaw(Buffer.from('00000011000001030000000000000077ff', 'hex'));
    await services.pass(async () => smsc.acknowledged.length === 6);
    const { heartbeat, store, administration } = services.core;
    const lines = (await metrics.read({ heartbeat, store })).split('\n');
    expect(
      lines.filter((line) => /^urtuu_(gateway|segments|receipts_unjoined).*\{.*route.* [1-9]/.test(line)),
    ).toEqual([
      'urtuu_gateway_requests_unread_total{path="receipts",route="Mobicom",reason="body"} 1',
      'urtuu_gateway_requests_unread_total{path="receipts",route="Mobicom",reason="fields"} 1',
      'urtuu_gateway_requests_unread_total{path="receipts",route="Mobicom",reason="state"} 1',
      'urtuu_segments_beyond_parts_total{route="Mobicom"} 2',
      'urtuu_receipts_unjoined{route="Mobicom"} 1',
    ]);
    await heartbeat.begin('http://127.0.0.1:1');
    const { lanes } = await administration.status();
    expect(lanes.find(({ lane }) => lane === 'Mobicom')?.unread).toEqual({
      ...{ state: 1, fields: 1, body: 1, unjoined: 1 },
    });
  });

  it('fails a single message within 15 seconds if its route never connects, and says so', async () => {
    await smsc.close();
    await open();
    const begun = services.clock.now();
    expect(await services.passed(services.send('99112233', 'Hi'))).toMatchObject({
      status: 502,
      body: {
        error: { code: 'provider_failed', message: expect.stringContaining('Mobicom is not connected') },
      },
    });
    expect(services.clock.now() - begun).toBeLessThanOrEqual(15_000);
    expect(smsc.heard).toEqual([]);
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
    const sent = await services.passed(services.send('99112233', 'See https://a.mn/x now'));
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(second.taken.map(({ text }) => text)).toEqual(['See now']);
    await services.closeAll();
    await second.close();
  });

  it('takes the fallback where the operator has been away for 30 s', async () => {
    const second = new Smsc();
    const other = { name: 'other', smpp: `smpp://127.0.0.1:${await second.listen()}`, prefixes: [] };
    await open(configured({ routes: [route({ fallback: ['other'] }), route(other)] }));
    await smsc.close();
    await services.pass(() => smsc.sockets.size === 0);
    services.clock.advance(31_000);
    const before = services.clock.monotonic();
    const sent = await services.passed(services.send('99112233', 'Hi'));
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    // Not the 8 s that it waits for its first route otherwise; the jump has cut the other connection too.
    expect(services.clock.monotonic() - before).toBeLessThan(8_000);
    expect(second.taken).toHaveLength(1);
    await services.closeAll();
    await second.close();
  });

  it('refuses a number that no route has, and keeps the operators of its settings out', async () => {
    await open();
    await expect(services.send('88112233', 'Hi')).rejects.toMatchObject({ code: 'unsupported_number' });
    expect((await services.core.administration.settings.get()).operators).toEqual({ Mobicom: ['99', '95'] });
  });

  it('has no faults on demand', async () => {
    await open();
    expect(await services.send('99000001', 'Hi')).toMatchObject({ status: 200 });
    expect(services.core.isReal).toBe(true);
  });

  it('gives a code no longer than its life', async () => {
    await open();
    await services.core.operations.createVerification(caller, { to: '99112233', expires_in: 120 });
    expect(smsc.taken[0]?.pdu.fields.validity_period).toBe('000000000200000R');
  });
});

describe('an operator in trouble', () => {
  it('that unbinds between two segments gets the second over its next connection', async () => {
    await open();
    smsc.options.onTaken = (segment, answer) => {
      // Both in one packet.
      for (const socket of smsc.sockets) socket.cork();
      answer();
      if (segment.number === 1) smsc.request('unbind');
      for (const socket of smsc.sockets) socket.uncork();
    };
    const sent = await services.passed(services.send('99112233', 'a'.repeat(200)));
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(smsc.taken.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('that answers nothing but enquire_link gets few messages to leave unknown', async () => {
    await open();
    smsc.options.react = () => 'unanswered';
    const many = Array.from({ length: 300 }, (_, index) => `${99_100_000 + index}`);
    const batch = await services.sendBatch(many, 'Hi');
    const end = services.clock.monotonic() + 600_000;
    await services.pass(() => services.clock.monotonic() >= end);
    expect(smsc.taken.length).toBeLessThanOrEqual(45);
    delete smsc.options.react;
    await services.completed(batch);
    const unknown = (await services.messagesOf(batch)).filter(({ delivery }) => delivery === 'unknown');
    expect(unknown.length).toBeLessThanOrEqual(45);
    expect(takenTwice(smsc.taken)).toEqual([]);
  });
});

describe('an unknown outcome', () => {
  it('of a single SMS is 503, and a late answer ends it', async () => {
    await open();
    smsc.options.react = () => 'held';
    await expect(services.passed(services.send('99112233', 'Hi', 'k'))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfter: 10,
    });
    smsc.release();
    const again = await services.passed(services.send('99112233', 'Hi', 'k'));
    expect(again).toMatchObject({ status: 200, replayed: true, body: { status: 'sent' } });
    expect(smsc.taken).toHaveLength(1);
    const { id } = again.body as { id: string };
    expect(await deliveryOf(id)).toBeNull();
    smsc.sendReceipt(smsc.taken[0] as TakenSegment);
    await services.pass(async () => (await deliveryOf(id)) === 'delivered');
  });

  it('that a late refusal ends is refunded or sent again, never both', async () => {
    await open();
    smsc.options.react = (_, index) => (index === 0 ? 'lost' : 'take');
    const batch = await services.sendBatch(['99112233'], 'Hi');
    await services.pass(() => smsc.heard.filter(({ command }) => command === 'enquire_link').length > 0);
    // The answer to the first submit_sm, which is the second PDU of its session.
    smsc.writeRaw(Buffer.from('00000010800000040000005800000002', 'hex'));
    await services.pass(async () => (await services.messagesOf(batch))[0]?.status === 'sent');
    expect(smsc.taken).toHaveLength(1);
  });

  it('ends with a receipt that repeats its reference, and with no other', async () => {
    await open();
    smsc.options.react = () => 'cut_after';
    const batch = await services.sendBatch(['99112233'], 'Hi');
    await services.pass(() => smsc.taken.length === 1 && smsc.sockets.size === 1);
    smsc.options = {};
    const [taken] = smsc.taken as [TakenSegment];
    await services.pass(
      () => smsc.heard.filter(({ command }) => command === 'bind_transceiver').length === 2,
    );
    for (const id of [taken.id, 'B8BE19']) smsc.sendReceipt(taken, 'DELIVRD', id);
    await services.pass(() => smsc.acknowledged.length === 2);
    expect(await services.messagesOf(batch)).toMatchObject([{ status: 'queued', delivery: null }]);
    smsc.sendReceipt(taken, 'DELIVRD', taken.id, taken.reference);
    await services.pass(async () => (await services.messagesOf(batch))[0]?.delivery === 'delivered');
    expect(smsc.taken).toHaveLength(1);
  });

  it.each([
    [null, 'unknown'],
    ['echo', 'delivered'],
  ] as const)(
    'after a receipt that came before the answer (reference: %s) ends as %s',
    async (echo, delivery) => {
      await open();
      smsc.options.onTaken = (segment) =>
        smsc.sendReceipt(segment, 'DELIVRD', segment.id, echo && segment.reference);
      const batch = await services.sendBatch(['99112233'], 'Hi');
      await services.completed(batch);
      expect(await services.messagesOf(batch)).toMatchObject([{ status: 'sent', delivery, credits: 10 }]);
      expect(smsc.taken).toHaveLength(1);
      expect(smsc.acknowledged).toEqual([0]);
    },
  );

  it('ends after 5 min as sent, charged and unknown; a receipt still counts', async () => {
    await open();
    smsc.options.react = () => 'cut_after';
    const batch = await services.sendBatch(['99112233'], 'Hi');
    const waited = await services.pass(async () => (await services.messagesOf(batch))[0]?.status === 'sent');
    expect(waited).toBeGreaterThanOrEqual(299_000);
    expect(await services.messagesOf(batch)).toMatchObject([{ delivery: 'unknown', credits: 10 }]);
    const [taken] = smsc.taken as [TakenSegment];
    smsc.sendReceipt(taken, 'DELIVRD', taken.id, taken.reference);
    await services.pass(async () => (await services.messagesOf(batch))[0]?.delivery === 'delivered');
    expect(smsc.taken).toHaveLength(1);
  });
});

const numbers = ['99000101', '99000102', '99000103', '99000104', '99000105', '99000106', '99000107'];
/** Two segments. */
const text = 'a'.repeat(200);

describe('a process that dies', () => {
  const points = crashPoints(['markSubmitting', 'finalizeMessages', 'claimMessages']);

  it.each(points)('$when $method $call leaves no more unknown than its window', async (point) => {
    await services.die(point, configured(), {
      send: (dying) => services.sendBatch(numbers, text, dying),
      isOver: () => smsc.taken.length === 14,
      cut: () => smsc.cut(),
    });
    const batch = await services.sendBatch(numbers, text);
    await services.completed(batch);
    expect(await judge(services, batch, smsc.taken)).toBeLessThanOrEqual(3);
  });
});

describe('data that was served for real', () => {
  it('is never simulated: without a configuration it sends nothing, and no reset empties it', async () => {
    const directory = services.cores.folder();
    await open({ directory, ...configured() });
    await services.close();
    await open({ directory });
    await expect(services.send('99112233', 'Hi')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(services.core.administration.reset()).rejects.toThrow('never reset');
    expect([services.core.administration.isReal, services.core.channels]).toEqual([
      true,
      { sms: 'off', email: 'off' },
    ]);
    await services.close();
    await expect(open({ directory, ...configured('simulated', 'simulated') })).rejects.toThrow(
      'sms: must not be "simulated"',
    );
    await open({ directory, ...configured('off', 'simulated') });
    expect(services.core.isReal).toBe(true);
    await expect(services.send('99112233', 'Hi')).rejects.toThrow('SMS is off');
  });

  it('keeps what waits for a route that was renamed', async () => {
    const directory = services.cores.folder();
    await smsc.close();
    await open({ directory, ...configured({ routes: [route({ name: 'Old' })] }) });
    const batch = await services.sendBatch(['99112233', '95112233'], 'Hi');
    await services.close();
    await smsc.listen(port);
    await open({
      directory,
      ...configured({ routes: [route({ name: 'Old', prefixes: ['95'] }), route({ prefixes: ['99'] })] }),
    });
    await services.pass(async () =>
      (await services.messagesOf(batch)).every(({ status }) => status === 'sent'),
    );
    await services.close();
    expect(smsc.taken).toHaveLength(2);
  });

  it('refunds what waits for a route that is gone, after its bound', async () => {
    const directory = services.cores.folder();
    await smsc.close();
    await open({ directory, ...configured({ routes: [route({ name: 'Old', prefixes: ['95'] })] }) });
    const batch = await services.sendBatch(['95112233'], 'Hi');
    await services.close();
    await smsc.listen(port);
    await open({ directory, ...configured({ routes: [route({ prefixes: ['99'] })] }) });
    await services.pass(
      async () => (await services.messagesOf(batch))[0]?.status === 'failed',
      60_000,
      30 * 3_600_000,
    );
    expect(await services.core.operations.getBalance(caller)).toEqual({ balance: 100_000 });
    expect(smsc.taken).toEqual([]);
  });
});
