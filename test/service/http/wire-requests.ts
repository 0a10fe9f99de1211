import { ServiceError } from '../../../src/service/errors/service-error.js';
import type { AppOptions } from '../../../src/service/http/app.js';
import { goodKey, ids, type Overrides } from './fake-operations.js';
import { chunk } from './raw-client.js';

export const key = `Authorization: Bearer ${goodKey}`;
export const json = 'Content-Type: application/json';
const idempotencyKey = 'Idempotency-Key: order-17';
const sms = JSON.stringify({ to: '99112233', text: 'Сайн уу' });
const mail = { to: 'bat@example.mn', subject: 's', text: 't' };

export interface Asked {
  /** `GET /v1/balance`, over HTTP/1.1 where no version is named. */
  line: string;
  headers: readonly string[];
  body: string;
}
const get = (target: string, ...headers: string[]): Asked => ask(`GET ${target}`, key, ...headers);
export const ask = (line: string, ...headers: string[]): Asked => ({ line, headers, body: '' });
export const post = (target: string, body: string | object = sms, ...headers: string[]): Asked => ({
  line: `POST ${target}`,
  headers: [key, json, ...headers],
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Its bytes. */
export function raw({ line, headers, body }: Asked): string {
  const isFramed =
    body === '' || headers.some((each) => /^(?:content-length|transfer-encoding):/i.test(each));
  const all = [
    ...(line.includes('HTTP/') || headers.some((each) => each.startsWith('Host:')) ? [] : ['Host: a']),
    ...headers,
    ...(isFramed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${line}${line.includes('HTTP/') ? '' : ' HTTP/1.1'}\r\n${all.map((each) => `${each}\r\n`).join('')}\r\n${body}`;
}

/** Answered alike over a socket and in this process. */
export const everywhere: Record<string, Asked> = {
  'a read': get('/v1/balance'),
  'a read, HEAD': ask('HEAD /v1/balance', key),
  'a read, OPTIONS': ask('OPTIONS /v1/balance', key),
  'a read, POST': post('/v1/balance'),
  'a read, DELETE': ask('DELETE /v1/pricing', key),
  'a send, GET': get('/v1/sms'),
  'a send, HEAD': ask('HEAD /v1/sms', key),
  'a send, PROPFIND': ask('PROPFIND /v1/sms', key),
  'a check, GET': get(`/v1/verify/${ids.verification}/check`),
  'a verification, PUT': ask(`PUT /v1/verify/${ids.verification}`, key),
  'no path': get('/'),
  'no route without a key': ask('GET /nowhere'),
  'no route at the root of the version': get('/v1'),
  'no route, the same without a key': ask('GET /v1'),
  'no route, a slash at the end': get('/v1/'),
  'no route under the version': get('/v1/nowhere'),
  'no route under the version, without a key': ask('POST /v1/nowhere'),
  'no route, a longer name of the version': ask('GET /v10/balance'),
  'a slash after a path': get('/v1/balance/'),
  'two slashes': get('/v1//balance'),
  'a letter of another case': get('/V1/balance'),
  'an encoded letter': get('/v1/%62alance'),
  'a bad encoding': get('/v1/messages/%'),
  'an encoded id': get(`/v1/messages/%31${ids.message.slice(1)}`),
  'an id': get(`/v1/messages/${ids.message}`),
  'an id of nothing': get(`/v1/messages/${ids.batch}`),
  'an id with a slash after it': get(`/v1/messages/${ids.message}/`),
  'no id': get('/v1/messages/'),
  'no id before a list': get('/v1/batches//messages'),
  'text that is no id': get("/v1/messages/1'--"),
  'a path of parameters': get('/v1/balance;a=b'),
  'a query': get('/v1/balance?a=1&a=2'),
  'a list': get(`/v1/batches/${ids.batch}/messages?limit=7`),
  'a filter': get('/v1/messages?to=9911%2B2233'),
  'a filter twice': get('/v1/batches?after=1&after=2'),
  'a filter with a bad encoding': get('/v1/messages?to=%zz'),
  'a verification': get(`/v1/verify/${ids.verification}`),
  'no key': ask('GET /v1/balance'),
  'no key, sending': { ...post('/v1/sms'), headers: [json] },
  'another scheme': ask('GET /v1/balance', key.replace('Bearer', 'Basic')),
  'the scheme in small letters': ask('GET /v1/balance', key.replace('Bearer', 'bearer')),
  'a send': post('/v1/sms'),
  'a send under a key': post('/v1/sms', sms, idempotencyKey),
  'a key that is empty': post('/v1/sms', sms, 'Idempotency-Key: '),
  'a key that is too long': post('/v1/sms', sms, `Idempotency-Key: ${'x'.repeat(256)}`),
  'a batch': post('/v1/sms/bulk', { to: ['99112233'], text: 'x' }),
  'an email': post('/v1/email', mail),
  'a batch of email': post('/v1/email/bulk', { ...mail, to: [mail.to] }),
  'a new verification': post('/v1/verify', { to: '99112233' }, idempotencyKey),
  'a check of a verification': post(`/v1/verify/${ids.verification}/check`, { code: '123456' }),
  'a check of text that is no id': post('/v1/verify/x/check', { code: '123456' }),
  'no body': post('/v1/sms', ''),
  'half a body': post('/v1/sms', '{'),
  'wrong fields': post('/v1/sms', { to: 5, 'a b': 1 }),
  'another media type': { ...post('/v1/sms'), headers: [key, 'Content-Type: text/plain'] },
  'another charset': { ...post('/v1/sms'), headers: [key, `${json}; charset=latin1`] },
  'a compressed body': post('/v1/sms', sms, 'Content-Encoding: gzip'),
  'a body that is too large': post('/v1/sms', sms.padEnd(1_000_000)),
  health: ask('GET /healthz'),
  'health, HEAD': ask('HEAD /healthz'),
  'health, POST': ask('POST /healthz'),
  readiness: ask('GET /readyz'),
  'readiness, HEAD': ask('HEAD /readyz'),
  'the description, HEAD': ask('HEAD /v1/openapi.json'),
  'the description, known': ask('GET /v1/openapi.json', 'If-None-Match: "a", *'),
  'the description, DELETE': ask('DELETE /v1/openapi.json'),
};

/** What a socket alone can ask. */
export const raws: Record<string, string> = {
  'a body in chunks': raw(
    post('/v1/sms', `${chunk(sms.slice(0, 9))}${chunk(sms.slice(9))}0\r\n\r\n`, 'Transfer-Encoding: chunked'),
  ),
  'a body behind Expect': raw(post('/v1/sms', sms, 'Expect: 100-continue')),
  'a body behind Expect that is refused': raw({
    ...post('/v1/sms', sms, 'Expect: 100-continue'),
    headers: [json],
  }),
  'another Expect': raw(get('/v1/balance', 'Expect: 200-ok')),
  'a length over the limit': raw(post('/v1/sms', 'x', 'Content-Length: 1000001')),
  'a body of a read': raw({ ...get('/v1/balance'), body: 'x' }),
  'two keys': raw(post('/v1/sms', sms, idempotencyKey, idempotencyKey)),
  'two credentials': raw(get('/v1/balance', key)),
  'two media types': raw(post('/v1/sms', sms, json)),
  TRACE: raw(ask('TRACE /v1/balance', key)),
  'OPTIONS of everything': raw(ask('OPTIONS *', key)),
  'HTTP/1.0': raw(ask('GET /v1/balance HTTP/1.0', key)),
  'HTTP/1.0, kept': raw(ask('GET /v1/balance HTTP/1.0', key, 'Connection: keep-alive')),
  'an end of the connection': raw(get('/v1/balance', 'Connection: close')),
  'two at once': raw(get('/v1/balance')) + raw(get('/v1/nowhere')),
  'a fragment': raw(get('/v1/balance#a?b')),
  dots: raw(get('/v1/../v1/balance')),
  'dots at the end': raw(get('/v1/messages/..')),
  'dots, encoded': raw(get('/v1/messages/%2e%2e/balance')),
  'dots and a query': raw(get('/v1/messages?to=1&a=/../')),
  'an address': raw(get('http://b/v1/balance?x')),
  'an address without a path': raw(get('http://b')),
  'an address whose path is in its query': raw(get('http://b?/v1/balance')),
  'an address that is none': raw(get('http://')),
  'an address of another protocol': raw(get('ftp://b/v1/balance')),
  'two slashes before it': raw(get('//v1/balance')),
  'a backslash': raw(get('/v1\\balance')),
  'a backslash in a query': raw(get('/v1/balance?a\\b')),
  'a character': raw(get('/v1/balance|')),
  'a pipe in a query': raw(get('/v1/batches?a|=1')),
  'a host with a port': raw(get('/v1/messages?to=1', 'Host: EXAMPLE.mn:8080')),
  'an address for a host': raw(get('/v1/messages?to=1', 'Host: [::1]:8080')),
  'an empty host': raw(get('/v1/balance', 'Host: ')),
  'no host': `GET /v1/balance HTTP/1.1\r\n${key}\r\n\r\n`,
  'two hosts': raw(get('/v1/balance', 'Host: a', 'Host: b')),
  'a host that is none': raw(get('/v1/balance', 'Host: a/b@c')),
  'a host that is none, sending': raw(post('/v1/sms', sms, 'Host: a/b@c')),
  'a target that is too long': raw(get(`/v1/balance?${'x'.repeat(17_000)}`)),
  'a long target': raw(get(`/v1/balance?${'x'.repeat(15_000)}`)),
  'a header that is too long': raw(get('/v1/balance', `X: ${'x'.repeat(17_000)}`)),
  'too many headers': raw(get('/v1/balance', ...Array<string>(101).fill('X: x'))),
  noise: 'noise\r\n\r\n',
};

/** What the operations and the options of the app make of it. */
export const inside: Record<string, [Asked, Overrides, AppOptions?]> = {
  'a key of another scope': [get('/v1/balance'), { scope: ['send'] }],
  'the rate': [post('/v1/sms'), { rateLimit: { allowed: false, limit: 40, remaining: 0, retryAfter: 3 } }],
  'a repeat': [
    post('/v1/sms', {}, idempotencyKey),
    { bound: { status: 502, body: { error: { code: 'provider_failed', message: 'x' } }, replayed: false } },
  ],
  'too few credits': [
    post('/v1/sms'),
    {
      sendSms: () => {
        throw new ServiceError('insufficient_credits', 'x', { fields: { balance: 3, required: 10 } });
      },
    },
  ],
  'an error inside': [get('/v1/balance'), { getBalance: () => Promise.reject(new Error('SECRET')) }],
  'readiness, not ready': [
    ask('GET /readyz'),
    {},
    {
      readiness: async () => ({
        status: 'held',
        error: new ServiceError('unavailable', 'The service is held'),
        carriers: [],
      }),
    },
  ],
  'a page of a proxy': [post('/v1/sms'), {}, { faultFor: () => 'answer_html' }],
  'status 500 on demand': [post('/v1/sms'), {}, { faultFor: () => 'answer_500' }],
  'status 429 on demand': [post('/v1/verify', { to: '99112233' }), {}, { faultFor: () => 'answer_429' }],
};
