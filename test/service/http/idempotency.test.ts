import { describe, expect, it } from 'vitest';
import { email, fakeOperations, openApp, request, sms } from './fake-operations.js';

const text = { to: '99112233', text: 'x' };
const setUp = () => {
  const { operations, calls } = fakeOperations();
  const app = openApp(operations);
  const post = (path: string, body: unknown, key?: string) =>
    app.fetch(request(path, { body, headers: { 'idempotency-key': key ?? null } }));
  return { post, calls };
};

it.each([
  ['bulk', true],
  ['BULK', true],
  ['transactional', false],
  ['', false],
  [null, false],
])('Urtuu-Class: %s says whether an email belongs to a list: %s', async (value, isBulk) => {
  const said: unknown[] = [];
  const { operations } = fakeOperations({
    async sendEmail(call) {
      said.push(call.isBulk);
      return { status: 202, body: email, replayed: false };
    },
  });
  const body = { to: 'a@b.mn', subject: 's', text: 'x' };
  await openApp(operations).fetch(request('/v1/email', { body, headers: { 'urtuu-class': value } }));
  expect(said).toEqual([isBulk]);
});

describe('Idempotency', () => {
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
