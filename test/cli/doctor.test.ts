import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../support/folders.js';
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
    const down = await examine(new Error('down'));
    expect(down).toMatchObject({ code: 5 });
    for (const check of ['clock', 'rate'])
      expect(down.of(check)).toMatchObject({ status: 'unknown', detail: 'the service did not answer' });
    const silent = await examine({ body: { balance: 5 } });
    expect(silent).toMatchObject({ code: 0, stderr: '' });
    expect(silent.of('clock')).toMatchObject({ status: 'unknown', detail: 'the service sends no time' });
    expect(silent.of('rate')).toMatchObject({ status: 'unknown', detail: 'the service sends no rate limit' });
    expect((await examine(well, { nodeVersion: 'v18.20.0' })).code).toBe(13);
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'http://sms.example.mn/v1' };
    expect(await examine(well, { env })).toMatchObject({ code: 2 });
  });

  it('names the kind of installation and its Node.js', async () => {
    const setting = { nodeVersion: 'v26.10.0', script: '/home/bat/.local/bin/urtuu' };
    expect((await examine(well, setting)).of('node')?.detail).toBe('v26.10.0, executable');
  });

  it('calls only private what it has checked', async () => {
    for (const platform of ['linux', 'win32'] as const) {
      const home = testFolder();
      mkdirSync(join(home, 'urtuu'), { mode: 0o700 });
      const env = { URTUU_API_KEY: testKey, XDG_STATE_HOME: home };
      const { of } = await examine(well, { platform, env });
      expect(of('data')?.detail).toBe(`${join(home, 'urtuu')}${platform === 'linux' ? ', private' : ''}`);
    }
  });

  it('looks at everything a send needs, in this order', async () => {
    const { stdout } = await run(
      'doctor --json',
      fakeService(() => well),
    );
    expect(JSON.parse(stdout).map(({ check }: { check: string }) => check)).toEqual([
      'node',
      'config',
      'data',
      'base url',
      'key',
      'service',
      'clock',
      'rate',
    ]);
  });

  it('ends with what failed, and with what to do about it', async () => {
    const { stderr } = await run('doctor', { env: {} });
    expect(stderr).toBe(
      'urtuu: 1 of 5 checks failed: key\n  Set URTUU_API_KEY, add --sandbox to try without one, or run: urtuu login\n',
    );
    const two = await run('doctor', { env: {}, nodeVersion: 'v18.0.0' });
    expect(two.stderr).toContain('key: Set URTUU_API_KEY');
    expect(two.stderr).toContain('2 of 5 checks failed: node, key\n  Install Node.js 20');
    const program = await run('doctor --json', { env: {} });
    expect(JSON.parse(program.stderr).error).toMatchObject({ code: 'unwell', exit: 4, failed: ['key'] });
  });

  it('fits a terminal of 80 columns as a table, its hints below', async () => {
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'http://127.0.0.1:1/' };
    const { stdout, stderr } = await run('doctor --no-color', {
      ...fakeService(() => well),
      env,
      terminal: 80,
      home: '/home/bat',
    });
    expect(stdout).toMatch(/^CHECK {5}STATUS {3}DETAIL$/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stderr).toBe('base url: The base URL of a service usually ends in /v1.\n');
  });

  it.skipIf(process.platform === 'win32')('warns of data that others can read, and of a config', async () => {
    const home = testFolder();
    const state = join(home, '.local/state/urtuu');
    mkdirSync(state, { recursive: true });
    chmodSync(state, 0o755);
    expect((await examine(well, { home })).of('data')).toMatchObject({ status: 'warning' });
    chmodSync(state, 0o700);
    expect((await examine(well, { home })).of('data')).toMatchObject({ status: 'ok' });
    const config = join(home, '.config/urtuu');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.json'), '{"profiles": {}}');
    chmodSync(join(config, 'config.json'), 0o644);
    const open = await examine(well, { home });
    expect(open).toMatchObject({ code: 13 });
    expect(open.of('config')).toMatchObject({ status: 'failed' });
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

  it('tells once of a base URL that is none', async () => {
    const env = { URTUU_API_KEY: testKey, URTUU_BASE_URL: 'ftp://example.mn' };
    const { stderr } = await run('doctor', { ...fakeService(() => well), env });
    expect(stderr).toMatch(/^urtuu: 1 of 4 checks failed: base url\n {2}Example: https:.*\n$/);
  });
});
