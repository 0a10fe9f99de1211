import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Literal } from '../../../../src/service/carriers/http/gateway-route.js';
import { unknownPlaceholder } from '../../../../src/service/carriers/http/placeholders.js';
import { renderRequest } from '../../../../src/service/carriers/http/rendered-request.js';
import { dangerOf } from '../../../../src/service/carriers/http/safe-pattern.js';
import { gatewayRoute } from './gateway-routes.js';

const submission = { reference: 'm-1', to: '99112233', text: 'Сайн уу' };
const render = (given: Parameters<typeof gatewayRoute>[0], text = submission.text) =>
  renderRequest(gatewayRoute(given), { ...submission, text });

describe('a request of a route', () => {
  it('is a form, with every value in its field', () => {
    const form = {
      to: '{number}',
      text: '{text}',
      ref: '{id}',
      kind: '{parts}/{unicode}/{coding}',
    };
    const { method, url, headers, body } = render({ template: { form, in: 'body' } });
    expect([method, url]).toEqual(['POST', 'https://sms.example.mn/send']);
    expect(headers).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(Object.fromEntries(new URLSearchParams(body ?? ''))).toEqual({
      to: '97699112233',
      text: 'Сайн уу',
      ref: 'm-1',
      kind: '1/1/2',
    });
  });

  it('is a query behind the one of its address', () => {
    const template = { form: { to: '{number}' }, in: 'query' } as const;
    const url = new URL('https://sms.example.mn/send?user=shop');
    expect(render({ template, url, method: 'GET' })).toMatchObject({
      url: 'https://sms.example.mn/send?user=shop&to=97699112233',
      body: null,
    });
  });

  it.each([
    ['international', '97699112233'],
    ['national', '99112233'],
    ['e164', '+97699112233'],
  ] as const)('writes a number in its %s form', (numberForm, written) => {
    const { body } = render({ template: { json: '{number}' }, numberForm });
    expect(JSON.parse(body ?? '')).toBe(written);
  });

  it('keeps any text in its place', () => {
    const templates = [
      { form: { to: '{number}', text: '<{text}>' }, in: 'body' },
      { form: { to: '{number}', text: '<{text}>' }, in: 'query' },
      { json: { to: ['{number}'], text: '<{text}>', more: { amount: 1, on: true } } },
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...templates), fc.string({ unit: 'grapheme' }), (template, text) => {
        const { url, body } = render({ template }, text);
        if ('json' in template) {
          const expected = { to: ['97699112233'], text: `<${text}>`, more: { amount: 1, on: true } };
          expect(JSON.parse(body ?? '')).toEqual(expected);
          return;
        }
        const encoded = template.in === 'body' ? (body ?? '') : new URL(url).search;
        expect([...new URLSearchParams(encoded)]).toEqual([
          ['to', '97699112233'],
          ['text', `<${text}>`],
        ]);
      }),
    );
  });

  it('reads no placeholder in a secret', () => {
    const secret = new Literal('{text}');
    const { body } = render({ template: { json: { password: secret, nested: [secret] } } });
    expect(JSON.parse(body ?? '')).toEqual({ password: '{text}', nested: ['{text}'] });
    const form = render({ template: { form: { password: secret }, in: 'body' } });
    expect(new URLSearchParams(form.body ?? '').get('password')).toBe('{text}');
  });

  it('reads no placeholder in a value', () => {
    const { body } = render({ template: { json: '{text}{id}' } }, '{id}{parts}');
    expect(JSON.parse(body ?? '')).toBe('{id}{parts}m-1');
  });
});

it.each([
  ['{number} {text}', null],
  ['{nummber}', 'nummber'],
  ['{toString}', 'toString'],
  ['{}', ''],
])('the unknown placeholder of %j is %j', (template, name) => {
  expect(unknownPlaceholder(template)).toBe(name);
});

describe('a pattern of a route', () => {
  it.each([
    '^0: Accepted',
    'id=(\\w+)',
    'OK|Accepted',
    '^\\d{3}: [^+*{]+$',
    'status:\\s?0',
    '\\(a\\)\\+',
    'id=\\s*([0-9a-f-]{36})',
    '(\\d+)-\\d\\d\\d\\d',
    '^.*.{8}(a|b)(a|a)',
  ])('%s is safe', (source) => {
    expect(dangerOf(source)).toBeNull();
  });

  it.each([
    '(a+)+',
    '(a|a)*b',
    '.*.*x',
    'a+b*',
    '(.)\\1',
    '(?=a)',
    '(?<!a)b',
    '(ab){1,50}',
    'a{1,9}b{2,}',
    'a?a?a?a?a?aaaaa',
    '(a|a)(a|a)(a|a)(a|a)(a|a)b',
    '(a|a)(a|a)(a|a)a*b',
    '.*a.{36}b',
    ' *.{36}b',
    '\\s*[^,]{36}b',
    '(a|a)(a|a)(a|a)(a|a)a{4000}b',
    '.*.{8}(a|b)(a|a)',
    '.+?.{4}y',
    '.{0,4096}.{4}y',
    ' *.{8}b',
    '^x|.*.{8}b',
    '.{8}.?.? *id',
    '(\\w|x)(\\w|x)\\w*.{8}y',
  ])('%s is refused', (source) => {
    expect(dangerOf(source)).toMatch(/^(?:must|has) /);
  });
});
