import fc from 'fast-check';

export interface Aim {
  /** A valid API key. */
  key: string;
  /** Ids that are there. */
  ids: { batch: string; verification: string };
}

/** Requests that are nearly, hardly or not at all what the service takes. */
export function arbitraryRequests({ key, ids }: Aim) {
  const mail = { subject: 's', text: 'x' };
  const valid: [path: string, body: object][] = [
    ['/v1/sms', { to: '99112233', text: 'x' }],
    ['/v1/sms/bulk', { to: ['99112233', '88112233'], text: 'x' }],
    ['/v1/email', { to: 'a@b.mn', ...mail }],
    ['/v1/email/bulk', { to: ['a@b.mn'], ...mail }],
    ['/v1/verify', { to: '99112233' }],
    [`/v1/verify/${ids.verification}/check`, { code: '123456' }],
  ];
  const unknownId = fc
    .tuple(fc.constantFrom('messages', 'batches', 'verify'), fc.uuid())
    .map((parts) => `/v1/${parts.join('/')}`);
  const otherPath = fc.oneof(
    fc.constantFrom('/v1/balance', `/v1/batches/${ids.batch}/messages?limit=1`),
    fc.webPath().map((tail) => `/v1${tail}`),
    { weight: 3, arbitrary: unknownId },
    fc.string().map((tail) => `/v1/messages/${encodeURIComponent(tail.replace(/\p{Surrogate}/gu, ''))}`),
    fc.webQueryParameters().map((query) => `/v1/batches/${ids.batch}/messages?${query}`),
  );
  const method = fc.oneof(
    { weight: 2, arbitrary: fc.constant('POST') },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW') },
  );
  const fieldValue = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.jsonValue(),
    fc.array(fc.string()),
  );
  const fields = fc.dictionary(
    fc.oneof(fc.constantFrom('to', 'text', 'subject', 'html', 'code', 'channel', '__proto__'), fc.string()),
    fieldValue,
  );
  const damaged = fc.tuple(fields, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
    const bytes = Buffer.from(JSON.stringify(value));
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  const otherBody = fc.oneof(
    fields.map((value) => Buffer.from(JSON.stringify(value))),
    fc.json().map((text) => Buffer.from(text)),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    damaged,
  );
  /** A send as it should be, with nothing or a few fields replaced. */
  const nearlyValid = fc
    .tuple(fc.constantFrom(...valid), fc.oneof(fc.constant({}), fields))
    .map(([[path, body], changes]) => ({ path, body: Buffer.from(JSON.stringify({ ...body, ...changes })) }));
  const target = fc.oneof(
    nearlyValid,
    fc.record({
      path: fc.oneof(otherPath, fc.constantFrom(...valid.map(([path]) => path))),
      body: otherBody,
    }),
  );
  const headerValue = fc.string({ unit: 'grapheme-ascii' });
  const mostly = (value: string) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: headerValue });
  const headers = fc.record(
    {
      authorization: mostly(`Bearer ${key}`),
      'content-type': mostly('application/json'),
      'idempotency-key': fc.oneof(fc.uuid(), headerValue),
      expect: fc.constantFrom('100-continue', 'x'),
      'x-other': headerValue,
    },
    { requiredKeys: ['authorization', 'content-type'] },
  );
  const frame = fc
    .tuple(method, target, headers, fc.boolean())
    .map(([method, { path, body }, headers, chunked]) => {
      const all = Object.entries({ ...headers, host: 'a' }).map(([name, value]) => `${name}: ${value}\r\n`);
      const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
      const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${all.join('')}${framing}\r\n\r\n`, 'latin1');
      const size = Buffer.from(`${body.length.toString(16)}\r\n`);
      return Buffer.concat(
        chunked && body.length > 0 ? [head, size, body, Buffer.from('\r\n0\r\n\r\n')] : [head, body],
      );
    });
  const noise = fc.oneof(
    fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(frame, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
    frame,
  );
  return {
    /** One request as fetch takes it. */
    request: fc.record({ method, target, headers }),
    /** Bytes on a connection: a request as above, one with a byte changed, or anything. */
    bytes: noise,
  };
}
