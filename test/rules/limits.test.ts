import { describe, expect, it } from 'vitest';
import { isOnPostgres } from '../support/test-engine.js';
import { type Customer, newCustomer, type Reply } from './customer.js';

const text = 'Hello';
const rateOf = ({ headers }: Reply) =>
  ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
const send = (customer: Customer, to = '99112233') => customer.post('/sms', { to, text });

async function times<Result>(count: number, act: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < count; index += 1) results.push(await act(index));
  return results;
}

describe('request rate', () => {
  it('[Limits request rate] [Errors rate_limited] sending: 40 at once, then 20 a second; told on every answer', async () => {
    const customer = await newCustomer({ rates: 'enforced' });
    const burst = await times(40, (index) => send(customer, `${88_000_000 + index}`));
    expect(burst.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(burst.map(rateOf)).toEqual(Array.from({ length: 40 }, (_, index) => ['40', `${39 - index}`]));
    const over = await send(customer, '88999999');
    expect([over.status, over.error?.code, over.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    expect(rateOf(over)).toEqual(['40', '0']);
    customer.clock.advance(49);
    expect((await send(customer, '88999999')).status).toBe(429);
    customer.clock.advance(1);
    expect((await send(customer, '88999999')).status).toBe(200);
    customer.clock.advance(1_000);
    const second = await times(21, (index) => send(customer, `${89_000_000 + index}`));
    expect(second.filter(({ status }) => status === 200)).toHaveLength(20);
  });

  it('[Limits request rate] reading: 10 at once, then 10 a second, apart from sending', async () => {
    const customer = await newCustomer({ rates: 'enforced' });
    const burst = await times(11, () => customer.get('/balance'));
    expect(burst.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    expect(rateOf(burst[10] as Reply)).toEqual(['10', '0']);
    expect((await send(customer)).status).toBe(200);
    customer.clock.advance(100);
    expect((await customer.get('/balance')).status).toBe(200);
    expect((await customer.get('/balance')).status).toBe(429);
    customer.clock.advance(3_600_000);
    expect(rateOf(await customer.get('/balance'))).toEqual(['10', '9']);
  });

  it('[Limits request rate] refusals and verifications take from it, and show it', async () => {
    const customer = await newCustomer({ rates: 'enforced' });
    const paths: [string, object, number][] = [
      ['/sms', { to: 'Bat', text }, 400],
      ['/sms', { to: '11112233', text }, 422],
      ['/verify', { to: '99112233' }, 201],
      ['/nowhere', {}, 404],
    ];
    for (const [index, [path, body, status]] of paths.entries()) {
      const reply = await customer.post(path, body);
      expect([reply.status, ...rateOf(reply)]).toEqual([status, '40', `${39 - index}`]);
    }
  });

  it('[Authentication 2] [Limits request rate] all keys of a project share one allowance, projects do not', async () => {
    const customer = await newCustomer({ rates: 'enforced' });
    const { administration } = customer.service;
    const { secret } = await administration.createKey();
    const { id } = await administration.createProject('Other');
    const other = await (await administration.project(id))?.createKey();
    await times(5, () => customer.get('/balance'));
    expect(rateOf(await customer.get('/balance', secret))).toEqual(['10', '4']);
    expect(rateOf(await customer.get('/balance', other?.secret))).toEqual(['10', '9']);
  });

  it('[Limits request rate] a repeat of a send takes from it too', async () => {
    const customer = await newCustomer({ rates: 'enforced' });
    const repeat = () => customer.post('/sms', { to: '99112233', text }, { key: 'k' });
    const first = await repeat();
    const second = await repeat();
    expect([rateOf(first), rateOf(second)]).toEqual([
      ['40', '39'],
      ['40', '38'],
    ]);
  });
});

describe('per-recipient caps', () => {
  it('[Limits recipient caps] 5 in 10 minutes, sliding, told by Retry-After, nothing charged', async () => {
    const customer = await newCustomer();
    await send(customer);
    customer.clock.advance(100_000);
    await times(4, () => send(customer));
    const capped = await send(customer, '+976 9911 2233');
    expect([capped.status, capped.error?.code, capped.headers.get('retry-after')]).toEqual([
      429,
      'recipient_rate_limited',
      '500',
    ]);
    expect(await customer.balance()).toBe(99_950);
    expect(await customer.outbox()).toHaveLength(5);
    customer.clock.advance(499_999);
    expect((await send(customer)).headers.get('retry-after')).toBe('1');
    customer.clock.advance(1);
    expect((await send(customer)).status).toBe(200);
    expect((await send(customer)).headers.get('retry-after')).toBe('100');
  });

  it('[Limits recipient caps] 20 in 24 hours', async () => {
    const customer = await newCustomer();
    await times(4, async () => {
      await times(5, () => send(customer));
      customer.clock.advance(600_000);
    });
    const capped = await send(customer);
    expect([capped.status, capped.headers.get('retry-after')]).toEqual([429, String(86_400 - 2_400)]);
    customer.clock.advance((86_400 - 2_400) * 1_000);
    expect((await send(customer)).status).toBe(200);
  });

  it('[Limits recipient caps] SMS, email, recipients and projects count apart; verifications count in', async () => {
    const customer = await newCustomer();
    const { administration } = customer.service;
    const { id } = await administration.createProject('Other');
    const other = await (await administration.project(id))?.createKey();
    const mail = { to: 'bat@example.mn', subject: 'News', text };
    await times(4, () => send(customer));
    expect((await customer.post('/verify', { to: '99112233' })).status).toBe(201);
    expect((await send(customer)).status).toBe(429);
    expect((await customer.post('/verify', { to: '99112233' })).status).toBe(429);
    expect((await send(customer, '99112234')).status).toBe(200);
    expect(
      (await customer.post('/sms', { to: '99112233', text }, { apiKey: other?.secret ?? '' })).status,
    ).toBe(200);
    expect((await times(6, () => customer.post('/email', mail))).map(({ status }) => status)).toEqual([
      202, 202, 202, 202, 202, 429,
    ]);
  });

  it('[Limits recipient caps] batches, sends and verifications at once get no more than 5 through together', async () => {
    const customer = await newCustomer();
    const to = '99112233';
    const other = '88112233';
    const replies = await Promise.all([
      ...Array.from({ length: 3 }, () => send(customer, to)),
      ...Array.from({ length: 8 }, () => customer.post('/sms/bulk', { to: [to, other, `+976 ${to}`], text })),
      ...Array.from({ length: 4 }, () => send(customer, to)),
      ...Array.from({ length: 4 }, () => customer.post('/verify', { to })),
    ]);
    await customer.idle();
    const statuses = replies.map(({ status }) => status);
    expect(statuses.slice(3, 11)).toEqual(Array(8).fill(202));
    const singles = [...statuses.slice(0, 3), ...statuses.slice(11)];
    expect(singles.filter((status) => ![200, 201, 429].includes(status))).toEqual([]);
    expect(singles.filter((status) => status !== 429).length).toBeLessThanOrEqual(5);
    // One machine takes them in their order.
    if (!isOnPostgres()) expect(singles).toEqual([...Array(3).fill(200), ...Array(8).fill(429)]);
    expect([(await customer.outbox(to)).length, (await customer.outbox(other)).length]).toEqual([5, 5]);
    expect(await customer.balance()).toBe(99_900);
  });

  it('[Limits recipient caps] spellings of an address count together, and its tags up to the highest caps', async () => {
    const customer = await newCustomer();
    const mail = async (to: string) => (await customer.post('/email', { to, subject: 'News', text })).status;
    const spelled = ['bat@b.mn', 'BAT@b.mn', 'Bat@B.mn', 'bAt@b.mn', 'baT@b.mn'];
    expect(await times(6, (index) => mail(spelled[index] ?? 'BAt@b.mn'))).toEqual([
      ...Array(5).fill(202),
      429,
    ]);
    expect((await customer.post('/verify', { to: 'BaT@b.mn' })).status).toBe(429);
    expect(await times(16, (index) => mail(`bat+${index}@b.mn`))).toEqual([...Array(15).fill(202), 429]);
    await customer.idle();
    expect((await customer.outbox('BAT@b.mn')).map(({ to }) => to).sort()).toEqual(
      spelled.map((to) => to.replace('B.mn', 'b.mn')).sort(),
    );
    const batch = await customer.post('/email/bulk', {
      to: ['a@b.mn', 'A@b.mn', 'a@B.mn', 'a+1@b.mn', 'bat+x@b.mn'],
      subject: 'News',
      text,
    });
    expect(batch.body).toMatchObject({ total: 3 });
    expect((await customer.messagesOf(batch)).map(({ to, status }) => [to, status])).toEqual([
      ['a@b.mn', 'sent'],
      ['a+1@b.mn', 'sent'],
      ['bat+x@b.mn', 'failed'],
    ]);
  });

  it('[Limits recipient caps] failed and refunded messages do not count', async () => {
    const customer = await newCustomer();
    const statuses = (await times(7, () => send(customer, '99000001'))).map(({ status }) => status);
    expect(statuses).toEqual(Array(7).fill(502));
  });

  it('[States batch message over a cap] [Errors recipient_rate_limited] fails and is refunded, others proceed', async () => {
    const customer = await newCustomer();
    await times(5, () => send(customer));
    const batch = await customer.post('/sms/bulk', { to: ['99112233', '88112233'], text });
    expect(batch).toMatchObject({ status: 202, body: { credits: 20 } });
    expect(await customer.messagesOf(batch)).toMatchObject([
      { status: 'failed', credits: 0, error: { code: 'recipient_rate_limited' }, sent_at: null },
      { status: 'sent', credits: 10 },
    ]);
    expect(await customer.balance()).toBe(100_000 - 50 - 10);
    expect((await customer.get(`/batches/${batch.body.id}`)).body).toMatchObject({
      status: 'completed',
      sent: 1,
      failed: 1,
      credits: 20,
    });
  });

  it('[Limits recipient caps] follow the settings, up to 20 and 80', async () => {
    const customer = await newCustomer();
    const { settings } = customer.service.administration;
    await settings.update({ caps: { per_10_minutes: 20, per_24_hours: 80 } });
    const statuses = (await times(21, () => send(customer))).map(({ status }) => status);
    expect(statuses).toEqual([...Array(20).fill(200), 429]);
    for (const caps of [{ per_10_minutes: 21 }, { per_24_hours: 81 }, { per_10_minutes: 0 }]) {
      await expect(settings.update({ caps })).rejects.toMatchObject({ code: 'invalid_request' });
    }
    await settings.update({ caps: { per_10_minutes: 1 } });
    expect((await send(customer, '88112233')).status).toBe(200);
    expect((await send(customer, '88112233')).status).toBe(429);
  });
});

describe('size of a request', () => {
  it.each([
    [1_000_000, 202],
    [1_000_001, 413],
  ])('[Limits sizes] a body of %i bytes is %i', async (size, status) => {
    const { service } = await newCustomer();
    const start = '{"to":"bat@example.mn","subject":"News","text":"Hello"';
    const body = `${start}${' '.repeat(size - start.length - 1)}}`;
    const response = await service.fetch('http://service.test/v1/email', {
      method: 'POST',
      headers: { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(status);
  });
});
