import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretsOf } from '../../../../src/service/carriers/configured/configuration.js';
import { readConfiguration } from '../../../../src/service/carriers/configured/read-configuration.js';
import { emptyFolder } from '../../../support/folders.js';

const folder = emptyFolder();

const secret = { env: 'PASSWORD' };
const route = {
  name: 'gateway',
  http: 'https://sms.example.mn/send?v=2',
  basic: { user: 'shop', password: secret },
  headers: { 'X-Api-Key': secret, 'X-Version': '2' },
  form: { to: '{number}', text: '{text}', ref: '{id}', key: secret },
  accepted: { status: [200], field: 'messages.*.status', is: [0] },
  prefixes: ['99'],
};

const environment: Record<string, string> = { PASSWORD: 'top secret', TOKEN: 'receipts-0123456789' };

function read(...routes: object[]) {
  const file = join(folder, 'service.json');
  writeFileSync(file, JSON.stringify({ sms: { routes }, email: 'off' }));
  return readConfiguration({ file, environment });
}

const receipts = {
  id: 'id',
  to: 'to',
  state: 's',
  delivered: [1],
  undelivered: [2],
  token: { env: 'TOKEN' },
};
const changed = (changes: object) => read({ ...route, ...changes });

describe('a route over HTTP', () => {
  it('is read with its defaults and its secrets', () => {
    const configuration = read(route);
    const { sms } = configuration;
    expect(typeof sms === 'object' && sms.routes).toMatchObject([
      {
        name: 'gateway',
        method: 'POST',
        headers: {
          'X-Api-Key': 'top secret',
          'X-Version': '2',
          Authorization: `Basic ${Buffer.from('shop:top secret').toString('base64')}`,
        },
        template: { in: 'body', form: { to: '{number}', key: { value: 'top secret' } } },
        accepted: { status: [200], field: { path: 'messages.*.status', is: ['0'] } },
        concurrent: 10,
        perSecond: 20,
        timeoutMs: 30_000,
        numberForm: 'international',
        account: null,
      },
    ]);
    expect(new Set(secretsOf(configuration))).toEqual(
      new Set(['top secret', Buffer.from('shop:top secret').toString('base64')]),
    );
  });

  it('stands beside routes over SMPP, in their order', () => {
    const smpp = { name: 'Mobicom', smpp: 'smpp://10.0.0.7', system_id: 'x', password: secret };
    const { sms } = read({ ...route, fallback: ['Mobicom'] }, smpp);
    expect(typeof sms === 'object' && sms.routes.map(({ name }) => name)).toEqual(['gateway', 'Mobicom']);
  });

  it('is a query or JSON as well, with secrets anywhere', () => {
    const { form: _, ...rest } = route;
    const json = { to: ['{number}'], text: '{text}', login: { key: secret }, flash: false };
    expect(read({ ...rest, json }).sms).toMatchObject({
      routes: [{ template: { json: { login: { key: { value: 'top secret' } }, flash: false } } }],
    });
    const query = { to: '{number}', text: '{text}' };
    expect(read({ ...rest, query, method: 'GET' }).sms).toMatchObject({
      routes: [{ template: { in: 'query' } }],
    });
  });

  it('goes through the proxy of the environment, and its check too', () => {
    const proxied = {
      ...environment,
      HTTPS_PROXY: 'http://me:p%40ss@10.0.0.1:3128',
      NO_PROXY: 'api.example.mn',
    };
    const check = { url: 'https://api.example.mn/balance' };
    const { sms } = read({ ...route, check });
    expect(typeof sms === 'object' && sms.routes).toMatchObject([{ proxy: null, check: { status: [200] } }]);
    const file = join(folder, 'service.json');
    const readWith = (given: Record<string, string>) => readConfiguration({ file, environment: given }).sms;
    expect(readWith(proxied)).toMatchObject({
      routes: [{ proxy: new URL(proxied.HTTPS_PROXY), check: { proxy: null } }],
    });
    expect(() => readWith({ ...proxied, HTTPS_PROXY: 'socks5://10.0.0.1' })).toThrow(
      'sms.routes[0].http: HTTPS_PROXY names a SOCKS proxy, which is not supported. Set https_proxy to an HTTP proxy',
    );
  });

  it('may be plain on this machine, and elsewhere where that is said', () => {
    expect(() => changed({ http: 'http://127.0.0.1:13013/cgi-bin/sendsms' })).not.toThrow();
    expect(() => changed({ http: 'http://10.0.0.7/send', tls: 'off' })).not.toThrow();
  });

  it.each([
    [{ http: 'http://10.0.0.7/send' }, 'sms.routes[0].http: must be https://, or "tls": "off" must be given'],
    [{ http: 'ftp://sms.example.mn' }, 'sms.routes[0].http: must be an https:// or http:// address'],
    [{ http: 'https://user:password@sms.example.mn' }, 'sms.routes[0].http: must be'],
    [{ http: 'https://sms.example.mn/{number}' }, 'sms.routes[0].http: must not have a placeholder'],
    [{ headers: { 'X-To': 'a {number}' } }, 'sms.routes[0].headers.X-To: must not have a placeholder'],
    [{ headers: { 'X-To': 'a\r\nb: c' } }, 'sms.routes[0].headers.X-To: must be printable ASCII'],
    [{ headers: { 'Content-Length': '1' } }, 'is a header that no route may set'],
    [{ headers: { 'transfer-encoding': 'chunked' } }, 'is a header that no route may set'],
    [{ headers: { 'X To': '1' } }, 'must be the name of a header'],
    [
      { headers: { authorization: 'x' } },
      'sms.routes[0].basic: cannot be combined with an Authorization header',
    ],
    [{ form: { to: '{nummer}', text: '{text}' } }, 'sms.routes[0].form: unknown placeholder {nummer}'],
    [{ form: { to: '{number}' } }, 'sms.routes[0].form: must have {text} somewhere'],
    [{ form: undefined }, 'exactly one of query, form and json is required'],
    [{ query: { a: 'b' } }, 'exactly one of query, form and json is required'],
    [{ method: 'GET' }, 'sms.routes[0].method: must be POST: a GET has no form'],
    [{ accepted: undefined }, 'sms.routes[0].accepted'],
    [{ accepted: {} }, 'sms.routes[0].accepted: must name a status, a field or a match'],
    [{ accepted: { field: 'a' } }, 'sms.routes[0].accepted: must have both field and is'],
    [{ accepted: { field: 'a..b', is: ['0'] } }, 'sms.routes[0].accepted.field: must be a path'],
    [{ accepted: { match: '(a+)+' } }, 'sms.routes[0].accepted.match: must be a regular expression'],
    [{ id_match: '(' }, 'sms.routes[0].id_match: must be a regular expression'],
    [{ id: 'id', id_match: 'id=(.*)' }, 'sms.routes[0].id_match: cannot be combined with id'],
    [{ id_match: 'id=.*' }, 'sms.routes[0].id_match: must have a group around the id'],
    [{ receipts }, 'sms.routes[0].id: is required: receipts name it'],
    [
      { receipts: { ...receipts, to: undefined }, id: 'id' },
      'sms.routes[0].receipts.to: is required without reference',
    ],
    [
      { receipts: { ...receipts, id: undefined }, id: 'id' },
      'sms.routes[0].receipts: must have id or reference',
    ],
    [
      { receipts: { ...receipts, token: secret }, id: 'id' },
      'sms.routes[0].receipts.token: must be 16 or more letters',
    ],
    [{ receipt_base: 'https://a.mn/?b' }, 'sms.routes[0].receipt_base: must be'],
    [
      { form: { ...route.form, dlr: '{receipt_url}' } },
      'sms.routes[0].receipts: is required with {receipt_url}',
    ],
    [
      { form: { ...route.form, dlr: '{receipt_url}' }, id: 'id', receipts },
      'sms.routes[0].receipt_base: is required with {receipt_url}, or --public-url of urtuu serve',
    ],
    [{ check: { url: 'http://10.0.0.7/balance' } }, 'sms.routes[0].check.url: must be https://'],
    [{ concurrent: 0 }, 'sms.routes[0].concurrent'],
    [{ repeat_for: '24h' }, 'sms.routes[0].repeat_key: is required with repeat_for'],
    [{ repeat_key: { header: 'Key' } }, 'sms.routes[0].repeat_for: is required with repeat_key'],
    [{ repeat_key: { header: 'Key' }, repeat_for: '8d' }, 'sms.routes[0].repeat_for: must be 1m to 7d'],
    [
      { repeat_key: { header: 'x-api-key' }, repeat_for: '1h' },
      'sms.routes[0].repeat_key.header: is already a header of the route',
    ],
    [
      { repeat_key: { header: 'Host' }, repeat_for: '1h' },
      'sms.routes[0].repeat_key.header: is a header that no route may set',
    ],
    [
      { repeat_key: { header: 'Key' }, repeat_for: '1m', timeout: '1m' },
      'sms.routes[0].repeat_for: must be longer than timeout',
    ],
    [{ timeout: '3m' }, 'sms.routes[0].timeout: must be 1s to 2m'],
    [{ smpp: 'smpp://10.0.0.7' }, 'sms.routes[0]: must have one of smpp and http'],
    [{ basic: { user: 'a:b', password: secret } }, 'sms.routes[0].basic.user: must not have a colon'],
    [{ basic: { user: 'a', password: 'b' } }, 'sms.routes[0].basic.password'],
  ])('is refused with %j', (changes, problem) => {
    expect(() => changed(changes)).toThrow(problem);
  });
});
