import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, requestsTo } from '../../support/cores.js';

const cores = new Cores();
let core: Core;

beforeEach(async () => {
  core = await cores.open({ clock: new ManualClock(Date.UTC(2026, 5, 1, 4)) });
});
afterEach(() => cores.closeAll());

const email = { to: 'bat@example.mn', subject: 'Hello', text: 'Hi' };
type Params = Parameters<Core['operations']['sendEmail']>[0]['params'];
const send = (fields: object = {}, idempotencyKey: string | null = null) =>
  core.operations.sendEmail({ caller, params: { ...email, ...fields } as Params, idempotencyKey });
const sendBulk = (to: string[]) =>
  core.operations.sendEmailBulk({ caller, params: { ...email, to }, idempotencyKey: null });
const { balance } = requestsTo(() => core);

describe('POST /v1/email', () => {
  it('is queued, answered at once, and sent in the background', async () => {
    const answer = await send();
    expect(answer).toEqual({
      status: 202,
      replayed: false,
      body: {
        id: expect.any(String),
        status: 'queued',
        channel: 'email',
        to: 'bat@example.mn',
        credits: 2,
        batch_id: null,
        error: null,
        created_at: '2026-06-01T04:00:00.000Z',
        sent_at: null,
        balance: 99_998,
      },
    });
    await core.administration.settled();
    const { id } = answer.body as { id: string };
    expect(await core.operations.getMessage(caller, id)).toMatchObject({
      status: 'sent',
      sent_at: '2026-06-01T04:00:00.000Z',
    });
  });

  it('a repeat still gets the original result after it was sent', async () => {
    const first = await send({}, 'k');
    await core.administration.settled();
    expect(await send({ to: 'other@example.mn' }, 'k')).toEqual({ ...first, replayed: true });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('rule 5: a failed email is refunded', async () => {
    const { body } = await send({ to: 'fault-refused@example.mn' });
    await core.administration.settled();
    const message = await core.operations.getMessage(caller, (body as { id: string }).id);
    expect(message).toMatchObject({ status: 'failed', credits: 0, error: { code: 'provider_failed' } });
    expect(await balance()).toBe(100_000);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it.each([
    ['no address', { to: 'bat' }, 'to'],
    ['an empty subject', { subject: '' }, 'subject'],
    ['a subject of two lines', { subject: 'a\nb' }, 'subject'],
    ['a subject with a carriage return', { subject: 'a\rBcc: x@y.mn' }, 'subject'],
    ['a subject with a line separator', { subject: 'a\u2028b' }, 'subject'],
    ['a subject over 255 characters', { subject: 'a'.repeat(256) }, 'subject'],
    ['half an emoji in the subject', { subject: '\ud83d' }, 'subject'],
    ['rule 1: neither html nor text', { text: undefined }, 'html or text'],
    ['rule 1: both empty', { text: '', html: '' }, 'html or text'],
    ['half an emoji in html', { html: '\udc00' }, 'html'],
    ['a sender name of two lines', { from_name: 'a\nb' }, 'from_name'],
    ['an empty sender name', { from_name: ' ' }, 'from_name'],
    ['no address to reply to', { reply_to: 'nobody' }, 'reply_to'],
  ])('refuses %s, naming the field', async (_, fields, name) => {
    await expect(send(fields)).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      message: expect.stringContaining(name),
    });
    expect(await balance()).toBe(100_000);
  });

  it('takes a subject of 255 characters, whatever their size', async () => {
    expect(await send({ subject: '😀'.repeat(255) })).toMatchObject({ status: 202 });
  });

  it('rule 2: html and text together are at most 256 KB, in bytes', async () => {
    const half = 'ө'.repeat(65_536);
    expect(await send({ html: half, text: half })).toMatchObject({ status: 202 });
    await expect(send({ html: half, text: `${half}a` })).rejects.toMatchObject({
      code: 'message_too_long',
      status: 422,
    });
  });

  it('rules 3 and 4: who it is from, and where replies go', async () => {
    const { settings } = core.administration;
    await send();
    await settings.update({ brand_name: 'Өртөө, ХХК', reply_to: 'help@example.mn' });
    await send();
    await send({ from_name: 'Bat "B" Dorj', reply_to: 'bat@Example.mn' });
    await settings.update({ own_domain: 'news.example.mn' });
    await send();
    await core.administration.settled();
    const outbox = await outboxOf(core);
    expect(outbox.map(({ from, reply_to }) => [from, reply_to])).toEqual([
      ['Default <no-reply@mail.urtuu.example>', null],
      ['"Өртөө, ХХК" <no-reply@mail.urtuu.example>', 'help@example.mn'],
      ['"Bat \\"B\\" Dorj" <no-reply@mail.urtuu.example>', 'bat@Example.mn'],
      ['"Өртөө, ХХК" <no-reply@news.example.mn>', 'help@example.mn'],
    ]);
  });

  it('keeps its links', async () => {
    await send({ text: 'See https://example.mn/a', html: '<a href="https://example.mn/a">a</a>' });
    await core.administration.settled();
    expect(await outboxOf(core)).toMatchObject([
      { text: 'See https://example.mn/a', html: '<a href="https://example.mn/a">a</a>', route: 'email' },
    ]);
  });

  it('has caps of its own, apart from SMS', async () => {
    for (let sent = 0; sent < 5; sent += 1) await send({ to: 'bat@EXAMPLE.mn' });
    await expect(send()).rejects.toMatchObject({ code: 'recipient_rate_limited', retryAfter: 600 });
    await send({ to: 'Bat@example.mn' });
    const sms = { to: '99112233', text: 'Hi' };
    await core.operations.sendSms({ caller, params: sms, idempotencyKey: null });
  });
});

describe('POST /v1/email/bulk', () => {
  it('sends each recipient an email of their own and merges duplicates', async () => {
    const answer = await sendBulk(['a@example.mn', 'a@EXAMPLE.mn', 'A@example.mn', 'fault-refused@x.mn']);
    expect(answer).toMatchObject({
      status: 202,
      body: { channel: 'email', status: 'processing', total: 3, credits: 6, balance: 99_994 },
    });
    await core.administration.settled();
    const { id } = answer.body as { id: string };
    expect(await core.operations.getBatch(caller, id)).toMatchObject({
      status: 'completed',
      sent: 2,
      failed: 1,
    });
    expect((await outboxOf(core)).map(({ to }) => to)).toEqual(['a@example.mn', 'A@example.mn']);
    expect(await balance()).toBe(99_996);
  });

  it('names bad addresses as they were written, and sends nothing', async () => {
    await expect(sendBulk(['a@example.mn', 'b@', 'c'])).rejects.toMatchObject({
      code: 'invalid_request',
      fields: { invalid: ['b@', 'c'] },
    });
    expect(await balance()).toBe(100_000);
  });
});
