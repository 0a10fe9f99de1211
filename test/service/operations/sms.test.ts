import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { bodyOf, Cores, caller, ledgerDifference, outboxOf, requestsTo } from '../../support/cores.js';

const cores = new Cores();
const start = Date.UTC(2026, 5, 1, 4);
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(start);
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

const { send, sendBulk, balance } = requestsTo(() => core);

describe('POST /v1/sms', () => {
  it('answers with the single-send result, handed to the operator', async () => {
    const answer = await send('+976 9911-2233', 'Сайн уу');
    expect(answer).toEqual({
      status: 200,
      replayed: false,
      body: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        status: 'sent',
        channel: 'sms',
        to: '99112233',
        parts: 1,
        rate_multiplier: 1,
        credits: 10,
        batch_id: null,
        error: null,
        created_at: '2026-06-01T04:00:00.000Z',
        sent_at: '2026-06-01T04:00:00.000Z',
        balance: 99_990,
      },
    });
    const { balance: _, ...resource } = answer.body as { balance: number; id: string };
    expect(await core.operations.getMessage(caller, resource.id)).toEqual(resource);
  });

  it.each([
    ['rule 2 and 3: one Latin part', 'a'.repeat(150), 10],
    ['rule 2 and 3: two Latin parts', 'a'.repeat(151), 20],
    ['rule 3: Cyrillic is 2.5 times Latin', 'а'.repeat(300), 50],
    ['rule 3: an emoji counts as 2', '😀'.repeat(30), 10],
    ['rule 3: and makes the text Cyrillic', '😀'.repeat(31), 20],
    ['rule 4: 750 Latin', 'a'.repeat(750), 50],
  ])('%s', async (_, text, credits) => {
    expect(await bodyOf(send('99112233', text))).toMatchObject({ credits, parts: credits / 10 });
    expect(await balance()).toBe(100_000 - credits);
  });

  it.each([
    ['rule 1: a landline', '11323232', 'Hi', 'unsupported_number', 422],
    ['rule 1: a foreign number', '+4915112345678', 'Hi', 'unsupported_number', 422],
    ['rule 1: an unsupported start', '70112233', 'Hi', 'unsupported_number', 422],
    ['no number', 'Bat', 'Hi', 'invalid_request', 400],
    ['an empty number', '', 'Hi', 'invalid_request', 400],
    ['rule 4: 751 Latin', '99112233', 'a'.repeat(751), 'message_too_long', 422],
    ['rule 4: 301 Cyrillic', '99112233', 'а'.repeat(301), 'message_too_long', 422],
    ['an empty text', '99112233', '', 'invalid_request', 400],
    ['half an emoji', '99112233', 'Hi \ud83d', 'invalid_request', 400],
  ])('refuses %s, and nothing happens', async (_, to, text, code, status) => {
    await expect(send(to, text, 'k')).rejects.toMatchObject({ code, status });
    expect(await balance()).toBe(100_000);
    expect(await core.operations.findAnswer(caller, 'k')).toBeNull();
    expect(await outboxOf(core)).toEqual([]);
  });

  it('refuses what the balance does not cover, with both figures', async () => {
    await core.administration.credit(-99_995);
    await expect(send('99112233', 'Hi', 'k')).rejects.toMatchObject({
      code: 'insufficient_credits',
      status: 402,
      fields: { balance: 5, required: 10 },
    });
    await core.administration.credit(5);
    expect(await send('99112233', 'Hi', 'k')).toMatchObject({ status: 200, replayed: false });
    expect(await balance()).toBe(0);
  });

  it('rule 5: what the operator does not accept is 502 and refunded, and a repeat says so again', async () => {
    const answer = await send('99000001', 'Hi', 'k');
    const { id } = (answer.body as { error: { id: string } }).error;
    expect(answer).toEqual({
      status: 502,
      replayed: false,
      body: { error: { code: 'provider_failed', message: expect.any(String), id } },
    });
    expect(await balance()).toBe(100_000);
    expect(await core.operations.getMessage(caller, id)).toMatchObject({
      status: 'failed',
      credits: 0,
      sent_at: null,
      error: { code: 'provider_failed' },
    });
    expect(await send('99112233', 'Hi', 'k')).toEqual({ ...answer, replayed: true });
    expect(await outboxOf(core)).toEqual([]);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it.each([
    ['Mobicom', '99112233', 'See https://a.mn/x now', 'Mobicom'],
    ['Unitel', '88112233', 'See https://a.mn/x now', 'Unitel'],
    ['Skytel: without links', '91112233', 'See now', 'no-link'],
    ['G-Mobile: without links', '98112233', 'See now', 'no-link'],
    ['fall-over of another operator: without links', '99000002', 'See now', 'no-link'],
  ])('rule 6: %s', async (_, to, text, route) => {
    await send(to, 'See https://a.mn/x now');
    expect(await outboxOf(core)).toMatchObject([{ to, text, route }]);
  });

  it.each(['91112233', '99000002'])('rule 6: only a link to %s fails and is refunded', async (to) => {
    expect(await send(to, 'https://a.mn/x')).toMatchObject({
      status: 502,
      body: { error: { code: 'provider_failed' } },
    });
    expect(await balance()).toBe(100_000);
    expect(await outboxOf(core)).toEqual([]);
  });

  it('the price is that of the text as sent', async () => {
    const text = `${'a'.repeat(100)} https://a.mn/${'x'.repeat(100)}`;
    expect(await bodyOf(send('91112233', text))).toMatchObject({ parts: 2, credits: 20 });
  });
});

describe('POST /v1/sms/bulk', () => {
  it('charges the whole batch, merges duplicates and refunds what is not sent', async () => {
    const answer = await sendBulk(['99112233', '+976 9911 2233', '99000001', '88112233'], 'Hi');
    expect(answer).toMatchObject({
      status: 202,
      body: {
        status: 'processing',
        channel: 'sms',
        total: 3,
        sent: 0,
        failed: 0,
        credits: 30,
        completed_at: null,
        balance: 99_970,
      },
    });
    await core.administration.settled();
    const { id } = answer.body as { id: string };
    expect(await core.operations.getBatch(caller, id)).toEqual({
      id,
      status: 'completed',
      channel: 'sms',
      total: 3,
      sent: 2,
      failed: 1,
      credits: 30,
      created_at: '2026-06-01T04:00:00.000Z',
      completed_at: '2026-06-01T04:00:00.000Z',
    });
    expect(await balance()).toBe(99_980);
    const { data, next } = await core.operations.listBatchMessages(caller, id, { limit: 100, after: null });
    expect(next).toBeNull();
    expect(data.map(({ to, status, credits, batch_id }) => [to, status, credits, batch_id === id])).toEqual([
      ['99112233', 'sent', 10, true],
      ['99000001', 'failed', 0, true],
      ['88112233', 'sent', 10, true],
    ]);
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('rule 2: names bad and unsupported entries as they were written, and sends nothing', async () => {
    const bad = ['70-11', 'Bat', '+49 151 12345678', '', '11323232'];
    await expect(sendBulk(['99112233', ...bad, '88112233'], 'Hi')).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      fields: { invalid: bad },
    });
    expect(await balance()).toBe(100_000);
    expect(await outboxOf(core)).toEqual([]);
  });

  it('rule 2: names at most 50 of them', async () => {
    const bad = Array.from({ length: 60 }, (_, index) => `bad ${index}`);
    await expect(sendBulk(bad, 'Hi')).rejects.toMatchObject({ fields: { invalid: bad.slice(0, 50) } });
  });

  it.each([
    [0, 'invalid_request'],
    [1_001, 'invalid_request'],
  ])('refuses a list of %i, even of one number', async (length, code) => {
    await expect(sendBulk(Array(length).fill('99112233'), 'Hi')).rejects.toMatchObject({ code });
  });

  it('charges nothing when the balance does not cover all of it', async () => {
    await core.administration.credit(-99_985);
    await expect(sendBulk(['99112233', '88112233'], 'Hi')).rejects.toMatchObject({
      code: 'insufficient_credits',
      fields: { balance: 15, required: 20 },
    });
    expect(await balance()).toBe(15);
  });

  it('a link-only message fails on the no-link route only', async () => {
    const { id } = await bodyOf<{ id: string }>(sendBulk(['99112233', '91112233'], 'https://a.mn/x'));
    await core.administration.settled();
    const { data } = await core.operations.listBatchMessages(caller, id, { limit: 10, after: null });
    expect(data.map(({ status, error }) => [status, error?.code])).toEqual([
      ['sent', undefined],
      ['failed', 'provider_failed'],
    ]);
  });
});
