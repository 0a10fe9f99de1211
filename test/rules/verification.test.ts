import { describe, expect, it } from 'vitest';
import { type Customer, newCustomer } from './customer.js';

const digits = async ({ outbox }: Customer, to: string) =>
  /\d{4,8}/.exec((await outbox(to)).at(-1)?.text ?? '')?.[0] ?? '';
const other = (code: string) => code.replace(/.$/, (last) => String((Number(last) + 1) % 10));

describe('verification', () => {
  it('[POST /v1/verify] sends a code by SMS that only its recipient learns', async () => {
    const customer = await newCustomer();
    const created = await customer.post('/verify', { to: '+976 9911 2233' });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(String),
      status: 'pending',
      channel: 'sms',
      to: '99112233',
      attempts_remaining: 5,
      credits: 10,
      created_at: '2026-03-02T01:00:00.000Z',
      expires_at: '2026-03-02T01:10:00.000Z',
      verified_at: null,
      balance: 99_990,
    });
    const code = await digits(customer, '99112233');
    expect(code).toMatch(/^\d{6}$/);
    const { balance: _, ...resource } = created.body;
    expect((await customer.get(`/verify/${created.body.id}`)).body).toEqual(resource);
    expect(JSON.stringify(created.body)).not.toContain(code);
  });

  it('[POST /v1/verify] by email from the form of `to`, with a text, a length and a life of its own', async () => {
    const customer = await newCustomer({ settings: { brand_name: 'Өртөө' } });
    const created = await customer.post('/verify', {
      to: 'bat@example.mn',
      code_length: 8,
      expires_in: 60,
      text: '{brand} код: {code}',
    });
    expect(created).toMatchObject({
      status: 201,
      body: { channel: 'email', credits: 2, expires_at: '2026-03-02T01:01:00.000Z' },
    });
    await customer.idle();
    expect((await customer.outbox('bat@example.mn')).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Өртөө код: \d{8}$/),
    ]);
  });

  it.each([
    ['fits', 262_144 - 6, 201],
    ['is a byte over', 262_144 - 5, 422],
  ])('[POST /v1/verify] [Limits sizes] an email that %s once its code is in', async (_, length, status) => {
    const customer = await newCustomer({ settings: { brand_name: 'ө'.repeat(50) } });
    // A hundred bytes a brand, which the template names in seven.
    const brands = Math.floor(length / 100);
    const text = `{code}${'{brand}'.repeat(brands)}${'a'.repeat(length - brands * 100)}`;
    const reply = await customer.post('/verify', { to: 'bat@example.mn', text });
    expect([reply.status, reply.error?.code]).toEqual([
      status,
      status === 422 ? 'message_too_long' : undefined,
    ]);
    expect(await customer.balance()).toBe(status === 422 ? 100_000 : 99_998);
    await customer.idle();
    const [email] = await customer.outbox();
    if (status === 201) expect(Buffer.byteLength(email?.text ?? '')).toBe(262_144);
  });

  it.each(['91112233', '99000002'])(
    '[POST /v1/verify] [POST /v1/sms 6] to %s a code that is in a link is not sent, one beside it is',
    async (to) => {
      const customer = await newCustomer();
      const failed = await customer.post('/verify', { to, text: 'Open a.mn/{code} please' });
      expect(failed).toMatchObject({ status: 502, error: { code: 'provider_failed' } });
      expect([await customer.balance(), await customer.outbox()]).toEqual([100_000, []]);
      const created = await customer.post('/verify', { to, text: '{code} on a.mn/login please' });
      expect(created.status).toBe(201);
      expect(await customer.outbox()).toMatchObject([{ text: expect.stringMatching(/^\d{6} on please$/) }]);
    },
  );

  it.each([
    [{ to: '11112233' }, 422, 'unsupported_number'],
    [{ to: 'Bat' }, 400, 'invalid_request'],
    [{ to: '99112233', channel: 'email' }, 400, 'invalid_request'],
    [{ to: 'bat@example.mn', channel: 'sms' }, 400, 'invalid_request'],
    [{ to: '99112233', code_length: 3 }, 400, 'invalid_request'],
    [{ to: '99112233', code_length: 9 }, 400, 'invalid_request'],
    [{ to: '99112233', expires_in: 59 }, 400, 'invalid_request'],
    [{ to: '99112233', expires_in: 3_601 }, 400, 'invalid_request'],
    [{ to: '99112233', text: 'no place for it' }, 400, 'invalid_request'],
    [{ to: '99112233', text: `{code}${'ө'.repeat(295)}` }, 422, 'message_too_long'],
    [{ to: '99000001' }, 502, 'provider_failed'],
  ])('[POST /v1/verify] refuses %o, charging nothing', async (body, status, code) => {
    const { post, balance } = await newCustomer();
    const refused = await post('/verify', body);
    expect([refused.status, refused.error?.code]).toEqual([status, code]);
    expect(await balance()).toBe(100_000);
  });

  it('[POST /v1/verify/{id}/check] [Errors invalid_code] counts wrong tries, takes the right one once', async () => {
    const customer = await newCustomer();
    const { id } = (await customer.post('/verify', { to: '99112233' })).body;
    const code = await digits(customer, '99112233');
    const check = (tried: string) => customer.post(`/verify/${id}/check`, { code: tried });
    expect(await check(other(code))).toMatchObject({
      status: 422,
      error: { code: 'invalid_code', attempts_remaining: 4 },
    });
    customer.clock.advance(1_000);
    expect(await check(code)).toMatchObject({
      status: 200,
      body: { status: 'verified', attempts_remaining: 4, verified_at: '2026-03-02T01:00:01.000Z' },
    });
    expect(await check(code)).toMatchObject({ status: 409, error: { code: 'verification_closed' } });
  });

  it('[POST /v1/verify/{id}/check] [Errors verification_closed] after 5 wrong tries the right code is too late', async () => {
    const customer = await newCustomer();
    const { id } = (await customer.post('/verify', { to: '99112233' })).body;
    const code = await digits(customer, '99112233');
    const tries = await Promise.all(
      Array.from({ length: 8 }, () => customer.post(`/verify/${id}/check`, { code: other(code) })),
    );
    expect(tries.map(({ error }) => error?.attempts_remaining).sort()).toEqual([
      ...[0, 1, 2, 3, 4],
      ...Array(3).fill(undefined),
    ]);
    expect((await customer.post(`/verify/${id}/check`, { code })).status).toBe(409);
    expect((await customer.get(`/verify/${id}`)).body).toMatchObject({
      status: 'failed',
      attempts_remaining: 0,
    });
  });

  it('[POST /v1/verify] [Errors rate_limited] are limited in a day and for 100 numbers by the settings, off by default', async () => {
    const customer = await newCustomer();
    const { settings } = customer.service.administration;
    const create = async (to: string) => {
      const { status, error, headers } = await customer.post('/verify', { to });
      return status === 201 ? status : [status, error?.code, headers.get('retry-after')];
    };
    expect(await Promise.all(['00', '01', '02'].map((end) => create(`991122${end}`)))).toEqual([
      201, 201, 201,
    ]);
    await settings.update({ verifications: { per_100_numbers: 5 } });
    customer.clock.advance(1_000);
    const refused = [429, 'rate_limited', '86399'];
    const more = await Promise.all(['99', '98', '97', '96'].map((end) => create(`991122${end}`)));
    expect(more.filter((each) => each === 201)).toHaveLength(2);
    expect(more.filter((each) => each !== 201)).toEqual([refused, refused]);
    expect([await create('99112300'), await create('99112199'), await create('bat@b.mn')]).toEqual([
      201, 201, 201,
    ]);
    expect((await customer.post('/sms', { to: '99112200', text: 'Hi' })).status).toBe(200);
    await settings.update({ verifications: { per_24_hours: 8 } });
    expect([await create('88112233'), await create('bat@b.mn'), await create('99112200')]).toEqual([
      refused,
      refused,
      refused,
    ]);
    await settings.update({ verifications: { per_24_hours: 9, per_100_numbers: null } });
    expect([await create('88112233'), await create('88112233')]).toEqual([201, refused]);
    customer.clock.advance(86_399_000);
    expect(await create('88112234')).toBe(201);
    await expect(settings.update({ verifications: { per_24_hours: 0 } })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('[GET /v1/verify/{id}] [Errors verification_closed] expires at its time', async () => {
    const customer = await newCustomer();
    const { id } = (await customer.post('/verify', { to: '99112233', expires_in: 60 })).body;
    const code = await digits(customer, '99112233');
    customer.clock.advance(59_999);
    expect((await customer.get(`/verify/${id}`)).body.status).toBe('pending');
    customer.clock.advance(1);
    expect((await customer.get(`/verify/${id}`)).body.status).toBe('expired');
    expect((await customer.post(`/verify/${id}/check`, { code })).status).toBe(409);
  });
});
