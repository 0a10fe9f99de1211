import { describe, expect, it } from 'vitest';
import { batch, email, fakeOperations, openApp, request, sms } from './fake-operations.js';

const mail = { to: 'bat@example.mn', subject: 's', text: 't' };
const text = { to: '99112233', text: 'x' };
const sends: [string, object, number, object][] = [
  ['/v1/sms', text, 200, sms],
  ['/v1/sms/bulk', { ...text, to: [text.to] }, 202, batch],
  ['/v1/email', mail, 202, email],
  ['/v1/email/bulk', { ...mail, to: [mail.to] }, 202, { ...batch, channel: 'email' }],
];
const setUp = () => {
  const { operations, calls } = fakeOperations();
  const app = openApp(operations);
  const post = (path: string, body: unknown, key?: string) =>
    app.fetch(request(path, { body, headers: { 'idempotency-key': key ?? null } }));
  return { post, calls };
};

describe('Idempotency', () => {
  it.each(sends)('1 and 3: a repeat on %s gets the original result', async (path, body, status, expected) => {
    const { post, calls } = setUp();
    const first = await post(path, body, 'k');
    const repeat = await post(path, body, 'k');
    expect([first.status, repeat.status]).toEqual([status, status]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(await repeat.json()).toEqual(expected);
    expect(calls).toHaveLength(1);
  });

  it('1: a repeat with another body, even a wrong one, gets the original result', async () => {
    const { post, calls } = setUp();
    await post('/v1/sms', text, 'k');
    for (const other of [{ ...text, to: '88112233' }, {}, { to: 5, more: [] }]) {
      const repeat = await post('/v1/sms', other, 'k');
      expect(repeat.headers.get('idempotency-replayed')).toBe('true');
      expect(await repeat.json()).toEqual(sms);
    }
    expect((await post('/v1/sms', '{', 'k')).status).toBe(400);
    expect(calls).toHaveLength(1);
  });

  it('4: a repeat of a failed send reports that failure again', async () => {
    const failed = { error: { code: 'provider_failed', message: 'x', id: sms.id } };
    const bound = { status: 502, body: failed, replayed: false };
    const app = openApp(fakeOperations({ bound }).operations);
    const repeat = await app.fetch(request('/v1/sms', { body: text, headers: { 'idempotency-key': 'k' } }));
    expect(repeat.status).toBe(502);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(await repeat.json()).toEqual(failed);
  });

  it('marks an answer that the operation itself replayed', async () => {
    const sendSms = async () => ({ status: 200, body: sms, replayed: true });
    const app = openApp(fakeOperations({ sendSms }).operations);
    const repeat = await app.fetch(request('/v1/sms', { body: text, headers: { 'idempotency-key': 'k' } }));
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
  });

  it.each(['k', '~!', 'a b', 'x'.repeat(255)])('2: %j is a key', async (key) => {
    const { post, calls } = setUp();
    expect((await post('/v1/sms', text, key)).status).toBe(200);
    expect(calls.at(-1)).toEqual(['sendSms', text, key]);
  });

  it.each(['', 'x'.repeat(256), 'é', 'a\tb', '\x7f'])('2: %j is none', async (key) => {
    const { post, calls } = setUp();
    const response = await post('/v1/sms', text, key);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        code: 'invalid_request',
        message: 'Idempotency-Key: must be 1 to 255 printable ASCII characters',
      },
    });
    expect(calls).toEqual([]);
  });

  it('3: means nothing elsewhere', async () => {
    const { post, calls } = setUp();
    expect((await post('/v1/verify', { to: '99112233' }, 'x'.repeat(256))).status).toBe(201);
    expect(calls).toEqual([['createVerification', { to: '99112233' }]]);
  });

  it('the answer is looked up in the one call before the body, and asked for after it', async () => {
    const { operations, admissions } = fakeOperations();
    const order: string[] = [];
    const app = openApp({
      ...operations,
      async admit(head) {
        const admitted = await operations.admit(head);
        order.push('admit');
        return (
          admitted && {
            ...admitted,
            async replay() {
              order.push('replay');
              return { status: 200, body: sms, replayed: true };
            },
          }
        );
      },
    });
    const body = new ReadableStream(
      {
        pull(controller) {
          order.push('body');
          controller.enqueue(Buffer.from(JSON.stringify(text)));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'idempotency-key': 'k' };
    expect((await app.fetch(request('/v1/sms', { body, headers }))).status).toBe(200);
    expect(order).toEqual(['admit', 'body', 'replay']);
    await app.fetch(request('/v1/sms', { body: text, headers: { 'idempotency-key': 'é' } }));
    await app.fetch(request('/v1/balance', { headers }));
    expect(admissions).toEqual([
      { kind: 'sending', idempotencyKey: 'k' },
      { kind: 'sending', idempotencyKey: null },
      { kind: 'reading', idempotencyKey: null },
    ]);
  });
});
