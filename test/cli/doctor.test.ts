import { describe, expect, it } from 'vitest';
import { fakeService, type Reply, refusal, run, testKey } from '../support/run.js';

const well: Reply = {
  body: { balance: 5 },
  headers: {
    Date: 'Sat, 21 Nov 2026 00:00:00 GMT',
    'X-RateLimit-Limit': '10',
    'X-RateLimit-Remaining': '9',
  },
};
const examine = async (answer: Reply | Error, setting = {}) => {
  const { fetch } = fakeService(() => answer);
  const { code, stdout, stderr } = await run('doctor --json --max-retries 0', { fetch, ...setting });
  const found: { check: string; status: string; detail: string }[] = JSON.parse(stdout);
  return { code, stderr, of: (check: string) => found.find((each) => each.check === check) };
};

describe('urtuu doctor', () => {
  it('finds all well, and sends nothing', async () => {
    const service = fakeService(() => well);
    const { code, stdout } = await run('doctor', service);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/failed|warning/);
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /balance']);
  });

  it('says which thing fails, and ends with its code', async () => {
    const noKey = await examine(well, { env: {} });
    expect(noKey).toMatchObject({ code: 4 });
    expect(noKey.of('key')?.status).toBe('failed');
    expect(noKey.of('service')).toBeUndefined();
    const refused = await examine(refusal(401, 'unauthorized'));
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.of('service')?.status).toBe('failed');
    expect(await examine(new Error('down'))).toMatchObject({ code: 5 });
    expect((await examine(well, { nodeVersion: 'v18.20.0' })).code).toBe(13);
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'http://sms.example.mn/v1' };
    expect(await examine(well, { env })).toMatchObject({ code: 2 });
  });

  it('warns of a clock that is off, an allowance that is used up, a base URL without its version', async () => {
    const late = { ...well, headers: { ...well.headers, Date: 'Fri, 20 Nov 2026 23:50:00 GMT' } };
    expect((await examine(late)).of('clock')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('600 s ahead'),
    });
    const busy = { ...well, headers: { ...well.headers, 'X-RateLimit-Remaining': '0' } };
    expect((await examine(busy)).of('rate')).toMatchObject({ status: 'warning' });
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'http://127.0.0.1:1/' };
    const bare = await examine(well, { env });
    expect(bare).toMatchObject({ code: 0 });
    expect(bare.of('base url')).toMatchObject({ status: 'warning' });
  });
});
