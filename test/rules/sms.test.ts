import { describe, expect, it } from 'vitest';
import { newCustomer } from './customer.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const latin = (count: number) => 'a'.repeat(count);
const cyrillic = (count: number) => 'ө'.repeat(count);

describe('POST /v1/sms', () => {
  it('[Resources single-send result (SMS)] [States SMS sent] [POST /v1/sms 9] answers with all its fields and no other', async () => {
    const { post } = await newCustomer();
    const { status, body } = await post('/sms', { to: '99112233', text: 'Hello' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(uuid),
      status: 'sent',
      channel: 'sms',
      to: '99112233',
      parts: 1,
      rate_multiplier: 1,
      credits: 10,
      batch_id: null,
      error: null,
      created_at: '2026-03-02T01:00:00.000Z',
      sent_at: '2026-03-02T01:00:00.000Z',
      balance: 99_990,
    });
  });

  it('[Resources single-send result (SMS)] times are whole milliseconds, however a test lets time pass', async () => {
    const { post, clock } = await newCustomer();
    for (let step = 0; step < 3; step += 1) clock.advance(1_000 / 3);
    const { body } = await post('/sms', { to: '99112233', text: 'Hello' });
    expect(body).toMatchObject({ status: 'sent', created_at: '2026-03-02T01:00:01.000Z' });
    clock.advance(0.9);
    expect((await post('/sms/bulk', { to: ['99112233'], text: 'Hello' })).body).toMatchObject({
      created_at: '2026-03-02T01:00:01.000Z',
    });
    clock.advance(0.1);
    expect(clock.now()).toBe(Date.parse('2026-03-02T01:00:01.001Z'));
  });

  it.each(['+976 9911-2233', '97699112233', '0097699112233', '9911 22 33'])(
    '[POST /v1/sms to] takes %s',
    async (to) => {
      const { post, outbox } = await newCustomer();
      expect((await post('/sms', { to, text: 'Hello' })).body.to).toBe('99112233');
      expect(await outbox('99112233')).toHaveLength(1);
    },
  );

  it.each([
    ['a landline', '11321234', 422, 'unsupported_number'],
    ['a foreign number', '+12025550123', 422, 'unsupported_number'],
    ['another country behind 8 digits', '+8699112233', 422, 'unsupported_number'],
    ['no number', 'Bat', 400, 'invalid_request'],
    ['nothing', '', 400, 'invalid_request'],
  ])(
    '[POST /v1/sms 1] [Errors unsupported_number] %s (%s) is refused and takes no credits',
    async (_, to, status, code) => {
      const { post, balance, outbox } = await newCustomer();
      const refused = await post('/sms', { to, text: 'Hello' });
      expect([refused.status, refused.error?.code]).toEqual([status, code]);
      expect(await balance()).toBe(100_000);
      expect(await outbox()).toEqual([]);
    },
  );

  it.each([
    [1, 1, 10],
    [2, 1, 20],
    [2, 1.5, 30],
    [1, 1.25, 13],
  ])('[POST /v1/sms 2] %i parts at holiday multiplier %d cost %i', async (parts, multiplier, credits) => {
    const { post, balance } = await newCustomer({ settings: { holidays: { '2026-03-02': multiplier } } });
    const { body } = await post('/sms', { to: '99112233', text: latin(150 * parts) });
    expect(body).toMatchObject({ parts, rate_multiplier: multiplier, credits, balance: 100_000 - credits });
    expect(await balance()).toBe(100_000 - credits);
  });

  it('[POST /v1/sms 3] Cyrillic costs 2.5 times Latin, and an emoji counts as 2', async () => {
    const { post } = await newCustomer();
    const creditsOf = async (text: string) => (await post('/sms', { to: '99112233', text })).body.credits;
    expect([await creditsOf(latin(300)), await creditsOf(cyrillic(300))]).toEqual([20, 50]);
    expect(await creditsOf(`${cyrillic(58)}😀`)).toBe(10);
    expect(await creditsOf(`${cyrillic(59)}😀`)).toBe(20);
  });

  it.each([
    [latin(750), 200, 5],
    [latin(751), 422, 0],
    [cyrillic(300), 200, 5],
    [cyrillic(301), 422, 0],
    [`${cyrillic(298)}😀`, 200, 5],
    [`${cyrillic(299)}😀`, 422, 0],
    // An extension character counts as 2, and one character of another alphabet makes all of them Cyrillic.
    ['€'.repeat(375), 200, 5],
    ['€'.repeat(376), 422, 0],
    [`${latin(748)}[`, 200, 5],
    [`${latin(749)}[`, 422, 0],
    [`${latin(299)}ө`, 200, 5],
    [`${latin(300)}ө`, 422, 0],
    ['\r\n'.repeat(375), 200, 5],
  ])(
    '[POST /v1/sms 4] [Errors message_too_long] [Limits sizes] the text limit, case %#',
    async (text, status, parts) => {
      const { post, balance } = await newCustomer();
      const reply = await post('/sms', { to: '99112233', text });
      expect([reply.status, reply.error?.code]).toEqual([
        status,
        status === 200 ? undefined : 'message_too_long',
      ]);
      expect(await balance()).toBe(100_000 - parts * 10);
    },
  );

  it('[POST /v1/sms 5] [States SMS not accepted] [Errors provider_failed] is 502 with the failed message, refunded', async () => {
    const { post, get, balance, outbox } = await newCustomer();
    const failed = await post('/sms', { to: '99000001', text: 'Hello' });
    expect(failed).toMatchObject({ status: 502, error: { code: 'provider_failed', id: expect.any(String) } });
    const { body } = await get(`/messages/${failed.error?.id}`);
    expect(body).toMatchObject({
      status: 'failed',
      credits: 0,
      sent_at: null,
      error: { code: 'provider_failed' },
    });
    expect(await balance()).toBe(100_000);
    expect(await outbox()).toEqual([]);
  });

  it.each([
    ['91112233', 'See https://a.mn/x?y=1 now', 'See now', 'no-link'],
    ['83112233', 'See www.a.mn now', 'See now', 'no-link'],
    ['98112233', 'See a.mn/x now', 'See now', 'no-link'],
    ['99000002', 'See a.mn/x now', 'See now', 'no-link'],
    ['91112233', 'See _my_shop.mn./x and bat@дэлгүүр.монгол/x now', 'See and bat@ now', 'no-link'],
    ['91112233', 'Costs 3.14, e.g. at a.mn or bat@a.mn', 'Costs 3.14, e.g. at a.mn or bat@a.mn', 'no-link'],
    ['99112233', 'See https://a.mn/x now', 'See https://a.mn/x now', 'Mobicom'],
    ['88112233', 'See https://a.mn/x now', 'See https://a.mn/x now', 'Unitel'],
  ])('[POST /v1/sms 6] to %s "%s" arrives as "%s", over %s', async (to, text, arrives, route) => {
    const { post, outbox } = await newCustomer();
    expect(await post('/sms', { to, text })).toMatchObject({ status: 200, body: { credits: 10 } });
    expect(await outbox(to)).toMatchObject([{ text: arrives, route }]);
  });

  it('[POST /v1/sms 6] a removed link is paid for', async () => {
    const { post } = await newCustomer();
    const text = `${latin(100)} https://a.mn/${'x'.repeat(100)}`;
    expect((await post('/sms', { to: '91112233', text })).body).toMatchObject({ parts: 2, credits: 20 });
  });

  it.each(['91112233', '99000002'])(
    '[POST /v1/sms 6] only a link to %s is 502 provider_failed, refunded',
    async (to) => {
      const { post, balance, outbox } = await newCustomer();
      const failed = await post('/sms', { to, text: 'https://a.mn/x' });
      expect(failed).toMatchObject({ status: 502, error: { code: 'provider_failed' } });
      expect(await balance()).toBe(100_000);
      expect(await outbox(to)).toEqual([]);
    },
  );

  it('[POST /v1/sms 7] the operator is that of the first two digits, settings may change them', async () => {
    const { post, outbox } = await newCustomer({ settings: { operators: { Ondo: ['70'] } } });
    expect((await post('/sms', { to: '70112233', text: 'Hello' })).status).toBe(200);
    expect(await outbox()).toMatchObject([{ route: 'Ondo' }]);
    expect((await post('/sms', { to: '99112233', text: 'Hello' })).error?.code).toBe('unsupported_number');
  });

  it('[POST /v1/sms 8] prices and the multiplier of the day are those of GET /v1/pricing', async () => {
    const { post, get, clock } = await newCustomer({
      settings: { prices: { sms_part: 7, email: 3 }, holidays: { '2026-03-03': 2 } },
    });
    // Midnight in Ulaanbaatar is 16:00 UTC.
    for (const [passed, multiplier] of [
      [0, 1],
      [15 * 3_600_000 - 1, 1],
      [1, 2],
      [24 * 3_600_000, 1],
    ] as const) {
      clock.advance(passed);
      expect((await get('/pricing')).body).toMatchObject({
        sms: { credits_per_part: 7, rate_multiplier: multiplier },
        email: { credits_per_message: 3 },
      });
      expect((await post('/sms', { to: '99112233', text: 'Hello' })).body).toMatchObject({
        rate_multiplier: multiplier,
        credits: 7 * multiplier,
      });
    }
  });
});

describe('POST /v1/sms/bulk', () => {
  it('[POST /v1/sms/bulk 1] [POST /v1/sms/bulk 3] [States batch message not sent] [Resources batch result] charges up front, refunds what is not sent', async () => {
    const { post, get, balance, idle, messagesOf } = await newCustomer();
    const batch = await post('/sms/bulk', { to: ['99112233', '+976 9911 2233', '99000001'], text: 'Hello' });
    expect(batch.status).toBe(202);
    expect(batch.body).toEqual({
      id: expect.stringMatching(uuid),
      status: 'processing',
      channel: 'sms',
      total: 2,
      sent: 0,
      failed: 0,
      credits: 20,
      created_at: '2026-03-02T01:00:00.000Z',
      completed_at: null,
      balance: 99_980,
    });
    await idle();
    expect(await balance()).toBe(99_990);
    const { balance: _, ...created } = batch.body;
    expect((await get(`/batches/${batch.body.id}`)).body).toEqual({
      ...created,
      status: 'completed',
      sent: 1,
      failed: 1,
      completed_at: '2026-03-02T01:00:00.000Z',
      // An extension.
      unknown: 0,
    });
    expect(await messagesOf(batch)).toMatchObject([
      { to: '99112233', status: 'sent', credits: 10, batch_id: batch.body.id },
      { to: '99000001', status: 'failed', credits: 0, error: { code: 'provider_failed' } },
    ]);
  });

  it('[POST /v1/sms 6] only a link fails on the route without links, in a batch too', async () => {
    const { post, messagesOf } = await newCustomer();
    const batch = await post('/sms/bulk', { to: ['99112233', '91112233'], text: 'https://a.mn/x' });
    expect(await messagesOf(batch)).toMatchObject([
      { status: 'sent', error: null },
      { status: 'failed', error: { code: 'provider_failed' } },
    ]);
  });

  it('[POST /v1/sms 2] the price of each message of a batch is rounded up', async () => {
    const { post } = await newCustomer({ settings: { holidays: { '2026-03-02': 1.25 } } });
    const { body } = await post('/sms/bulk', { to: ['99112233', '88112233'], text: 'Hello' });
    expect(body).toMatchObject({ credits: 26 });
  });

  it('[POST /v1/sms/bulk 2] names bad entries as written, at most 50, sends and charges nothing', async () => {
    const { post, balance, outbox, idle } = await newCustomer();
    const bad = Array.from({ length: 60 }, (_, index) => `11 ${100_000 + index}`);
    const refused = await post('/sms/bulk', { to: ['99112233', 'Bat', ...bad], text: 'Hello' });
    expect(refused).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    expect(refused.error?.invalid).toEqual(['Bat', ...bad.slice(0, 49)]);
    await idle();
    expect(await balance()).toBe(100_000);
    expect(await outbox()).toEqual([]);
  });

  it.each([
    ['/sms/bulk', '99112233', 'Bat'],
    ['/email/bulk', 'bat@example.mn', 'bat@'],
  ])('[POST /v1/sms/bulk 2] [POST /v1/email/bulk] %s names what is no text too', async (path, good, bad) => {
    const { post, balance, outbox, idle } = await newCustomer();
    const strange = [99112233, null, true, ['99112233'], { to: '99112233' }, 'a\0', '\ud800', ''];
    const to = [good, 99112233, bad, ...strange, good];
    const refused = await post(path, {
      to,
      subject: 'News',
      text: 'Hello',
      ...(path === '/sms/bulk' && { subject: undefined }),
    });
    expect(refused).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    expect(refused.error?.invalid).toEqual([
      '99112233',
      bad,
      'null',
      'true',
      '["99112233"]',
      '{"to":"99112233"}',
      'a\0',
      '\ud800',
      '',
    ]);
    expect(refused.error?.message).toContain('to[1], to[2], to[4], to[5], to[6] and 4 more');
    await idle();
    expect(await balance()).toBe(100_000);
    expect(await outbox()).toEqual([]);
  });

  it.each([
    [0, 400],
    [1, 202],
    [1_000, 202],
    [1_001, 400],
  ])('[Limits sizes] a batch of %i recipients is %i', async (count, status) => {
    const { post } = await newCustomer();
    const to = Array.from({ length: count }, (_, index) => `${88_000_000 + index}`);
    expect((await post('/sms/bulk', { to, text: 'Hello' })).status).toBe(status);
  });
});
