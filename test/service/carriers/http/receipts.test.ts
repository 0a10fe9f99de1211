import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CarrierRequest } from '../../../../src/service/carriers/carrier.js';
import { CarrierServices } from '../../../support/carrier-services.js';
import { caller } from '../../../support/cores.js';
import { answer, FaultyGateway } from '../../../support/gateway.js';

let services: CarrierServices;
let gateway: FaultyGateway;
let port: number;
const token = 'receipts-0123456789';

beforeEach(async () => {
  gateway = new FaultyGateway();
  port = await gateway.listen();
  gateway.react = (response, request, index) =>
    answer(200, { status: '0', id: `g${index}` })(response, request, index);
  services = new CarrierServices();
});
afterEach(async () => {
  await services.closeAll();
  await gateway.close();
});

const byId = {
  id: '*.id',
  to: '*.to',
  state: '*.state',
  delivered: ['ok'],
  undelivered: ['failed', 8],
  token: { env: 'TOKEN' },
};
const byReference = { ...byId, reference: 'ref', id: undefined, to: 'msisdn', state: 'state' };
const incoming = { id: '*.msgid', from: '*.from', text: '*.text', token: { env: 'TOKEN' } };

async function open(changes: object = {}, ...others: object[]): Promise<void> {
  const route = {
    name: 'gateway',
    http: `http://127.0.0.1:${port}/send`,
    form: { to: '{number}', text: '{text}', dlr: '{receipt_url}?ref={id}&state=%d' },
    accepted: { status: [200], field: 'status', is: ['0'] },
    id: 'id',
    receipts: byId,
    receipt_base: 'https://urtuu.example.mn/',
    incoming,
    prefixes: ['99'],
    ...changes,
  };
  const { configuration } = services.configured({ routes: [route, ...others] });
  const environment = { TOKEN: token, OTHER: 'other-0123456789012' };
  await services.open({
    configuration: { file: (configuration as { file: string }).file, environment },
  });
}

async function send(to = '99112233'): Promise<string> {
  const { status, body } = await services.passed(services.send(to, 'Hi'));
  expect(status).toBe(200);
  return (body as { id: string }).id;
}

const take = (given: Partial<CarrierRequest>) => {
  const request = { of: 'receipts', route: 'gateway', token, query: '', type: '', body: '' } as const;
  return services.core.take?.({ ...request, ...given });
};
const json = (items: unknown) => take({ type: 'application/json', body: JSON.stringify(items) });
const deliveryOf = async (id: string) => (await services.core.operations.getMessage(caller, id)).delivery;

describe('a receipt of a gateway', () => {
  it('joins by the id of the gateway, the recipient and the route', async () => {
    await open();
    const id = await send();
    const one = { id: 'g0', to: '+97699112233', state: 'ok' };
    expect(await json([{ ...one, to: '97699112244' }])).toBe(true);
    expect(await json([{ ...one, id: 'g1' }])).toBe(true);
    expect(await json([{ ...one, state: 'queued' }])).toBe(true);
    expect(await json({ ...one })).toBe(true);
    expect(await json('nothing')).toBe(true);
    expect(await take({ body: '{' })).toBe(true);
    expect(await deliveryOf(id)).toBeNull();
    expect(await json([{ ...one, state: 8 }])).toBe(true);
    expect(await deliveryOf(id)).toBe('undelivered');
    expect(await json([one])).toBe(true);
    expect(await deliveryOf(id)).toBe('undelivered');
  });

  it('joins each of an array, without those that cannot be read', async () => {
    await open();
    const ids = [await send('99112233'), await send('99112234'), await send('99112235')];
    const item = (index: number, state: unknown) => ({
      id: `g${index}`,
      to: `9769911223${3 + index}`,
      state,
    });
    expect(await json([item(0, 'ok'), 7, null, { id: 'g1' }, item(2, 'failed')])).toBe(true);
    expect(await Promise.all(ids.map(deliveryOf))).toEqual(['delivered', null, 'undelivered']);
  });

  it.each([
    ['E-17', 'E-17'],
    [token, null],
    ['to-97699112233', null],
  ])('with the code %s keeps %s', async (code, kept) => {
    await open({ receipts: { ...byId, code: '*.code' } });
    const id = await send();
    expect(await json([{ id: 'g0', to: '97699112233', state: 8, code }])).toBe(true);
    expect(await services.core.operations.getMessage(caller, id)).toMatchObject({ carrier_code: kept });
  });

  const multipart = (fields: Record<string, string>) =>
    `${Object.entries(fields)
      .map(([name, value]) => `--b1\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('')}--b1--\r\n`;
  const plain = { id: 'g0', to: '97699112233', state: 'OK' };
  const form = `${new URLSearchParams(plain)}`;
  it.each<[string, string, string | Buffer]>([
    ['a form', 'application/x-www-form-urlencoded; charset=UTF-8', form],
    ['a form with a mark', 'application/x-www-form-urlencoded', `\uFEFF${form}\r\n`],
    ['a form without a type', '', form],
    ['a form as text', 'text/plain;charset=UTF-8', form],
    ['a form as JSON', 'application/json', form],
    ['a multipart form', 'multipart/form-data; boundary=b1', multipart(plain)],
    ['JSON with a mark', 'application/json', `\uFEFF${JSON.stringify(plain)}`],
    ['JSON in UTF-16', 'application/json', Buffer.from(`\uFEFF${JSON.stringify(plain)}`, 'utf16le')],
    ['JSON as text', 'text/plain', JSON.stringify(plain)],
    ['JSON as a form', 'application/x-www-form-urlencoded', JSON.stringify(plain)],
  ])('is read from %s, and its state in small letters and capitals', async (_, type, body) => {
    await open({ receipts: { ...byId, id: 'id', to: 'to', state: 'state' } });
    const id = await send();
    expect(await take({ type, body })).toBe(true);
    expect(await deliveryOf(id)).toBe('delivered');
  });

  it('in XML is refused; what is not read is reported, and a look at the address is not', async () => {
    await open();
    const unread = async (given: Partial<CarrierRequest>) => {
      const found: unknown[] = [];
      const request = { of: 'receipts', route: 'gateway', token, query: '', type: '', body: '' } as const;
      return [await services.core.take?.({ ...request, ...given }, (what) => found.push(what)), found];
    };
    expect(await unread({ type: 'text/xml', body: '<dlr/>' })).toEqual(['unsupported', ['body']]);
    expect(await unread({ body: '<?xml version="1.0"?><dlr/>' })).toEqual(['unsupported', ['body']]);
    expect(await unread({ type: 'text/xml', body: '<dlr/>', token: 'x' })).toEqual([null, []]);
    expect(await unread({ body: 'OK' })).toEqual([true, ['body']]);
    expect(await unread({ type: 'multipart/form-data', body: form })).toEqual([true, ['body']]);
    expect(await unread({ body: '[{"id":"g0","state":"ok"},{"id":"g1","to":"99112233"}]' })).toEqual([
      true,
      ['fields', 'fields'],
    ]);
    expect(await unread({ body: '[{"id":"g0","to":"99112233","state":"queued"}]' })).toEqual([
      true,
      ['state'],
    ]);
    expect(await unread({ of: 'incoming', body: '[{"from":"99112233"}]' })).toEqual([true, ['fields']]);
    expect(await unread({ body: '\r\n' })).toEqual([true, []]);
  });

  it.each([
    ['text/xml', '<dlr/>'],
    ['', '<?xml version="1.0"?><dlr/>'],
    ['text/plain', 'OK'],
  ])('with every field in the query is read whatever the body is: %s %s', async (type, body) => {
    await open({ receipts: { ...byId, id: 'id', to: 'to', state: 'state' } });
    const id = await send();
    const request = { of: 'receipts', route: 'gateway', token, type, body } as const;
    const found: unknown[] = [];
    const taken = (query: string) => services.core.take?.({ ...request, query }, (what) => found.push(what));
    const isXml = body.startsWith('<');
    expect(await taken('id=g0&state=ok')).toBe(isXml ? 'unsupported' : true);
    expect(await taken('id=g0&to=99112233&state=queued')).toBe(true);
    expect(await taken('id=other&to=88112233&state=ok')).toBe(true);
    expect(await deliveryOf(id)).not.toBe('delivered');
    expect(await taken('id=g0&to=99112233&state=ok')).toBe(true);
    expect(await deliveryOf(id)).toBe('delivered');
    expect(found).toEqual(['body', 'state']);
  });

  it('joins by our own id in the address that the gateway was given', async () => {
    await open({ receipts: byReference });
    const id = await send();
    const url = new URL(gateway.taken[0]?.fields.dlr ?? '');
    expect(url.href).toBe(`https://urtuu.example.mn/receipts/gateway/${token}?ref=${id}&state=%d`);
    expect(await take({ query: `ref=${id}&state=ok&msisdn=99112244` })).toBe(true);
    expect(await take({ query: `ref=${id}0&state=ok` })).toBe(true);
    expect(await take({ query: `ref=${id}&ref=other&state=ok` })).toBe(true);
    expect(await take({ query: `ref=${'a'.repeat(300)}&state=ok` })).toBe(true);
    expect(await deliveryOf(id)).toBeNull();
    const form = 'application/x-www-form-urlencoded';
    expect(await take({ query: `ref=${id}`, type: form, body: 'state=ok&ref=other' })).toBe(true);
    expect(await deliveryOf(id)).toBe('delivered');
    const other = await send();
    expect(await take({ query: `ref=${other.toUpperCase()}&state=failed` })).toBe(true);
    expect(await deliveryOf(other)).toBe('undelivered');
  });

  it('decides what was unknown, by our id at once', async () => {
    await open({ receipts: byReference });
    gateway.react = answer(500);
    const sending = services.send('99112233', 'Hi', 'key').catch((error) => error);
    await services.passed(sending);
    const id = new URL(gateway.taken[0]?.fields.dlr ?? '').searchParams.get('ref') ?? '';
    expect(await take({ query: `ref=${id}&state=failed` })).toBe(true);
    expect(await services.core.operations.getMessage(caller, id)).toMatchObject({
      status: 'sent',
      delivery: 'undelivered',
    });
    expect(gateway.taken).toHaveLength(1);
  });

  it('decides nothing that was unknown by an unknown id: it may be of another message to the number', async () => {
    await open();
    gateway.react = answer(500);
    await services.passed(services.send('99112233', 'Hi', 'key').catch((error) => error));
    const id = new URL(gateway.taken[0]?.fields.dlr ?? '').searchParams.get('ref') ?? '';
    expect(await json([{ id: 'of another', to: '99112233', state: 'ok' }])).toBe(true);
    expect(await services.core.operations.getMessage(caller, id)).toMatchObject({
      status: 'queued',
      delivery: null,
    });
  });

  it('changes nothing of a message that went over another route', async () => {
    const second = new FaultyGateway();
    const other = {
      name: 'other',
      http: `http://127.0.0.1:${await second.listen()}/`,
      form: { to: '{number}', text: '{text}', dlr: '{receipt_url}' },
      accepted: { status: [200] },
      receipts: { ...byReference, token: { env: 'OTHER' } },
      receipt_base: 'https://urtuu.example.mn',
    };
    await open({ receipts: byReference, fallback: ['other'] }, other);
    gateway.react = answer(422);
    const id = await send();
    expect(await take({ query: `ref=${id}&state=failed` })).toBe(true);
    expect(await deliveryOf(id)).toBeNull();
    expect(await take({ route: 'other', query: `ref=${id}&state=ok` })).toBeNull();
    expect(await take({ route: 'other', token: 'other-0123456789012', query: `ref=${id}&state=ok` })).toBe(
      true,
    );
    expect(await deliveryOf(id)).toBe('delivered');
    await services.closeAll();
    await second.close();
  });

  it('with another token, or of no such route, is nobody’s', async () => {
    await open({ incoming: undefined });
    for (const given of [
      { token: 'x' },
      { token: '' },
      { token: `${token}x` },
      { route: 'none' },
      { of: 'incoming' },
    ])
      expect(await take(given as Partial<CarrierRequest>)).toBeNull();
  });

  it('is put off while it cannot be stored', async () => {
    await open();
    const id = await send();
    const { take: taking } = services.core;
    await services.close();
    const body = JSON.stringify([{ id: 'g0', to: '99112233', state: 'ok' }]);
    expect(await taking?.({ of: 'receipts', route: 'gateway', token, query: '', type: '', body })).toBe(
      false,
    );
    expect(id).not.toBe('');
  });
});

describe('a message from outside', () => {
  it('is kept once in the inbox', async () => {
    await open();
    const one = { msgid: 'a1', from: '97699112233', to: '139911', text: 'STOP' };
    const given = { of: 'incoming', type: 'application/json' } as const;
    const body = JSON.stringify([one, { ...one, msgid: 'a2', text: 'Сайн уу\u0000' }, { msgid: 'a3' }]);
    expect(await take({ ...given, body })).toBe(true);
    expect(await take({ ...given, body })).toBe(true);
    const { records } =
      (await services.core.store.listInbox(
        caller.projectId,
        { channel: null, since: null, until: null },
        { limit: 10, after: null },
      )) ?? {};
    expect(records?.map(({ from, to, text }) => [from, to, text]).sort()).toEqual([
      ['99112233', '', 'STOP'],
      ['99112233', '', 'Сайн уу'],
    ]);
  });
});

describe('a message that says stop', () => {
  const says = (text: string, from = '97699112233') => {
    const body = JSON.stringify([{ msgid: `${from} ${text}`, from, text }]);
    return take({ of: 'incoming', type: 'application/json', body });
  };
  const suppressed = async (projectId = caller.projectId) => {
    const listed = await services.core.store.listSuppressions(projectId, { limit: 10, after: null });
    return listed?.records.map(({ to }) => to);
  };

  it('suppresses its sender, in the words of the project', async () => {
    await open();
    const { settings } = services.core.administration;
    await settings.update({ stop_words: ['STOP', 'ЗОГС'] });
    expect(await says('STOP')).toBe(true);
    expect(await suppressed()).toEqual([]);
    await settings.update({ suppressions: true });
    for (const [text, from] of [
      ['don’t stop'],
      ['stop it'],
      [''],
      ['👍'],
      ['stop 2'],
      ['stop', 'Shop'],
    ] as const)
      expect(await says(text, from)).toBe(true);
    expect(await suppressed()).toEqual([]);
    expect(await says(' зогс! ')).toBe(true);
    expect(await suppressed()).toEqual(['99112233']);
    const others = ['"STOP"', 'Stop?', '«зогс»', '— Зогс,', 'S.T.O.P', 'ＳＴＯＰ'];
    for (const [index, text] of others.entries()) await says(text, `9911220${index}`);
    expect(await suppressed()).toHaveLength(1 + others.length);
    await expect(services.send('99112233', 'Hi')).rejects.toMatchObject({ code: 'recipient_suppressed' });
    expect(gateway.taken).toEqual([]);
  });

  it.each<[string, { stop_words?: string[]; start_words?: string[] }, string, string[]]>([
    ['STOP', {}, 'Stop.', ['99112233']],
    ['UNSUBSCRIBE', {}, 'unsubscribe', ['99112233']],
    ['ЗОГС', {}, 'зогс', ['99112233']],
    ['БОЛЬ', {}, '«Боль»', ['99112233']],
    ['no word of its own', { stop_words: [] }, 'STOP', []],
    ['a word instead', { stop_words: ['БАЙ'] }, 'STOP', []],
    ['a word that also lifts', { start_words: ['STOP'] }, 'STOP', ['99112233']],
  ])('is, by default or as the project says, %s', async (_, words, text, expected) => {
    await open();
    await services.core.administration.settings.update({ ...words, suppressions: true });
    await says(text);
    expect(await suppressed()).toEqual(expected);
  });

  it('stops every project that sent to the number over that route within 30 days, in its own words', async () => {
    await open(
      {},
      {
        name: 'elsewhere',
        http: `http://127.0.0.1:${port}/send`,
        form: { to: '{number}', text: '{text}' },
        accepted: { status: [200] },
        prefixes: ['88'],
        incoming,
      },
    );
    const { administration } = services.core;
    const names = ['sends', 'stops by another word', 'obeys none', 'sent to another', 'sent long ago'];
    const ids = new Map<string, string>();
    const sendAs = async (name: string, to = '99112233') => {
      const project = { projectId: ids.get(name) ?? '', keyId: 'k' };
      const params = { to, text: 'Hi' };
      const sending = services.core.operations.sendSms({ caller: project, params, idempotencyKey: null });
      expect(await services.passed(sending)).toMatchObject({ status: 200 });
    };
    for (const name of names) {
      const { id } = await administration.createProject(name);
      ids.set(name, id);
      const patch = { suppressions: name !== 'obeys none' };
      const words = name === 'stops by another word' ? { stop_words: ['БАЙ'] } : {};
      await (await administration.project(id))?.settings.update({ ...patch, ...words });
    }
    await sendAs('sent long ago');
    services.clock.advance(30 * 86_400_000);
    for (const name of names.slice(0, 3)) await sendAs(name);
    await sendAs('sent to another', '99112244');
    const all = async () => {
      const found = await Promise.all(names.map((name) => suppressed(ids.get(name))));
      return names.filter((_, index) => found[index]?.length);
    };
    // The first project, whose inbox has it, obeys none.
    const body = JSON.stringify([{ msgid: 'x', from: '97699112233', text: 'STOP' }]);
    const json = { of: 'incoming', type: 'application/json', body } as const;
    expect(await take({ ...json, route: 'elsewhere' })).toBe(true);
    expect(await all()).toEqual([]);
    expect(await take(json)).toBe(true);
    expect([await all(), await suppressed()]).toEqual([['sends'], []]);
    await says('БАЙ');
    expect(await all()).toEqual(['sends', 'stops by another word']);
    await says('эхлэх');
    expect(await all()).toEqual([]);
  });

  it.each([
    ['START', ['opt_out']],
    ['«Unstop»', ['opt_out']],
    ['эхлэх!', ['opt_out']],
    ['start now', []],
    ['YES', []],
  ] as const)('is lifted by %j, which lifts %j and nothing else', async (text, lifted) => {
    await open();
    const { store, administration } = services.core;
    await administration.settings.update({ suppressions: true });
    const reasons = ['opt_out', 'unknown_recipient', 'manual'] as const;
    for (const [index, reason] of reasons.entries())
      await store.suppress(caller.projectId, `9911220${index}`, reason);
    for (const [index] of reasons.entries()) await says(text, `9769911220${index}`);
    const left = (await administration.suppressions.list()).data.map(({ reason }) => reason);
    expect(reasons.filter((reason) => !left.includes(reason))).toEqual(lifted);
  });

  it('is read whole: a part of a longer one says nothing', async () => {
    await open({ incoming: { ...incoming, reference: '*.ref', total: '*.of', part: '*.nth' } });
    await services.core.administration.settings.update({ stop_words: ['STOP'], suppressions: true });
    const parts = [
      ['99112233', 'When does the bus ', 1],
      ['99112233', 'stop', 2],
      ['99112244', 'OP', 2],
      ['99112244', 'ST', 1],
    ] as const;
    for (const [from, text, nth] of parts) {
      const body = JSON.stringify([{ msgid: text, from, text, ref: 7, of: 2, nth }]);
      expect(await take({ of: 'incoming', type: 'application/json', body })).toBe(true);
    }
    expect(await suppressed()).toEqual(['99112244']);
  });
});

describe('whatever a gateway sends', () => {
  it('is taken without an error, and changes no message that it does not name', async () => {
    await open({ receipts: { ...byId, reference: 'ref' } });
    const id = await send();
    const word = fc.constantFrom(
      'ref',
      'id',
      'state',
      'ok',
      '*',
      '__proto__',
      'g0',
      '99112233',
      'a\u0000',
      '%',
    );
    const value = fc.oneof(
      word,
      fc.jsonValue({ maxDepth: 2 }),
      fc.array(fc.dictionary(word, fc.oneof(word, fc.jsonValue()))),
    );
    const body = fc.oneof(
      value.map((any) => JSON.stringify(any)),
      fc.string(),
    );
    const type = fc.constantFrom('', 'application/json', 'application/x-www-form-urlencoded');
    const query = fc.oneof(
      fc.string(),
      fc.dictionary(word, word).map((any) => `${new URLSearchParams(any)}`),
    );
    const of = fc.constantFrom('receipts', 'incoming');
    const request = fc.record({ of, query, type, body }) as fc.Arbitrary<Partial<CarrierRequest>>;
    const isTaken = fc.asyncProperty(request, async (given) => {
      expect(await take(given)).toBe(true);
    });
    await fc.assert(isTaken);
    expect(await deliveryOf(id)).toBeNull();
  });
});
