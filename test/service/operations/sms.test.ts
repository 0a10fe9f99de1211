import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { Cores, caller, ledgerDifference, outboxOf, pass } from '../../support/cores.js';

const cores = new Cores();
const start = Date.UTC(2026, 5, 1, 4);
let clock: ManualClock;
let core: Core;

beforeEach(async () => {
  clock = new ManualClock(start);
  core = await cores.open({ clock });
});
afterEach(() => cores.closeAll());

const send = (to: string, text: string, idempotencyKey: string | null = null) =>
  core.operations.sendSms({ caller, params: { to, text }, idempotencyKey });
const sendBulk = (to: string[], text: string) =>
  core.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: null });
const balance = async () => (await core.operations.getBalance(caller)).balance;
const bodyOf = async <Body>(answer: Promise<{ body: object }>) => (await answer).body as Body;

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

describe('Limits, per-recipient caps', () => {
  const times = async (count: number, to = '99112233') => {
    for (let sent = 0; sent < count; sent += 1) await send(to, 'Hi');
  };

  it('5 in 10 minutes; Retry-After is when the oldest leaves the window; nothing is charged', async () => {
    await times(1);
    clock.advance(60_500);
    await times(4);
    const before = await balance();
    await expect(send('+976 99112233', 'Hi', 'k')).rejects.toMatchObject({
      code: 'recipient_rate_limited',
      status: 429,
      retryAfter: 540,
    });
    expect(await balance()).toBe(before);
    await times(1, '99112234');
    clock.advance(539_499);
    await expect(send('99112233', 'Hi', 'k')).rejects.toMatchObject({ retryAfter: 1 });
    clock.advance(1);
    expect(await send('99112233', 'Hi', 'k')).toMatchObject({ status: 200 });
  });

  it('20 in 24 hours', async () => {
    for (let block = 0; block < 4; block += 1) {
      await times(5);
      clock.advance(600_000);
    }
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ retryAfter: 86_400 - 2_400 });
    clock.advance(86_400_000 - 2_400_000);
    await times(1);
  });

  it('what failed does not count', async () => {
    for (let sent = 0; sent < 8; sent += 1)
      expect(await send('99000001', 'Hi')).toMatchObject({ status: 502 });
  });

  it('in a batch the capped message fails and is refunded, the rest is sent', async () => {
    await times(5);
    const { id } = await bodyOf<{ id: string }>(sendBulk(['99112233', '88112233'], 'Hi'));
    await core.administration.settled();
    const { data } = await core.operations.listBatchMessages(caller, id, { limit: 10, after: null });
    expect(data).toMatchObject([
      { status: 'failed', credits: 0, error: { code: 'recipient_rate_limited' } },
      { status: 'sent', credits: 10, error: null },
    ]);
    expect(await core.operations.getBatch(caller, id)).toMatchObject({
      status: 'completed',
      sent: 1,
      failed: 1,
    });
    expect(await balance()).toBe(100_000 - 60);
  });

  it('of batches that wait together the first ones in get through', async () => {
    const ids: string[] = [];
    for (let batch = 0; batch < 7; batch += 1) {
      ids.push((await bodyOf<{ id: string }>(sendBulk(['99112233'], 'Hi'))).id);
    }
    await core.administration.settled();
    const batches = await Promise.all(ids.map((id) => core.operations.getBatch(caller, id)));
    expect(batches.map(({ sent }) => sent)).toEqual([1, 1, 1, 1, 1, 0, 0]);
  });

  it('follow the settings, up to 20 and 80', async () => {
    await core.administration.settings.update({ caps: { per_10_minutes: 20, per_24_hours: 80 } });
    await times(20);
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ code: 'recipient_rate_limited' });
    const over = { caps: { per_10_minutes: 21 } };
    await expect(core.administration.settings.update(over)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const over24 = { caps: { per_24_hours: 81 } };
    await expect(core.administration.settings.update(over24)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('the holiday multiplier', () => {
  it.each([
    ['the last moment before the day in Ulaanbaatar', '2026-07-10T15:59:59.999Z', 1, 10],
    ['its first', '2026-07-10T16:00:00.000Z', 1.5, 15],
    ['its last', '2026-07-11T15:59:59.999Z', 1.5, 15],
    ['the day after', '2026-07-11T16:00:00.000Z', 1, 10],
  ])('%s', async (_, at, rate_multiplier, credits) => {
    await core.administration.settings.update({ holidays: { '2026-07-11': 1.5 } });
    clock.advance(Date.parse(at) - clock.now());
    expect(await bodyOf(send('99112233', 'Hi'))).toMatchObject({ rate_multiplier, credits });
    expect((await core.operations.getPricing(caller)).sms).toMatchObject({ rate_multiplier });
  });

  it('rounds the credits of a message up', async () => {
    await core.administration.settings.update({ holidays: { '2026-06-01': 1.25 } });
    expect(await bodyOf(send('99112233', 'Hi'))).toMatchObject({ credits: 13 });
    expect(await bodyOf(sendBulk(['88112233', '88112234'], 'Hi'))).toMatchObject({ credits: 26 });
  });
});

describe('faults on demand', () => {
  it.each([
    ['its answer is lost', '99000006', 0],
    ['the hand-over is lost once', '99000008', 1_000],
    ['the answer takes 10 seconds', '99000004', 10_000],
  ])('%s: it is sent, once', async (_, to, milliseconds) => {
    const answer = send(to, 'Hi', 'k');
    await pass(clock, milliseconds);
    expect(await answer).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('nobody can tell for 30 seconds: 503 without an end, then the same key gets the answer', async () => {
    const first = expect(send('99000007', 'Hi', 'k')).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
    });
    await pass(clock, 21_000);
    await first;
    const repeat = send('99000007', 'Hi', 'k');
    await pass(clock, 19_000);
    expect(await repeat).toMatchObject({ status: 200, replayed: true, body: { status: 'sent' } });
    expect(await outboxOf(core)).toHaveLength(1);
    expect(await balance()).toBe(99_990);
  });

  it('a message that can never be handed over fails in the end and is refunded', async () => {
    const unreachable = await cores.open(
      { clock },
      {
        carrier: () => ({
          submit: () => Promise.reject(new Error('no route to host')),
          inquire: async () => 'not_taken',
        }),
      },
    );
    const { id } = (
      await unreachable.operations.sendSmsBulk({
        caller,
        params: { to: ['99112233'], text: 'Hi' },
        idempotencyKey: null,
      })
    ).body as { id: string };
    await pass(clock, 200_000, 1_000);
    expect(await unreachable.operations.getBatch(caller, id)).toMatchObject({
      status: 'completed',
      failed: 1,
    });
    expect(await unreachable.operations.getBalance(caller)).toEqual({ balance: 100_000 });
  });

  it('a message whose fate stays unknown is never failed and never handed over again', async () => {
    let submissions = 0;
    const mute = await cores.open(
      { clock },
      {
        carrier: () => ({
          submit: () => {
            submissions += 1;
            return Promise.reject(new Error('reset'));
          },
          inquire: async () => 'unknown',
        }),
      },
    );
    const { id } = (
      await mute.operations.sendSmsBulk({
        caller,
        params: { to: ['99112233'], text: 'Hi' },
        idempotencyKey: null,
      })
    ).body as { id: string };
    await pass(clock, 900_000, 5_000);
    expect(submissions).toBe(1);
    const { data } = await mute.operations.listBatchMessages(caller, id, { limit: 1, after: null });
    expect(data).toMatchObject([{ status: 'queued', credits: 10 }]);
  });
});
