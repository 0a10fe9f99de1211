import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Urtuu } from '../../src/client/index.js';
import { createService, type Service } from '../../src/service/index.js';
import { failureOf } from '../support/client.js';

const refused = '99000001';

/** The rules are in test/rules, and what the client makes of answers in test/client: this is that both meet. */
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

  it('sms.send answers with the sent message and the balance', async () => {
    const { balance: before } = await client.balance.get();
    const sent = await client.sms.send({ to: '+976 9911-2233', text: 'Сайн байна уу' });
    expect(sent).toMatchObject({ status: 'sent', to: '99112233', credits: 10, balance: before - 10 });
    const { balance, ...message } = sent;
    expect(await client.messages.get(sent.id)).toEqual({ ...message, delivery: null, carrier_code: null });
  });

  it('sms.send to a number the operator refuses throws provider_failed, and repeats it', async () => {
    const send = () =>
      failureOf(client.sms.send({ to: refused, text: 'Hello' }, { idempotencyKey: `refused ${way}` }));
    const error = await send();
    expect(error).toMatchObject({ code: 'provider_failed', status: 502, id: expect.any(String) });
    expect(await client.messages.get(error.id as string)).toMatchObject({ status: 'failed', credits: 0 });
    expect((await send()).id).toBe(error.id);
  });

  it('sms.sendBulk is a batch, whose end and messages are read', async () => {
    const to = ['88112233', '+976 8811 2233', '95112233', refused];
    const batch = await client.sms.sendBulk({ to, text: 'Hello' });
    expect(batch).toMatchObject({ status: 'processing', total: 3, credits: 30 });
    await service.administration.idle();
    expect(await client.batches.wait(batch.id)).toMatchObject({ status: 'completed', sent: 2, failed: 1 });
    const { data, next } = await client.batches.messages(batch.id);
    expect(data.map((one) => one.to)).toEqual(['88112233', '95112233', refused]);
    expect(next).toBeNull();
  });

  it('sms.sendBulk with bad numbers names them as they were written', async () => {
    const error = await failureOf(
      client.sms.sendBulk({ to: ['99112244', '11 32-12-34', 'Bat'], text: 'Hello' }),
    );
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, invalid: ['11 32-12-34', 'Bat'] });
  });

  it('email.send and email.sendBulk are queued, then sent', async () => {
    const queued = await client.email.send({ to: 'Bat@EXAMPLE.mn', subject: 'Сайн уу', text: 'Мэнд' });
    expect(queued).toMatchObject({ status: 'queued', channel: 'email', sent_at: null, credits: 2 });
    const to = ['a@example.mn', 'b@example.mn', 'b@EXAMPLE.mn'];
    const batch = await client.email.sendBulk({ to, subject: 'News', html: '<b>News</b>' });
    await service.administration.idle();
    expect(await client.messages.get(queued.id)).toMatchObject({ status: 'sent' });
    expect(await client.batches.get(batch.id)).toMatchObject({ status: 'completed', total: 2, sent: 2 });
  });

  it('verify.create, get and check', async () => {
    const created = await client.verify.create({ to: '86112233' });
    let code = '';
    for await (const { text } of service.administration.outbox({ to: '86112233' }))
      code = /\d{6}/.exec(text ?? '')?.[0] ?? '';
    const wrong = code === '000000' ? '111111' : '000000';
    const error = await failureOf(client.verify.check(created.id, { code: wrong }));
    expect(error).toMatchObject({ code: 'invalid_code', status: 422, attempts_remaining: 4 });
    expect(await client.verify.check(created.id, { code })).toMatchObject({ status: 'verified' });
    expect(await client.verify.get(created.id)).toMatchObject({ status: 'verified' });
  });

  it('insufficient_credits says what is there and what is needed', async () => {
    const { balance } = await client.balance.get();
    await service.administration.credit(5 - balance);
    const error = await failureOf(client.sms.send({ to: '99112233', text: 'Hello' }));
    expect(error).toMatchObject({ code: 'insufficient_credits', status: 402, balance: 5, required: 10 });
  });

  it('pricing.get, and ids and keys that are not known', async () => {
    expect(await client.pricing.get()).toMatchObject({ sms: { credits_per_part: 10 } });
    const id = '00000000-0000-4000-8000-000000000000';
    for (const call of [client.messages.get(id), client.batches.get(id), client.verify.get(id)])
      expect(await failureOf(call)).toMatchObject({ code: 'not_found', status: 404 });
    const stranger = new Urtuu('urtuu_nobody', { fetch: service.fetch });
    expect(await failureOf(stranger.balance.get())).toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
