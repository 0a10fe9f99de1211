import { describe, expect, it } from 'vitest';
import { newCustomer } from './customer.js';

const mail = { to: 'bat@example.mn', subject: 'News', text: 'Hello' };

describe('POST /v1/email', () => {
  it('[Resources single-send result (email)] [States email queued] [States email sent] answers at once, delivers later', async () => {
    const { post, get, idle, outbox } = await newCustomer();
    const queued = await post('/email', mail);
    expect(queued.status).toBe(202);
    expect(queued.body).toEqual({
      id: expect.any(String),
      status: 'queued',
      channel: 'email',
      to: 'bat@example.mn',
      credits: 2,
      batch_id: null,
      error: null,
      created_at: '2026-03-02T01:00:00.000Z',
      sent_at: null,
      balance: 99_998,
    });
    await idle();
    expect((await get(`/messages/${queued.body.id}`)).body).toMatchObject({
      status: 'sent',
      sent_at: '2026-03-02T01:00:00.000Z',
    });
    expect(await outbox()).toMatchObject([{ channel: 'email', to: mail.to, subject: 'News', text: 'Hello' }]);
  });

  it.each([
    [{}, 400],
    [{ html: '', text: '' }, 400],
    [{ html: '<b>Hi</b>' }, 202],
    [{ text: 'Hi' }, 202],
    [{ html: '<b>Hi</b>', text: 'Hi' }, 202],
  ])('[POST /v1/email 1] with %o is %i', async (content, status) => {
    const { post, idle, outbox } = await newCustomer();
    expect((await post('/email', { to: mail.to, subject: 'News', ...content })).status).toBe(status);
    await idle();
    expect(await outbox()).toMatchObject(status === 202 ? [content] : []);
  });

  it.each([
    [262_143, 1, 202],
    [262_144, 1, 422],
    [0, 262_144, 202],
    [0, 262_145, 422],
  ])(
    '[POST /v1/email 2] [Limits sizes] html of %i and text of %i bytes is %i',
    async (html, text, status) => {
      const { post, balance } = await newCustomer();
      // Two bytes a letter: the limit is in bytes.
      const bytes = (count: number) => 'ө'.repeat(Math.floor(count / 2)) + 'a'.repeat(count % 2);
      const reply = await post('/email', { ...mail, html: bytes(html), text: bytes(text) });
      expect([reply.status, reply.error?.code]).toEqual([
        status,
        status === 422 ? 'message_too_long' : undefined,
      ]);
      expect(await balance()).toBe(status === 422 ? 100_000 : 99_998);
    },
  );

  it.each([
    ['a'.repeat(255), 202],
    ['a'.repeat(256), 400],
    ['one\ntwo', 400],
    ['one\u2028two', 400],
    ['one\u2029two', 400],
    ['one\u0085two', 400],
    ['one\u000btwo', 400],
    ['one\rtwo', 400],
    ['😀'.repeat(255), 202],
    ['😀'.repeat(256), 400],
    [' ', 400],
    ['', 400],
  ])('[Limits sizes] [POST /v1/email subject] case %#', async (subject, status) => {
    const { post } = await newCustomer();
    expect((await post('/email', { ...mail, subject })).status).toBe(status);
  });

  it.each([
    [{ to: 'bat' }, 'to: '],
    [{ from_name: 'a\nb' }, 'from_name: '],
    [{ from_name: ' ' }, 'from_name: '],
    [{ from_name: 'x'.repeat(256) }, 'from_name: must have at most 255 characters'],
    [{ reply_to: 'nobody' }, 'reply_to: '],
    [{ subject: 'a\nb' }, 'subject: '],
  ])('[Errors invalid_request] %o is refused, naming the field', async (fields, name) => {
    const { post, balance } = await newCustomer();
    const refused = await post('/email', { ...mail, ...fields });
    expect(refused).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    expect(refused.error?.message).toContain(name);
    expect(await balance()).toBe(100_000);
  });

  it('[POST /v1/sms 6] an email keeps its links', async () => {
    const { post, idle, outbox } = await newCustomer();
    const content = { text: 'See https://a.mn/x', html: '<a href="https://a.mn/x">a</a>' };
    await post('/email', { ...mail, ...content });
    await idle();
    expect(await outbox()).toMatchObject([content]);
  });

  it('[POST /v1/email 3] comes from the shared domain; name and reply-to are the caller’s or the settings’', async () => {
    const { post, service, idle, outbox } = await newCustomer();
    const send = async (fields = {}) => {
      await post('/email', { ...mail, ...fields });
      // They leave after their answers, and may overtake each other.
      await idle();
    };
    await send();
    await service.administration.settings.update({ brand_name: 'Өртөө', reply_to: 'desk@example.mn' });
    await send();
    await send({ from_name: 'Bat', reply_to: 'bat@Example.mn' });
    await send({ from_name: 'Bat "B" Dorj, ХХК' });
    const domain = 'no-reply@mail.urtuu.example';
    expect((await outbox()).map(({ from, reply_to }) => [from, reply_to])).toEqual([
      [`Default <${domain}>`, null],
      [`Өртөө <${domain}>`, 'desk@example.mn'],
      [`Bat <${domain}>`, 'bat@Example.mn'],
      [`"Bat \\"B\\" Dorj, ХХК" <${domain}>`, 'desk@example.mn'],
    ]);
  });

  it('[POST /v1/email 4] comes from the project’s own domain where it has one', async () => {
    const { post, idle, outbox } = await newCustomer({ settings: { own_domain: 'example.mn' } });
    await post('/email', { ...mail, reply_to: 'bat@example.mn' });
    await idle();
    expect(await outbox()).toMatchObject([
      { from: 'Default <no-reply@example.mn>', reply_to: 'bat@example.mn' },
    ]);
  });

  it('[POST /v1/email 4] takes an own domain in any letters', async () => {
    const { post, idle, outbox } = await newCustomer({ settings: { own_domain: 'жишээ.мон' } });
    await post('/email', mail);
    await idle();
    expect(await outbox()).toMatchObject([{ from: 'Default <no-reply@жишээ.мон>' }]);
  });

  it('[POST /v1/email 5] [States email failed] is refunded when it fails', async () => {
    const { post, get, idle, balance } = await newCustomer();
    const queued = await post('/email', { ...mail, to: 'fault-refused@example.mn' });
    expect(queued).toMatchObject({ status: 202, body: { status: 'queued', balance: 99_998 } });
    await idle();
    expect((await get(`/messages/${queued.body.id}`)).body).toMatchObject({
      status: 'failed',
      credits: 0,
      sent_at: null,
      error: { code: 'provider_failed' },
    });
    expect(await balance()).toBe(100_000);
  });
});

describe('POST /v1/email/bulk', () => {
  it('[POST /v1/email/bulk] sends each an email of its own, duplicates merged', async () => {
    const { post, messagesOf, outbox } = await newCustomer();
    const to = ['Bat@Example.mn', 'Bat@EXAMPLE.MN', 'bat@example.mn', 'bat+1@example.mn'];
    const batch = await post('/email/bulk', { ...mail, to });
    expect(batch).toMatchObject({
      status: 202,
      body: { channel: 'email', status: 'processing', total: 2, credits: 4 },
    });
    expect(await messagesOf(batch)).toMatchObject([{ to: 'Bat@example.mn' }, { to: 'bat+1@example.mn' }]);
    expect((await outbox()).map(({ to: recipient }) => recipient).sort()).toEqual([
      'Bat@example.mn',
      'bat+1@example.mn',
    ]);
  });

  const spellings = ['café.мон', 'cafe\u0301.мон', 'CAFÉ.МОН', 'xn--caf-dma.xn--l1acc'].map(
    (domain) => `bat@${domain}`,
  );

  it('[POST /v1/email/bulk] merges the spellings of one domain', async () => {
    const { post, messagesOf } = await newCustomer();
    const batch = await post('/email/bulk', { ...mail, to: spellings });
    expect(batch.body).toMatchObject({ total: 1, credits: 2 });
    expect(await messagesOf(batch)).toMatchObject([{ to: 'bat@xn--caf-dma.xn--l1acc' }]);
  });

  it('[Limits recipient caps] count the spellings of one domain together, the outbox finds them by any', async () => {
    const { post, idle, outbox } = await newCustomer({ settings: { caps: { per_10_minutes: 4 } } });
    for (const to of spellings) expect((await post('/email', { ...mail, to })).status).toBe(202);
    for (const to of spellings) expect((await post('/email', { ...mail, to })).status).toBe(429);
    await idle();
    for (const to of spellings) expect(await outbox(to)).toHaveLength(4);
  });

  it.each(['bat@gmail.соm', 'bat@exаmple.mn', 'bat@gmail.xn--m-0tbi', 'bat@gmail.сом'])(
    '[POST /v1/email/bulk] %s looks like another address, and nothing is sent to it',
    async (address) => {
      const { post, get, balance } = await newCustomer();
      const message = 'must be an email address, and must not mix alphabets';
      for (const [path, body, field] of [
        ['/email', { ...mail, to: address }, 'to'],
        ['/email', { ...mail, reply_to: address }, 'reply_to'],
        ['/verify', { to: address, channel: 'email' }, 'to'],
      ] as const)
        expect(await post(path, body)).toMatchObject({
          status: 400,
          error: { message: `${field}: ${message}` },
        });
      const batch = await post('/email/bulk', { ...mail, to: [mail.to, address] });
      expect(batch).toMatchObject({ status: 400, error: { invalid: [address] } });
      expect(await balance()).toBe(100_000);
      // An earlier release may have sent to it.
      expect(await get(`/messages?to=${encodeURIComponent(address)}`)).toMatchObject({
        status: 200,
        body: { data: [] },
      });
    },
  );

  it('[POST /v1/email/bulk] names bad addresses and sends nothing', async () => {
    const { post, idle, outbox, balance } = await newCustomer();
    const refused = await post('/email/bulk', { ...mail, to: ['bat@example.mn', 'bat', '@b.mn'] });
    expect(refused).toMatchObject({ status: 400, error: { invalid: ['bat', '@b.mn'] } });
    await idle();
    expect(await outbox()).toEqual([]);
    expect(await balance()).toBe(100_000);
  });

  it('[Limits sizes] takes 1,000 addresses and no more', async () => {
    const { post } = await newCustomer();
    const to = Array.from({ length: 1_001 }, (_, index) => `p${index}@example.mn`);
    expect((await post('/email/bulk', { ...mail, to })).status).toBe(400);
    expect((await post('/email/bulk', { ...mail, to: to.slice(1) })).status).toBe(202);
  });
});
