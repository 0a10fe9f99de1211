import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { FetchLike } from '../../../src/client/index.js';
import { connectFailure } from '../../../src/client/transport/connect.js';
import { clientWith, failureOf } from '../../support/client.js';

const fault = (fields: object, message = 'x') => Object.assign(new Error(message), fields);
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
const refused = { code: 'ECONNREFUSED', syscall: 'connect' };
/** As Node.js makes errors for a test that Jest runs in a realm of its own. */
const foreign = (code: string) => runInNewContext(code) as unknown;
const foreignRefusal = "Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' })";
const node = { process: { versions: { node: '20.0.0' } } };

describe('what comes before the first byte of a request', () => {
  it.each<[string, unknown, string]>([
    ['refused', fault(refused), 'connection refused'],
    ['refused, as fetch has it', fetchFailed(fault(refused)), 'connection refused'],
    [
      'refused by every address of a host',
      fetchFailed(
        Object.assign(new AggregateError([fault(refused), fault(refused)]), { code: 'ECONNREFUSED' }),
      ),
      'connection refused',
    ],
    ['unknown host', fault({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), 'unknown host'],
    ['no name server', fault({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }), 'cannot be resolved'],
    ['no route', fault({ code: 'EHOSTUNREACH', syscall: 'connect' }), 'no route'],
    ['no network', fault({ code: 'ENETUNREACH', syscall: 'connect' }), 'no route'],
    ['no connection in time', fault({ code: 'ETIMEDOUT', syscall: 'connect' }), 'timed out'],
    ['the same of fetch', fetchFailed(fault({ code: 'UND_ERR_CONNECT_TIMEOUT' })), 'timed out'],
    ['a self-signed certificate', fetchFailed(fault({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })), 'self-signed'],
    ['an expired certificate', fault({ code: 'CERT_HAS_EXPIRED' }), 'has expired'],
    ['a certificate of another host', fault({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'another host'],
    ['an unknown issuer', fault({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), 'issuer'],
    ['no TLS', fault({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }), 'does not speak TLS'],
    ['an error of another realm', foreign(foreignRefusal), 'connection refused'],
    [
      'causes of another realm',
      foreign(`new TypeError('fetch failed', { cause: ${foreignRefusal} })`),
      'connection refused',
    ],
    [
      'errors of another realm, of every address',
      foreign(
        `Object.assign(new AggregateError([${foreignRefusal}, ${foreignRefusal}]), { code: 'ECONNREFUSED' })`,
      ),
      'connection refused',
    ],
    [
      'a timeout of a fetch that says so',
      Object.assign(new DOMException('x', 'TimeoutError'), { requestSent: false }),
      'the connection failed',
    ],
    ['a fetch that says so', fault({ requestSent: false }), 'the connection failed'],
    [
      'a fetch that says so, deeper',
      fetchFailed(fault({ requestSent: false, code: 'EPROTO' })),
      'TLS handshake',
    ],
  ])('%s', (_, cause, reason) => {
    expect(connectFailure(cause, node)?.reason).toContain(reason);
  });

  it.each<[string, unknown]>([
    ['a reset', fault({ code: 'ECONNRESET', syscall: 'read' })],
    ['a reset of nobody knows what', fault({ code: 'ECONNRESET' })],
    ['a broken pipe', fault({ code: 'EPIPE', syscall: 'write' })],
    ['a time-out of the system while reading', fault({ code: 'ETIMEDOUT', syscall: 'read' })],
    ['a route lost while reading', fault({ code: 'EHOSTUNREACH', syscall: 'read' })],
    ['a refusal that names no system call', fault({ code: 'ECONNREFUSED' })],
    ['a socket that ended', fetchFailed(fault({ code: 'UND_ERR_SOCKET' }))],
    ['no head in time', fetchFailed(fault({ code: 'UND_ERR_HEADERS_TIMEOUT' }))],
    [
      'an alert that may come after the request',
      fault({ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }),
    ],
    ['a fault of TLS in the midst', fault({ code: 'EPROTO', syscall: 'write' })],
    ['a code of Object', fault({ code: 'constructor' })],
    ['a code of Object, in capitals', fault({ code: '__PROTO__' })],
    ['a refusal by only one address', new AggregateError([fault(refused), fault({ code: 'ECONNRESET' })])],
    ['no error', 'ECONNREFUSED'],
    ['an object that only looks so', { ...refused, name: 'Error', message: 'x', stack: '' }],
    [
      'a reset of another realm',
      foreign("Object.assign(new Error('x'), { code: 'ECONNRESET', syscall: 'read' })"),
    ],
    ['nothing', undefined],
    ['an answer to something else', fault({ requestSent: true })],
    [
      'what a fetch says of a request that left',
      fault({ requestSent: true, code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
    ],
    [
      'the same around a refusal',
      fault({ requestSent: true, cause: fault({ ...refused, requestSent: false }) }),
    ],
    ['a refusal within a reset', new Error('x', { cause: fault({ code: 'EPIPE', cause: fault(refused) }) })],
    [
      'fields that throw',
      Object.defineProperty(new Error('x'), 'code', {
        get() {
          throw new Error('no');
        },
      }),
    ],
  ])('is not %s', (_, cause) => {
    expect(connectFailure(cause, node)).toBe(null);
  });

  it.each([
    ['Bun', { process: { versions: { node: '24.0.0', bun: '1.4.0' } } }],
    ['Deno', { process: { versions: { node: '24.0.0', deno: '2.9.0' } } }],
    ['a runtime of tomorrow', {}],
  ])('is never certain on %s, whose fetch may have repeated the request', (_, globals) => {
    expect(connectFailure(fault(refused), globals)).toBe(null);
    expect(connectFailure(fault({ requestSent: false }), globals)).toBe(null);
  });
});

describe('requestSent', () => {
  const sms = { to: '99112233', text: 'x' };
  const left = fault({ code: 'ECONNRESET', syscall: 'read' });
  const never = fetchFailed(fault(refused));
  const throwing = (...errors: Error[]): FetchLike => {
    let count = 0;
    return async () => {
      throw errors[count++] ?? new Error('one request too many');
    };
  };

  it.each<[string, Error[], boolean]>([
    ['nothing ever left', [never, never, never], false],
    ['the first attempt left', [left, never, never], true],
    ['the second attempt left', [never, left, never], true],
    ['the last attempt left', [never, never, left], true],
  ])('speaks of the whole call: %s', async (_, errors, requestSent) => {
    const error = await failureOf(clientWith({ fetch: throwing(...errors) }).sms.send(sms));
    expect(error).toMatchObject({ code: 'connection_error', requestSent, inDoubt: requestSent, attempts: 3 });
    const last = errors.at(-1) === never;
    expect(error.message.startsWith('cannot connect to http://127.0.0.1:7788/v1: connection refused')).toBe(
      last,
    );
  });

  it('is true once the service has answered, and then nothing need be in doubt', async () => {
    let count = 0;
    const fetch: FetchLike = async () => {
      count += 1;
      if (count > 1) throw never;
      return Response.json({ error: { code: 'rate_limited' } }, { status: 429 });
    };
    const error = await failureOf(clientWith({ fetch, maxRetries: 1 }).sms.send(sms));
    expect(error).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: false });
  });

  it('is true once the head of an answer came, whatever ends its body', async () => {
    const fetch: FetchLike = async () => ({
      status: 200,
      headers: { get: () => null },
      // biome-ignore lint/correctness/useYield: it fails before it has anything
      body: (async function* (): AsyncGenerator<Uint8Array> {
        throw never;
      })(),
    });
    const error = await failureOf(clientWith({ fetch, maxRetries: 0 }).sms.send(sms));
    expect(error).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: true });
    expect(error.message).not.toContain('cannot connect');
  });

  it('is false of a verification that nobody took', async () => {
    const error = await failureOf(clientWith({ fetch: throwing(never) }).verify.create({ to: sms.to }));
    expect(error).toMatchObject({ requestSent: false, inDoubt: false, attempts: 1 });
  });
});
