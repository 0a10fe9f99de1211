import { describe, expect, it, vi } from 'vitest';
import type { Message } from '../../src/contract/index.js';
import { newCustomer } from './customer.js';

const sms = { to: '99112233', text: 'Hello' };
const unknown = '00000000-0000-4000-8000-000000000000';

describe('reading', () => {
  it('[GET /v1/messages/{id}] [GET /v1/batches/{id}] [Errors not_found] an id that is not there is 404', async () => {
    const { get, post } = await newCustomer();
    for (const path of [`/messages/${unknown}`, `/batches/${unknown}`, `/verify/${unknown}`, '/messages/x']) {
      expect(await get(path)).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
    expect((await post(`/verify/${unknown}/check`, { code: '123456' })).status).toBe(404);
  });

  it("[GET /v1/messages/{id}] has the carrier's own code of a failure, as the lists have", async () => {
    const { clock, get, post, idle } = await newCustomer();
    const [refused, absent, fine] = ['99000001', '99000022', '99112233'];
    for (const to of [refused, absent, fine]) await post('/sms', { ...sms, to });
    await post('/sms/bulk', { to: [refused, absent], text: 'Hello' });
    await idle();
    // The receipts come.
    clock.advance(10_000);
    const messages = async () => ((await get('/messages')).body as { data: Message[] }).data;
    await expect
      .poll(async () => (await messages()).map(({ to, carrier_code }) => [to, carrier_code]).sort())
      .toEqual([
        [refused, 'refused'],
        [refused, 'refused'],
        [absent, 'absent'],
        [absent, 'absent'],
        [fine, null],
      ]);
    for (const message of await messages())
      expect((await get(`/messages/${message.id}`)).body).toEqual(message);
  });

  it('[GET /v1/messages/{id}] [GET /v1/batches/{id}] ids are read in capitals too', async () => {
    const { get, post, idle } = await newCustomer();
    const { id: first } = (await post('/sms', sms)).body;
    const { id: batch } = (await post('/sms/bulk', { to: ['88112233', '88112244'], text: 'Hello' })).body;
    const { id: verification } = (await post('/verify', { to: 'bat@example.mn' })).body;
    await idle();
    const { data } = (await get(`/messages?batch_id=${batch}`)).body as { data: Message[] };
    const [{ id: second }, { id: third }] = data as [Message, Message];
    for (const path of [
      `/messages/${first}`,
      `/batches/${batch}`,
      `/batches/${batch}/messages?after=${third}`,
      `/messages?batch_id=${batch}`,
      `/messages?after=${second}`,
      `/batches?after=${batch}`,
      `/verify/${verification}`,
    ]) {
      const capitals = path.replace(/[0-9a-f-]{36}/g, (id) => id.toUpperCase());
      expect(capitals).not.toBe(path);
      expect(await get(capitals)).toMatchObject({ status: 200, body: (await get(path)).body });
    }
    const check = `/verify/${String(verification).toUpperCase()}/check`;
    expect((await post(check, { code: '000000' })).error?.code).toBe('invalid_code');
  });

  it('[GET /v1/balance] [GET /v1/pricing] have their fields and no other', async () => {
    const { get } = await newCustomer();
    expect((await get('/balance')).body).toEqual({ balance: 100_000 });
    expect((await get('/pricing')).body).toEqual({
      sms: {
        credits_per_part: 10,
        rate_multiplier: 1,
        latin_characters_per_part: 150,
        cyrillic_characters_per_part: 60,
        max_parts: 5,
      },
      email: { credits_per_message: 2 },
    });
  });

  it('[GET /v1/batches/{id}/messages] gives pages, the oldest first', async () => {
    const { get, post, idle } = await newCustomer();
    const to = Array.from({ length: 5 }, (_, index) => `${88_000_000 + index}`);
    const { id } = (await post('/sms/bulk', { to, text: 'Hello' })).body;
    await idle();
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const after: string = next === null ? '' : `&after=${next}`;
      const { body } = await get(`/batches/${id}/messages?limit=2${after}`);
      seen.push(...(body.data as { to: string }[]).map((message) => message.to));
      next = body.next as string | null;
    } while (next !== null);
    expect(seen).toEqual(to);
  });

  it('[GET /v1/messages] lists every message of the project, the newest first, without balance and text', async () => {
    const { get, post, idle } = await newCustomer();
    const single = (await post('/sms', { to: '99112233', text: 'secret' })).body.id;
    const { id } = (await post('/sms/bulk', { to: ['88112233', '99112233'], text: 'secret' })).body;
    await post('/verify', { to: 'bat@example.mn' });
    await idle();
    const { status, body } = await get('/messages');
    const data = body.data as Message[];
    expect(status).toBe(200);
    expect(data.map(({ to }) => to)).toEqual(['bat@example.mn', '99112233', '88112233', '99112233']);
    expect(body.next).toBeNull();
    for (const message of data) expect(message).toEqual((await get(`/messages/${message.id}`)).body);
    expect(JSON.stringify(body)).not.toMatch(/balance|secret/);
    const found = async (query: string) =>
      ((await get(`/messages?${query}`)).body.data as Message[]).map((message) => message.id);
    expect(await found('to=%2B976+9911-2233')).toEqual([data[1]?.id, single]);
    expect(await found(`batch_id=${id}`)).toEqual([data[1]?.id, data[2]?.id]);
    expect(await found('channel=email&since=2026-03-02T09:00:00%2B08:00')).toEqual([data[0]?.id]);
    expect(await found('until=2026-03-02T01:00:00.000Z')).toEqual([]);
    // No operator serves it: nothing was sent there.
    expect(await found('to=70112233')).toEqual([]);
    expect(await get('/messages?to=nobody')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
  });

  it('[GET /v1/messages] goes on behind the id that a page ends with, and refuses another', async () => {
    const { get, post, service } = await newCustomer();
    await post('/sms/bulk', { to: ['88112233', '99112233', '94112233'], text: 'Hello' });
    const first = (await get('/messages?limit=2')).body;
    expect(first.next).toBe((first.data as Message[])[1]?.id);
    const second = (await get(`/messages?limit=2&after=${first.next}`)).body;
    expect(second).toMatchObject({ data: [{ to: '88112233' }], next: null });
    const unknown = await get('/messages?after=11111111-1111-4111-8111-111111111111');
    expect(unknown.status).toBe(400);
    expect(unknown.error?.message).toBe('after: must be the id of a message of this project');
    await service.administration.idle();
  });

  it('[GET /v1/batches] lists the batches of the project, the newest first', async () => {
    const { get, post, idle } = await newCustomer();
    await post('/sms/bulk', { to: ['88112233'], text: 'Hello' });
    await idle();
    await post('/email/bulk', { to: ['bat@example.mn'], subject: 's', text: 't' });
    await idle();
    const { body } = await get('/batches');
    const data = body.data as { id: string }[];
    expect(body).toMatchObject({ data: [{ channel: 'email' }, { channel: 'sms' }], next: null });
    for (const batch of data) expect(batch).toEqual((await get(`/batches/${batch.id}`)).body);
    expect((await get('/batches?limit=1')).body).toEqual({ data: [data[0]], next: data[0]?.id });
    expect((await get(`/batches?after=${data[0]?.id}`)).body).toEqual({ data: [data[1]], next: null });
    expect((await get('/batches?status=processing')).body).toEqual({ data: [], next: null });
  });

  it('[States batch processing] is completed, with its time, when all of it is sent or failed', async () => {
    const { get, post, clock, idle } = await newCustomer();
    // Accepted after 2 seconds: until then the batch is on its way.
    const { id } = (await post('/sms/bulk', { to: ['99112233', '99000003'], text: 'Hello' })).body;
    const batch = async () => (await get(`/batches/${id}`)).body;
    await vi.waitUntil(async () => (await batch()).sent !== 0);
    expect(await batch()).toMatchObject({ status: 'processing', total: 2, sent: 1, completed_at: null });
    clock.advance(2_000);
    await idle();
    expect(await batch()).toMatchObject({
      status: 'completed',
      sent: 2,
      failed: 0,
      completed_at: '2026-03-02T01:00:02.000Z',
    });
  });
});

describe('errors', () => {
  it('[Errors insufficient_credits] is 402 with both figures, and nothing is sent', async () => {
    const { post, service, outbox, balance } = await newCustomer();
    await service.administration.credit(-100_000 + 15);
    expect(await post('/sms/bulk', { to: ['99112233', '88112233'], text: 'Hello' })).toMatchObject({
      status: 402,
      error: { code: 'insufficient_credits', balance: 15, required: 20 },
    });
    expect((await post('/sms', sms)).status).toBe(200);
    expect(await post('/sms', sms)).toMatchObject({ status: 402, error: { balance: 5, required: 10 } });
    expect(await outbox()).toHaveLength(1);
    expect(await balance()).toBe(5);
  });

  it.each([
    ['an unknown field', { ...sms, from: 'x' }],
    ['a number for a text', { ...sms, text: 5 }],
    ['an array for one recipient', { ...sms, to: ['99112233'] }],
    ['null', { ...sms, text: null }],
    ['a missing field', { to: '99112233' }],
  ])('[Errors invalid_request] %s is 400, naming the field', async (_, body) => {
    const { post } = await newCustomer();
    const refused = await post('/sms', body);
    expect([refused.status, refused.error?.code]).toEqual([400, 'invalid_request']);
    expect(refused.error?.message).toMatch(/^(from|text|to): /);
  });

  it('[Errors method_not_allowed] [Errors unsupported_media_type] [Errors request_too_large] have their statuses', async () => {
    const { service } = await newCustomer();
    const ask = async (init: RequestInit) => {
      const headers = {
        authorization: `Bearer ${service.localKey}`,
        'content-type': 'application/json',
        ...init.headers,
      };
      return service.fetch('http://service.test/v1/sms', { ...init, headers });
    };
    const wrongMethod = await ask({ method: 'DELETE' });
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST']);
    const form = await ask({ method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' });
    expect(form.status).toBe(415);
    expect((await ask({ method: 'POST', body: 'x'.repeat(1_000_001) })).status).toBe(413);
  });

  it('[Errors unavailable] nobody can tell for 30 seconds: 503, then the same key gets the answer', async () => {
    const { post, clock, balance, idle, outbox } = await newCustomer();
    const send = () => post('/sms', { to: '99000007', text: 'Hello' }, { key: 'k' });
    const pass = async (seconds: number) => {
      for (let passed = 0; passed < seconds * 10; passed += 1) {
        clock.advance(100);
        // The engine has done by then what was asked of it before.
        for (let call = 0; call < 3; call += 1) await balance();
      }
    };
    const first = send();
    await vi.waitUntil(async () => (await outbox()).length === 1);
    await pass(21);
    expect(await first).toMatchObject({ status: 503, error: { code: 'unavailable' } });
    expect((await first).headers.get('retry-after')).toBe('10');
    await pass(60);
    await idle();
    const repeat = await send();
    expect(repeat).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(await outbox()).toHaveLength(1);
    expect(await balance()).toBe(99_990);
  });

  it('[Errors envelope] every answer has an id and the rate', async () => {
    const { get, post } = await newCustomer();
    const replies = [
      await get('/balance'),
      await get('/nowhere'),
      await get('/balance', 'x'),
      await post('/sms', {}),
    ];
    const ids = replies.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain(null);
    for (const { headers } of replies) expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  });
});

describe('the order of checks', () => {
  it('[Order of checks] key, rate, body, idempotency key, fields, number, caps, funds', async () => {
    const { post, service, clock, balance, outbox } = await newCustomer({ rates: 'enforced' });
    await post('/sms', sms, { key: 'bound' });
    for (let sent = 0; sent < 4; sent += 1) await post('/sms', sms);
    await service.administration.credit(-(await balance()));
    const codeOf = async (body: unknown, options: { key?: string; apiKey?: string } = {}) => {
      const { status, error, headers } = await post('/sms', body, options);
      return error?.code ?? (headers.get('idempotency-replayed') === 'true' ? 'replayed' : String(status));
    };
    // Each is wrong in its own way and in every later one.
    const capped = sms;
    const unsupported = { ...sms, to: '11112233' };
    const badFields = { to: 5 };
    expect(await codeOf({ ...sms, to: '88112233' })).toBe('insufficient_credits');
    expect(await codeOf(capped)).toBe('recipient_rate_limited');
    expect(await codeOf(unsupported)).toBe('unsupported_number');
    expect(await codeOf(badFields)).toBe('invalid_request');
    expect(await codeOf(badFields, { key: 'bound' })).toBe('replayed');
    while ((await codeOf(badFields, { key: 'bound' })) === 'replayed');
    expect(await codeOf(badFields, { key: 'bound' })).toBe('rate_limited');
    expect(await codeOf(badFields, { key: 'bound', apiKey: 'nobody' })).toBe('unauthorized');
    clock.advance(50);
    const broken = await service.fetch('http://service.test/v1/sms', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.localKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'bound',
      },
      body: '{',
    });
    expect(broken.status).toBe(400);
    expect(await outbox()).toHaveLength(5);
  });
});
