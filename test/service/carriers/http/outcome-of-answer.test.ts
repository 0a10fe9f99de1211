import { describe, expect, it } from 'vitest';
import { decodeAnswer, decodeBody, valuesAt } from '../../../../src/service/carriers/http/answer-values.js';
import type { AnswerRule, GatewayRoute } from '../../../../src/service/carriers/http/gateway-route.js';
import { outcomeOfAnswer } from '../../../../src/service/carriers/http/outcome-of-answer.js';
import { gatewayRoute } from './gateway-routes.js';

const rule = (given: Partial<AnswerRule>): AnswerRule => ({
  status: null,
  field: null,
  match: null,
  ...given,
});
const statusIs = (...is: string[]): AnswerRule => rule({ field: { path: 'messages.*.status', is } });

const described = gatewayRoute({
  accepted: rule({ status: [200, 201, 202], field: { path: 'messages.*.status', is: ['0'] } }),
  id: { path: 'messages.*.message-id' },
  refused: statusIs('6', '7'),
  unknownRecipient: statusIs('7'),
  later: rule({ status: [429], field: { path: 'messages.*.status', is: ['1', '5'] } }),
  account: rule({ status: [401], field: { path: 'messages.*.status', is: ['4'] } }),
});
const words = gatewayRoute({
  accepted: rule({ status: [202], match: /^0: Accepted/ }),
  id: { match: /id=(\w+)/ },
});

const outcome = (route: GatewayRoute, status: number, body: unknown, type = 'application/json') =>
  outcomeOfAnswer(
    route,
    decodeAnswer(status, type, typeof body === 'string' ? body : JSON.stringify(body), null),
    '99118888',
  );
const parts = (...statuses: unknown[]) => ({
  messages: statuses.map((status, index) => ({ status, 'message-id': `m${index}` })),
});

it.each([
  ['{"id": 1234567890123456789, "to": [99112233, -1234567890123456789]}', '1234567890123456789'],
  [
    '{"note": "no. 9234567890123456789 \\" 9234567890123456789", "id": 1234567890123456789}',
    '1234567890123456789',
  ],
  ['{"id": 12345678901234567.5}', '12345678901234568'],
  ['{"id": 1.234567890123456789}', '1.2345678901234567'],
  ['{"id": 1e-1234567890123456}', '0'],
])('an id in an answer, %s, keeps its digits', (body, id) => {
  expect(valuesAt(decodeAnswer(200, 'application/json', body, null).fields, 'id')).toEqual([id]);
});

it('a string without an end in an answer of 1 MB is read once', () => {
  const body = `{"id": 1234567890123456789, "text": "${'\\"'.repeat(500_000)}`;
  const begun = performance.now();
  expect(decodeAnswer(200, 'application/json', body, null).fields).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(1_000);
});

describe('an answer of a gateway is', () => {
  it.each([
    [
      'accepted with every id',
      200,
      parts('0', '0'),
      { kind: 'accepted', carrierIds: ['m0', 'm1'], isPartly: false },
    ],
    [
      'accepted by a number that is one',
      200,
      parts(0),
      { kind: 'accepted', carrierIds: ['m0'], isPartly: false },
    ],
    [
      'partly accepted, if the others were refused',
      200,
      parts('0', '6'),
      { kind: 'accepted', isPartly: true },
    ],
    [
      'partly accepted, if the others were put off',
      202,
      parts('1', '0'),
      { kind: 'accepted', isPartly: true },
    ],
    ['unknown, if nobody described one part', 200, parts('0', '99'), { kind: 'unknown' }],
    ['unknown, if accepted under another status', 500, parts('0'), { kind: 'unknown' }],
    ['unknown without a part', 200, parts(), { kind: 'unknown' }],
    ['unknown without the field', 200, { messages: [{}] }, { kind: 'unknown' }],
    ['unknown with another shape', 200, { messages: { status: '0' } }, { kind: 'unknown' }],
    ['unknown where it is no JSON', 200, '<html>welcome</html>', { kind: 'unknown' }],
    ['refused', 200, parts('6'), { kind: 'refused' }],
    ['refused by all parts, whatever the status', 500, parts('6', '7'), { kind: 'refused' }],
    ['of an unknown recipient', 200, parts('7'), { kind: 'unknown_recipient' }],
    ['throttled by its field', 200, parts('1', '5'), { kind: 'throttled' }],
    ['throttled by its status', 429, 'slow down', { kind: 'throttled' }],
    ['about the account by its field', 200, parts('4'), { kind: 'account' }],
    ['about the account by its status, before all else', 401, parts('0'), { kind: 'account' }],
    ['unknown with a status of other routes, once a row is described', 403, '', { kind: 'unknown' }],
  ] as const)('%s', (_, status, body, expected) => {
    expect(outcome(described, status, body)).toMatchObject(expected);
  });

  it.each([
    [401, 'account'],
    [402, 'account'],
    [403, 'account'],
    [404, 'account'],
    [407, 'account'],
    [429, 'throttled'],
    [400, 'refused'],
    [413, 'refused'],
    [422, 'refused'],
    [200, 'unknown'],
    [204, 'unknown'],
    [302, 'unknown'],
    [408, 'unknown'],
    [409, 'unknown'],
    [425, 'unknown'],
    [500, 'unknown'],
    [502, 'unknown'],
    [503, 'unknown'],
  ])('%i alone: %s', (status, kind) => {
    expect(outcome(words, status, 'whatever', 'text/plain')).toEqual({ kind, code: `HTTP ${status}` });
  });

  it('accepted by its text, with the id in it', () => {
    const accepted = { kind: 'accepted', isPartly: false };
    expect(outcome(words, 202, '0: Accepted for delivery id=a1', 'text/html')).toEqual({
      ...accepted,
      carrierIds: ['a1'],
    });
    expect(outcome(words, 202, '0: Accepted', 'text/html')).toEqual({ ...accepted, carrierIds: [] });
    expect(outcome(words, 200, '0: Accepted', 'text/html')).toMatchObject({ kind: 'unknown' });
    expect(outcome(words, 202, `${' '.repeat(4_096)}0: Accepted`, 'text/html')).toMatchObject({
      kind: 'unknown',
    });
  });

  it.each(['\uFEFF0: Accepted id=a1', '\r\n0: Accepted id=a1', ' \t\uFEFF\r\n0: Accepted id=a1\r\n'])(
    'accepted by its text, whatever blanks are around it: %j',
    (text) => {
      expect(outcome(words, 202, text, 'text/html')).toMatchObject({ kind: 'accepted', carrierIds: ['a1'] });
    },
  );

  const written = JSON.stringify(parts('0'));
  it.each<[string, string, Buffer]>([
    ['UTF-8 with a mark', 'application/json', Buffer.from(`\uFEFF${written}`)],
    ['UTF-16 with a mark', 'application/json', Buffer.from(`\uFEFF${written}`, 'utf16le')],
    ['UTF-16, big-endian, with a mark', '', Buffer.from(`\uFEFF${written}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', 'application/json', Buffer.from(written, 'utf16le')],
    ['UTF-16, big-endian, without a mark', '', Buffer.from(written, 'utf16le').swap16()],
    ['a charset that nobody knows', 'text/plain; charset="x-none"', Buffer.from(`\r\n${written}\r\n`)],
    ['a form that is JSON', 'application/x-www-form-urlencoded', Buffer.from(written)],
  ])('read as JSON in %s', (_, type, body) => {
    const text = decodeBody(type, body);
    expect(outcome(described, 200, text, type)).toMatchObject({ kind: 'accepted', carrierIds: ['m0'] });
  });

  it('decoded by the charset of its type', () => {
    const bytes = Buffer.from([0xd1, 0xf2, 0xee, 0xef]);
    expect(decodeBody('text/plain; charset=windows-1251', bytes)).toBe('Стоп');
    expect(decodeBody('text/plain', Buffer.from('Стоп'))).toBe('Стоп');
  });

  it('read as a form, without what it says in two ways', () => {
    const route = gatewayRoute({
      accepted: rule({ field: { path: 'status', is: ['ok'] } }),
      id: { path: 'id' },
    });
    const form = (body: string) =>
      outcome(route, 200, body, 'application/x-www-form-urlencoded; charset=UTF-8');
    expect(form('status=ok&id=7&status=ok')).toMatchObject({ kind: 'accepted', carrierIds: ['7'] });
    expect(form('status=ok&status=failed')).toMatchObject({ kind: 'unknown' });
    expect(form('__proto__=ok&constructor=ok')).toMatchObject({ kind: 'unknown' });
  });

  it('shown by its status and the values that a rule names, and by nothing else', () => {
    expect(outcome(described, 200, { ...parts('6', '7'), text: 'secret' })).toEqual({
      kind: 'refused',
      code: 'HTTP 200 6 7',
    });
    expect(outcome(described, 500, parts('secret'))).toEqual({ kind: 'unknown', code: 'HTTP 500' });
  });

  it.each([
    ['21610', 'HTTP 400 21610'],
    [21610, 'HTTP 400 21610'],
    ['NO_ROUTE-7.1', 'HTTP 400 NO_ROUTE-7.1'],
    ['Bat owes 5', 'HTTP 400'],
    ['9'.repeat(41), 'HTTP 400'],
    [{ code: 1 }, 'HTTP 400'],
    [null, 'HTTP 400'],
    ['gateway.key1', 'HTTP 400'],
    ['bad_gateway.key1_', 'HTTP 400'],
    ['c2VjcmV0', 'HTTP 400'],
    ['97699118888', 'HTTP 400'],
    ['to-9911-8888', 'HTTP 400'],
    ['99118887', 'HTTP 400 99118887'],
  ])(
    "with the route's code %o as %s: a word, and never a sentence, a secret or its recipient",
    (code, shown) => {
      const secrets = ['gateway.key1', 'secret'];
      expect(outcome({ ...described, code: 'error.code', secrets }, 400, { error: { code } })).toMatchObject({
        code: shown,
      });
    },
  );

  it('accepted with ids that JSON would round, and without those that no engine stores', () => {
    const ids = (id: string) => outcome(described, 200, `{"messages":[{"status":0,"message-id":${id}}]}`);
    expect(ids('12345678901234567890')).toMatchObject({ carrierIds: ['12345678901234567890'] });
    expect(ids('"a 12345678901234567890 \\" 0"')).toMatchObject({ kind: 'accepted' });
    expect(ids('0.1234567890123450000')).toMatchObject({ carrierIds: ['0.123456789012345'] });
    for (const id of ['""', 'null', '"a\\u0000"', JSON.stringify('a'.repeat(256))])
      expect(ids(id)).toMatchObject({ kind: 'accepted', carrierIds: [] });
  });

  it('never accepted through an inherited name', () => {
    const route = gatewayRoute({ accepted: rule({ field: { path: 'toString.length', is: ['0'] } }) });
    expect(outcome(route, 200, {})).toMatchObject({ kind: 'unknown' });
  });
});
