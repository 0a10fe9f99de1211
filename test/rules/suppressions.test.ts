import { describe, expect, it } from 'vitest';
import type { SuppressionReason } from '../../src/contract/index.js';
import { newCustomer } from './customer.js';

const to = '99112233';
const sms = { to, text: 'Hello' };
const email = { to: 'bat@example.mn', subject: 'Hi', text: 'Hello' };
const suppressed = (reason: SuppressionReason) => ({
  status: 422,
  error: { code: 'recipient_suppressed', reason },
});

describe('a suppressed recipient', () => {
  it('[Errors recipient_suppressed] is 422 with the reason; nothing is stored, charged or bound to the key', async () => {
    const { service, post, get, balance, outbox } = await newCustomer();
    const before = await post('/sms', sms, { key: 'before' });
    expect(await service.administration.suppressions.add([to, email.to])).toEqual({ added: 2, existing: 0 });
    const refused = await post('/sms', sms, { key: 'after' });
    expect(refused).toMatchObject(suppressed('manual'));
    expect(Object.keys(refused.error ?? {})).toEqual(['reason', 'code', 'message']);
    expect(await post('/email', email)).toMatchObject(suppressed('manual'));
    expect(await post('/verify', { to })).toMatchObject(suppressed('manual'));
    expect([await balance(), (await outbox()).length]).toEqual([99_990, 1]);
    expect((await get('/messages')).body.data).toMatchObject([{ id: before.body.id }]);
    // A message that was accepted before is answered as it was.
    expect(await post('/sms', sms, { key: 'before' })).toMatchObject({
      status: 200,
      body: { id: before.body.id },
    });
    expect(await service.administration.suppressions.remove('+976 9911-2233')).toBe(true);
    expect(await post('/sms', sms, { key: 'after' })).toMatchObject({
      status: 200,
      body: { status: 'sent' },
    });
  });

  it('is asked after the support of its number, before caps and funds', async () => {
    const { service, post, messagesOf } = await newCustomer();
    await service.administration.settings.update({ caps: { per_10_minutes: 1 } });
    expect((await post('/sms', sms)).status).toBe(200);
    await service.administration.suppressions.add(['70112233', to]);
    const batch = await post('/sms/bulk', { to: [to], text: 'Hello' });
    expect(await messagesOf(batch)).toMatchObject([{ error: { code: 'recipient_suppressed' } }]);
    await service.administration.credit(-100_000);
    expect((await post('/sms', { ...sms, to: '70112233' })).error?.code).toBe('unsupported_number');
    expect(await post('/sms', sms)).toMatchObject(suppressed('manual'));
    await service.administration.suppressions.remove(to);
    expect((await post('/sms', sms)).error?.code).toBe('recipient_rate_limited');
  });

  it('fails alone in a batch, refunded, whatever the setting says', async () => {
    const { service, post, balance, messagesOf } = await newCustomer();
    await service.administration.settings.update({ suppressions: false });
    await service.administration.suppressions.add(['88112233'], 'opt_out');
    await service.administration.suppressions.add(['bat@example.mn'], 'unknown_recipient');
    const batch = await post('/sms/bulk', { to: [to, '88112233'], text: 'Hello' });
    expect(batch.body).toMatchObject({ total: 2, credits: 20, balance: 99_980 });
    expect(await messagesOf(batch)).toMatchObject([
      { to, status: 'sent', error: null },
      { to: '88112233', status: 'failed', credits: 0, error: { code: 'recipient_suppressed' } },
    ]);
    const mails = await post('/email/bulk', { ...email, to: ['dorj@example.mn', 'Bat@example.mn'] });
    expect(await messagesOf(mails)).toMatchObject([
      { status: 'sent' },
      { to: 'Bat@example.mn', status: 'failed', error: { code: 'recipient_suppressed' } },
    ]);
    expect(await balance()).toBe(99_988);
  });

  it('that opted out still gets codes and single emails, but nothing of a list', async () => {
    const { service, post, messagesOf } = await newCustomer();
    await service.administration.suppressions.add([to, email.to], 'opt_out');
    expect(await post('/sms', sms)).toMatchObject(suppressed('opt_out'));
    for (const each of [to, email.to]) expect((await post('/verify', { to: each })).status).toBe(201);
    expect((await post('/email', email)).status).toBe(202);
    expect(await post('/email', email, { list: true })).toMatchObject(suppressed('opt_out'));
    const batch = await post('/email/bulk', { ...email, to: ['bat+news@example.mn'] });
    expect(await messagesOf(batch)).toMatchObject([
      { status: 'failed', error: { code: 'recipient_suppressed' } },
    ]);
  });

  it('is found by POST /v1/suppressions/check, as it was written; a list with bad entries is refused', async () => {
    const { service, post, get } = await newCustomer();
    await service.administration.suppressions.add([to], 'opt_out');
    await service.administration.suppressions.add(['bat@example.mn', 'gone@10.0.0.1'], 'unknown_recipient');
    const check = (list: unknown) => post('/suppressions/check', { to: list });
    const written = ['+976 9911-2233', 'BAT@example.mn', 'bat+x@example.mn', '88112233', to, '70112233'];
    expect(await check(written)).toMatchObject({
      status: 200,
      body: {
        data: [
          { to: '+976 9911-2233', reason: 'opt_out' },
          { to: 'BAT@example.mn', reason: 'unknown_recipient' },
          { to, reason: 'opt_out' },
        ],
      },
    });
    expect(await check([to, 'nobody', 7, 'nobody'])).toMatchObject({
      status: 400,
      error: { code: 'invalid_request', invalid: ['nobody', '7'] },
    });
    for (const list of [[], Array(1_001).fill(to), to, undefined])
      expect((await check(list)).status).toBe(400);
    expect((await check(Array(1_000).fill('88112233'))).body).toEqual({ data: [] });
    const { secret: reader } = await service.administration.createKey({ scope: ['read'] });
    expect((await post('/suppressions/check', { to: [to] }, { apiKey: reader })).status).toBe(403);
    expect((await get('/suppressions/check')).status).toBe(405);
  });

  it('is added once, whoever is named: a list with bad entries adds nobody', async () => {
    const { service } = await newCustomer();
    const { suppressions } = service.administration;
    await expect(suppressions.add([to, '1'])).rejects.toMatchObject({ fields: { invalid: ['1'] } });
    const many = Array.from({ length: 2_500 }, (_, index) => `${88_000_000 + index}`);
    expect(await suppressions.add([...many, '+976 88000000'], 'opt_out')).toEqual({
      added: 2_500,
      existing: 1,
    });
    expect(await suppressions.add([...many, to])).toEqual({ added: 1, existing: 2_500 });
    expect((await suppressions.list({ limit: 2 })).data).toMatchObject([
      { to, reason: 'manual' },
      { reason: 'opt_out' },
    ]);
  });
});
