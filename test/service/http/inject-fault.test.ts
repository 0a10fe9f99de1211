import { describe, expect, it } from 'vitest';
import type { RequestFault } from '../../../src/service/fault-injection/faults.js';
import { batch, fakeOperations, openApp, request, sms } from './fake-operations.js';

const number = '99000001';
function setUp(fault: RequestFault) {
  const { operations, calls } = fakeOperations();
  const reports: unknown[] = [];
  const names = new Set<string>();
  const app = openApp(operations, {
    isFirst: async (name) => names.size < names.add(name).size,
    faultFor: (recipient) => (recipient === number ? fault : null),
    report: (error) => reports.push(error),
  });
  const post = (to: unknown, key: string | null, path = '/v1/sms') =>
    app.fetch(request(path, { body: { to, text: 'x' }, headers: { 'idempotency-key': key } }));
  const sent = () => calls.length;
  return { post, sent, reports };
}

describe('faults on demand', () => {
  it.each<[RequestFault, number]>([
    ['drop_before', 0],
    ['drop_after', 1],
  ])('%s rejects like a failed fetch, with %d sent', async (fault, sentThen) => {
    const { post, sent, reports } = setUp(fault);
    await expect(post(number, 'k')).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    });
    expect(sent()).toBe(sentThen);
    expect(reports).toEqual([]);
    const repeat = await post(number, 'k');
    expect(repeat.status).toBe(200);
    expect(repeat.headers.get('idempotency-replayed')).toBe(sentThen === 1 ? 'true' : null);
    expect(await repeat.json()).toEqual(sms);
    expect(sent()).toBe(1);
  });

  it.each<[RequestFault, number, string | null]>([
    ['answer_500', 500, 'unavailable'],
    ['answer_429', 429, 'rate_limited'],
    ['answer_html', 502, null],
  ])('%s answers %d once and sends nothing', async (fault, status, code) => {
    const { post, sent } = setUp(fault);
    const first = await post(number, 'k');
    expect(first.status).toBe(status);
    expect(first.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    expect(first.headers.get('x-request-id')).toBeTruthy();
    if (code === null) expect(await first.text()).toContain('<html>');
    else expect(await first.json()).toMatchObject({ error: { code } });
    expect(sent()).toBe(0);
    expect((await post(number, 'k')).status).toBe(200);
  });

  it('break every request that carries no key', async () => {
    const { post, sent } = setUp('answer_500');
    expect((await post(number, null)).status).toBe(500);
    expect((await post(number, null)).status).toBe(500);
    expect(sent()).toBe(0);
  });

  it('break a batch that holds such a recipient, and leave the others alone', async () => {
    const { post } = setUp('answer_500');
    expect((await post(['99112233', number], 'k', '/v1/sms/bulk')).status).toBe(500);
    expect(await (await post(['99112233', number], 'k', '/v1/sms/bulk')).json()).toEqual(batch);
    expect((await post('99112233', 'k2')).status).toBe(200);
  });

  it('come after the field rules', async () => {
    const { post } = setUp('drop_before');
    expect((await post([number], 'k')).status).toBe(400);
  });
});
