import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CarrierRequest, Incoming } from '../../../../src/service/carriers/carrier.js';
import { presets } from '../../../../src/service/carriers/configured/presets.js';
import { readConfiguration } from '../../../../src/service/carriers/configured/read-configuration.js';
import { decodeAnswer } from '../../../../src/service/carriers/http/answer-values.js';
import { takeRequest } from '../../../../src/service/carriers/http/gateway-requests.js';
import type { GatewayRoute } from '../../../../src/service/carriers/http/gateway-route.js';
import { outcomeOfAnswer } from '../../../../src/service/carriers/http/outcome-of-answer.js';
import { renderRequest } from '../../../../src/service/carriers/http/rendered-request.js';
import type { Receipt } from '../../../../src/service/storage/store.js';
import { emptyFolder } from '../../../support/folders.js';

const folder = emptyFolder();

const token = 'receipts-0123456789';
const secret = { env: 'SECRET' };
const receipts = { token: { env: 'TOKEN' } };
const common = { name: 'gateway', prefixes: ['99'], receipt_base: 'https://sms.example.mn', receipts };
const signed = { ...receipts, twilio_auth_token: secret };
const written = {
  kannel: { query: { username: 'shop', password: secret }, receipts },
  twilio: {
    http: 'https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json',
    basic: { user: 'AC1', password: secret },
    form: { From: '+97611223344' },
    receipts: signed,
    incoming: signed,
  },
  vonage: { form: { api_key: 'k', api_secret: secret, from: 'Shop' }, receipts, incoming: receipts },
  infobip: {
    http: 'https://a1.api.infobip.com/sms/3/messages',
    headers: { Authorization: secret },
    json: { messages: [{ sender: 'Shop' }] },
    receipts,
    incoming: receipts,
  },
} as const;
type Name = keyof typeof written;

function read(route: object): GatewayRoute {
  const file = join(folder, 'service.json');
  writeFileSync(file, JSON.stringify({ sms: { routes: [{ ...common, ...route }] }, email: 'off' }));
  const { sms } = readConfiguration({ file, environment: { SECRET: 'top secret', TOKEN: token } });
  return (sms as { routes: GatewayRoute[] }).routes[0] as GatewayRoute;
}
const routeOf = (name: Name, changes: object = {}) => read({ gateway: name, ...written[name], ...changes });
const render = (route: GatewayRoute, text = 'Сайн уу') =>
  renderRequest(route, { reference: 'm-1', to: '99112233', text });
const outcome = (route: GatewayRoute, status: number, body: unknown) =>
  outcomeOfAnswer(route, decodeAnswer(status, 'application/json', JSON.stringify(body), null), '99112233');

async function taken(route: GatewayRoute, given: Partial<CarrierRequest>) {
  const received: (Receipt | Incoming)[] = [];
  const keep = async (one: Receipt | Incoming) => void received.push(one);
  const request = { of: 'receipts', route: 'gateway', token, query: '', type: '', body: '' } as const;
  const isTaken = await takeRequest(
    route,
    { ...request, ...given },
    {
      recipientOf: async (id) => (id === 'm-1' ? '99112233' : null),
      onReceipt: keep,
      onIncoming: keep,
    },
  );
  return isTaken === null ? null : received;
}

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';

describe('a preset', () => {
  it.each([...presets.keys()] as Name[])(
    '%s is read with what its owner adds, and names its document',
    (name) => {
      expect(routeOf(name)).toMatchObject({ name: 'gateway', prefixes: ['99'] });
      expect(presets.get(name)?.document).toMatchObject({
        url: expect.stringMatching(/^https:\/\//),
        date: expect.stringMatching(/^2026-\d\d-\d\d$/),
      });
    },
  );

  it('says what it lacks, and that there is no other', () => {
    const { receipts: _, ...without } = common;
    expect(() => read({ gateway: 'twilio', receipts: undefined })).toThrow(
      'sms.routes[0]: twilio needs http, basic.user, basic.password, form.From too',
    );
    expect(() => read({ ...without, gateway: 'twilio', ...written.twilio, receipts })).toThrow(
      'sms.routes[0]: twilio needs receipts.twilio_auth_token too',
    );
    expect(() => read({ gateway: 'infobip', headers: {}, json: {} })).toThrow(
      'needs http, headers.Authorization, json.messages.0.sender too',
    );
    expect(() => read({ gateway: 'plivo' })).toThrow(
      'sms.routes[0].gateway: must be one of kannel, twilio, vonage, infobip',
    );
  });

  it('gives way to the fields beside it', () => {
    const accepted = { status: [200] };
    const route = routeOf('vonage', {
      accepted,
      per_second: 1,
      form: { ...written.vonage.form, to: '+{number}' },
    });
    expect(route).toMatchObject({ accepted: { status: [200], field: null }, perSecond: 1 });
    expect(new URLSearchParams(render(route).body ?? '').get('to')).toBe('+97699112233');
  });
});

describe('kannel', () => {
  it('sends as its document says', () => {
    const { method, url } = render(routeOf('kannel'));
    const { searchParams, pathname } = new URL(url);
    expect([method, pathname]).toEqual(['GET', '/cgi-bin/sendsms']);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ username: 'shop', password: 'top secret', to: '97699112233', text: 'Сайн уу', coding: '2' },
      'dlr-url': `https://sms.example.mn/receipts/gateway/${token}?ref=m-1&state=%d`,
    });
  });
});

describe("kannel's answer", () => {
  it.each([
    [202, '0: Accepted for delivery', 'accepted'],
    [202, '3: Queued for later delivery', 'accepted'],
    [202, 'Sent.', 'accepted'],
    [202, '', 'unknown'],
    [400, 'Empty receiver number not allowed, rejected', 'refused'],
    [400, 'Number(s) has/have been denied by white- and/or black-lists.', 'refused'],
    [403, 'Not routable. Do not try again.', 'refused'],
    [403, 'Authorization failed for sendsms', 'account'],
    [404, 'Unknown request.', 'account'],
    [503, 'Temporal failure, try again later.', 'throttled'],
    [503, '<html>Service Unavailable</html>', 'unknown'],
  ])('%i %s: %s', (status, text, kind) => {
    expect(outcomeOfAnswer(routeOf('kannel'), decodeAnswer(status, 'text/html', text, null), '').kind).toBe(
      kind,
    );
  });
});

describe('twilio', () => {
  const url = `https://sms.example.mn/receipts/gateway/${token}`;
  const signature = (fields: Record<string, string>, at = url) => {
    const sorted = Object.keys(fields)
      .sort()
      .map((name) => `${name}${fields[name]}`);
    return createHmac('sha1', 'top secret')
      .update(at + sorted.join(''))
      .digest('base64');
  };
  const status = { MessageSid: 'SM1', To: '+97699112233', MessageStatus: 'delivered', AccountSid: 'AC1' };

  it('sends as its document says, and reads its answers', () => {
    const route = routeOf('twilio');
    const { url: address, headers, body } = render(route);
    expect([address, headers.Authorization]).toEqual([
      'https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json',
      `Basic ${Buffer.from('AC1:top secret').toString('base64')}`,
    ]);
    expect(Object.fromEntries(new URLSearchParams(body ?? ''))).toEqual({
      ...{ To: '+97699112233', From: '+97611223344', Body: 'Сайн уу', StatusCallback: url },
    });
    const accepted = { kind: 'accepted', carrierIds: ['SM1'] };
    expect(outcome(route, 201, { sid: 'SM1', status: 'queued' })).toMatchObject(accepted);
    expect(outcome(route, 201, { sid: 'SM1', status: 'failed' })).toMatchObject({ kind: 'unknown' });
    expect(outcome(route, 400, { code: 21211 })).toMatchObject({ kind: 'unknown_recipient' });
    expect(outcome(route, 400, { code: 21610 })).toMatchObject({ kind: 'refused', code: 'HTTP 400 21610' });
    expect(outcome(route, 401, { code: 20003 })).toMatchObject({ kind: 'account' });
    expect(outcome(route, 429, { code: 20429 })).toMatchObject({ kind: 'throttled' });
    expect(outcome(route, 500, { code: 20500 })).toMatchObject({ kind: 'unknown' });
  });

  it('takes what it has signed, and nothing else', async () => {
    const route = routeOf('twilio');
    const given = { type: form, body: `${new URLSearchParams(status)}`, signature: signature(status) };
    const [receipt] = (await taken(route, given)) ?? [];
    expect(receipt).toMatchObject({ carrierId: 'SM1', to: '99112233', state: 'delivered', code: null });
    const failed = { ...status, MessageStatus: 'failed', ErrorCode: '30003' };
    const own = { type: form, body: `${new URLSearchParams(failed)}`, signature: signature(failed) };
    expect(await taken(route, own)).toMatchObject([{ state: 'undelivered', code: '30003' }]);
    const changed = `${new URLSearchParams({ ...status, MessageStatus: 'failed' })}`;
    for (const wrong of [
      { body: changed },
      { signature: null },
      { signature: '' },
      { signature: signature(status, `${url}/`) },
      { query: 'MessageStatus=failed' },
      { type: json, body: JSON.stringify(status) },
    ])
      expect(await taken(route, { ...given, ...wrong })).toBeNull();
    const sms = { MessageSid: 'SM2', From: '+97699112233', To: '+97611223344', Body: 'STOP' };
    const incoming = { of: 'incoming', type: form, body: `${new URLSearchParams(sms)}` } as const;
    const signed = signature(sms, url.replace('receipts/', 'incoming/'));
    expect(await taken(route, { ...incoming, signature: signed })).toMatchObject([
      { from: '99112233', text: 'STOP' },
    ]);
    expect(await taken(route, { ...incoming, signature: signature(sms) })).toBeNull();
  });
});

describe('vonage', () => {
  it('sends as its document says, reads its answers and its receipts', async () => {
    const route = routeOf('vonage');
    const sent = (text: string) => Object.fromEntries(new URLSearchParams(render(route, text).body ?? ''));
    expect(sent('Сайн уу')).toMatchObject({
      ...{ api_key: 'k', api_secret: 'top secret', from: 'Shop', to: '97699112233', type: 'unicode' },
      callback: `https://sms.example.mn/receipts/gateway/${token}`,
    });
    expect(sent('Hi')).toMatchObject({ type: 'text' });
    const says = (...all: string[]) =>
      outcome(route, 200, { messages: all.map((status) => ({ status, 'message-id': `v${status}` })) });
    expect(says('0')).toMatchObject({ kind: 'accepted', carrierIds: ['v0'] });
    const kinds = { throttled: ['1', '10'], account: ['4', '9', '23', '32'], unknown: ['5'] };
    const all = { ...kinds, refused: ['6', '22', '29', '33'] };
    for (const [kind, statuses] of Object.entries(all))
      expect(statuses.map((status) => says(status).kind)).toEqual(statuses.map(() => kind));
    const query = 'msisdn=97699112233&to=Shop&messageId=v0&status=failed&err-code=6';
    expect(await taken(route, { query })).toMatchObject([
      { carrierId: 'v0', state: 'undelivered', code: '6' },
    ]);
    const body = JSON.stringify({ msisdn: '97699112233', to: '139911', messageId: 'v9', text: 'Hi' });
    const incoming = { of: 'incoming', type: json, body } as const;
    const whole = { from: '99112233', to: '139911', text: 'Hi', part: null };
    expect(await taken(route, incoming)).toMatchObject([whole]);
  });

  it.each([
    [{ concat: 'true', 'concat-ref': '108', 'concat-total': '2', 'concat-part': '1' }, 1],
    [{ concat: true, 'concat-ref': 108, 'concat-total': 2, 'concat-part': 2 }, 2],
    [{ concat: 'true', 'concat-ref': '108', 'concat-total': '2', 'concat-part': '3' }, null],
    [{ concat: 'true', 'concat-ref': '108', 'concat-total': 'x', 'concat-part': '1' }, null],
    [{ concat: 'false' }, null],
  ])('reads which part of a long reply comes with %j', async (fields, number) => {
    const body = { msisdn: '97699112233', to: '139911', messageId: `v${number}`, text: 'Hi', ...fields };
    const part = number === null ? null : { reference: '108', number, total: 2 };
    const strings = Object.entries(body).map(([name, value]) => [name, String(value)] as [string, string]);
    const query = new URLSearchParams(strings);
    for (const given of [{ type: json, body: JSON.stringify(body) }, { query: query.toString() }])
      expect(await taken(routeOf('vonage'), { of: 'incoming', ...given })).toMatchObject([{ part }]);
  });
});

describe('infobip', () => {
  it('sends as its document says, reads its answers and its receipts', async () => {
    const route = routeOf('infobip');
    const { headers, body } = render(route);
    expect(headers.Authorization).toBe('top secret');
    expect(JSON.parse(body ?? '')).toEqual({
      messages: [
        {
          sender: 'Shop',
          destinations: [{ to: '97699112233' }],
          content: { text: 'Сайн уу' },
          webhooks: { delivery: { url: `https://sms.example.mn/receipts/gateway/${token}` } },
        },
      ],
    });
    const says = (groupName: string, name: string) =>
      outcome(route, 200, { messages: [{ messageId: 'i1', status: { groupName, name } }] });
    expect(says('PENDING', 'PENDING_ACCEPTED')).toMatchObject({ kind: 'accepted', carrierIds: ['i1'] });
    expect(says('REJECTED', 'REJECTED_DESTINATION')).toMatchObject({
      kind: 'refused',
      code: 'HTTP 200 REJECTED REJECTED_DESTINATION',
    });
    expect(says('REJECTED', 'REJECTED_NOT_ENOUGH_CREDITS')).toMatchObject({ kind: 'account' });
    expect(says('REJECTED', 'REJECTED_PREPAID_PACKAGE_EXPIRED')).toMatchObject({ kind: 'account' });
    expect(outcome(route, 401, {})).toMatchObject({ kind: 'account' });
    const results = [
      {
        messageId: 'i1',
        to: '97699112233',
        status: { groupName: 'DELIVERED', name: 'DELIVERED_TO_HANDSET' },
      },
      { messageId: 'i2', to: '97699112234', status: { groupName: 'PENDING' } },
    ];
    const received = await taken(route, { type: json, body: JSON.stringify({ results }) });
    expect(received).toMatchObject([{ carrierId: 'i1', to: '99112233', state: 'delivered' }]);
  });
});
