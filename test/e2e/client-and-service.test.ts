import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Urtuu, UrtuuError } from '../../src/client/index.js';
import { createService, type Service } from '../../src/service/index.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const refused = '99000001';

async function failureOf(call: Promise<unknown>): Promise<UrtuuError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UrtuuError);
  return error as UrtuuError;
}

describe.each(['in process', 'over a socket'])('the client and the service, %s', (way) => {
  let service: Service;
  let client: Urtuu;

  beforeAll(async () => {
    service = await createService({ rates: 'off' });
    client =
      way === 'in process'
        ? new Urtuu(service.localKey, { fetch: service.fetch })
        : new Urtuu(service.localKey, { baseUrl: (await service.listen({ port: 0 })).url });
  });
  afterAll(() => service.close());

  const outbox = async (to: string) => {
    const found = [];
    for await (const delivery of service.administration.outbox({ to })) found.push(delivery);
    return found;
  };

  it('sms.send answers with the sent message and the balance', async () => {
    const { balance: before } = await client.balance.get();
    const sent = await client.sms.send({ to: '+976 9911-2233', text: 'Сайн байна уу' });
    expect(sent).toEqual({
      id: expect.stringMatching(uuid),
      status: 'sent',
      channel: 'sms',
      to: '99112233',
      parts: 1,
      rate_multiplier: 1,
      credits: 10,
      batch_id: null,
      error: null,
      created_at: expect.stringMatching(timestamp),
      sent_at: expect.stringMatching(timestamp),
      balance: before - 10,
    });
    const { balance, ...message } = sent;
    expect(await client.messages.get(sent.id)).toEqual({ ...message, delivery: null });
    expect((await outbox('99112233')).map(({ text }) => text)).toEqual(['Сайн байна уу']);
  });

  it('sms.send to a number the operator refuses throws provider_failed and refunds', async () => {
    const { balance: before } = await client.balance.get();
    const error = await failureOf(
      client.sms.send({ to: refused, text: 'Hello' }, { idempotencyKey: `refused ${way}` }),
    );
    expect(error).toMatchObject({ code: 'provider_failed', status: 502, id: expect.stringMatching(uuid) });
    expect(await client.balance.get()).toEqual({ balance: before });
    expect(await client.messages.get(error.id as string)).toMatchObject({
      status: 'failed',
      credits: 0,
      error: { code: 'provider_failed' },
      sent_at: null,
    });
    const repeat = await failureOf(
      client.sms.send({ to: refused, text: 'Hello' }, { idempotencyKey: `refused ${way}` }),
    );
    expect(repeat.id).toBe(error.id);
  });

  it.each([
    ['11321234', 'Hello', 'unsupported_number', 422],
    ['99112233', 'a'.repeat(751), 'message_too_long', 422],
    ['99112233', 'Ө'.repeat(301), 'message_too_long', 422],
    ['99112233', '', 'invalid_request', 400],
    ['Bat', 'Hello', 'invalid_request', 400],
  ])('sms.send to %s refuses with %s', async (to, text, code, status) => {
    const before = await client.balance.get();
    expect(await failureOf(client.sms.send({ to, text }))).toMatchObject({ code, status });
    expect(await client.balance.get()).toEqual(before);
  });

  it('sms.sendBulk merges duplicates, charges up front, sends in the background and refunds failures', async () => {
    const { balance: before } = await client.balance.get();
    const batch = await client.sms.sendBulk({
      to: ['88112233', '+976 8811 2233', '95112233', refused],
      text: 'Hello',
    });
    expect(batch).toMatchObject({
      id: expect.stringMatching(uuid),
      status: 'processing',
      channel: 'sms',
      total: 3,
      sent: 0,
      failed: 0,
      credits: 30,
      completed_at: null,
      balance: before - 30,
    });
    await service.administration.idle();
    expect(await client.batches.get(batch.id)).toMatchObject({
      status: 'completed',
      total: 3,
      sent: 2,
      failed: 1,
      credits: 30,
      completed_at: expect.stringMatching(timestamp),
    });
    expect(await client.balance.get()).toEqual({ balance: before - 20 });
    const { data, next } = await client.batches.messages(batch.id);
    expect(data.map(({ to, status, credits }) => [to, status, credits])).toEqual([
      ['88112233', 'sent', 10],
      ['95112233', 'sent', 10],
      [refused, 'failed', 0],
    ]);
    expect(next).toBeNull();
  });

  it('sms.sendBulk with bad numbers names them as they were written and sends nothing', async () => {
    const { balance } = await client.balance.get();
    const error = await failureOf(
      client.sms.sendBulk({ to: ['99112244', '11 32-12-34', 'Bat', '+12025550123'], text: 'Hello' }),
    );
    expect(error).toMatchObject({
      code: 'invalid_request',
      status: 400,
      invalid: ['11 32-12-34', 'Bat', '+12025550123'],
    });
    await service.administration.idle();
    expect(await client.balance.get()).toEqual({ balance });
    expect(await outbox('99112244')).toEqual([]);
  });

  it('email.send is queued, then sent', async () => {
    const queued = await client.email.send({ to: 'Bat@EXAMPLE.mn', subject: 'Сайн уу', text: 'Мэнд' });
    expect(queued).toMatchObject({ status: 'queued', channel: 'email', sent_at: null, credits: 2 });
    expect(queued).not.toHaveProperty('parts');
    expect(queued).not.toHaveProperty('rate_multiplier');
    await service.administration.idle();
    expect(await client.messages.get(queued.id)).toMatchObject({
      status: 'sent',
      sent_at: expect.stringMatching(timestamp),
    });
  });

  it('email.sendBulk sends one email to each', async () => {
    const to = ['a@example.mn', 'b@example.mn', 'b@EXAMPLE.mn'];
    const batch = await client.email.sendBulk({ to, subject: 'News', html: '<b>News</b>' });
    expect(batch).toMatchObject({ channel: 'email', total: 2, status: 'processing' });
    await service.administration.idle();
    expect(await client.batches.get(batch.id)).toMatchObject({ status: 'completed', sent: 2 });
  });

  it('a repeat with the same key sends nothing new and returns the original result', async () => {
    const send = () => client.sms.send({ to: '94112233', text: 'Once' }, { idempotencyKey: `once ${way}` });
    const [first, ...repeats] = await Promise.all(Array.from({ length: 20 }, send));
    for (const repeat of repeats) expect(repeat).toEqual(first);
    expect(await outbox('94112233')).toHaveLength(1);
  });

  it('verify.create, get and check', async () => {
    const created = await client.verify.create({ to: '86112233' });
    expect(created).toMatchObject({ status: 'pending', channel: 'sms', attempts_remaining: 5 });
    const code = /\d{6}/.exec((await outbox('86112233'))[0]?.text ?? '')?.[0] ?? '';
    const wrong = code === '000000' ? '111111' : '000000';
    const error = await failureOf(client.verify.check(created.id, { code: wrong }));
    expect(error).toMatchObject({ code: 'invalid_code', status: 422, attempts_remaining: 4 });
    expect(await client.verify.check(created.id, { code })).toMatchObject({ status: 'verified' });
    expect(await client.verify.get(created.id)).toMatchObject({ status: 'verified' });
    expect(await failureOf(client.verify.check(created.id, { code }))).toMatchObject({
      code: 'verification_closed',
      status: 409,
    });
  });

  it('insufficient_credits says what is there and what is needed', async () => {
    const { balance } = await client.balance.get();
    await service.administration.credit(5 - balance);
    const error = await failureOf(client.sms.send({ to: '99112233', text: 'Hello' }));
    expect(error).toMatchObject({ code: 'insufficient_credits', status: 402, balance: 5, required: 10 });
    await service.administration.credit(balance - 5);
  });

  it('pricing.get', async () => {
    expect(await client.pricing.get()).toEqual({
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

  it('unknown ids and keys', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    for (const call of [client.messages.get(id), client.batches.get(id), client.verify.get(id)]) {
      expect(await failureOf(call)).toMatchObject({ code: 'not_found', status: 404 });
    }
    const stranger = new Urtuu('urtuu_nobody', { fetch: service.fetch });
    expect(await failureOf(stranger.balance.get())).toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
