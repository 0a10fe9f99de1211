import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf, printed, root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const tls = join(root, 'test/fixtures/tls');
const certificate = ['--tls-cert', join(tls, 'unknown-issuer.pem'), '--tls-key', join(tls, 'key.pem')];

const machine = emptyMachine();

describe('urtuu serve where nobody watches', () => {
  it('keeps its first key in a private file; speaks TLS; logs requests and shows metrics', async () => {
    const data = join(machine.home, 'data');
    const child = machine.start([
      ...[
        'serve',
        '--drain-time',
        '0',
        '--port',
        '0',
        '--data',
        data,
        '--log',
        'requests',
        '--trusted-proxy',
        '127.0.0.1',
        '--metrics-port',
        '0',
      ],
      ...certificate,
    ]);
    const ended = outcomeOf(child);
    const said = printed(child, 'stderr', /Metrics: .*\n/);
    const table = await printed(child, 'stdout', /data .*\n/);
    const notes = await said;
    const file = join(data, 'api-key');
    const key = readFileSync(file, 'utf8').trim();
    expect(key).toMatch(/^urtuu_\w{40}$/);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(table + notes).not.toContain(key.slice(0, 13));
    expect(notes).toContain(file);

    const url = /https:\/\/127\.0\.0\.1:\d+\/v1/.exec(table)?.[0] ?? '';
    const env = {
      URTUU_BASE_URL: url,
      URTUU_API_KEY: key,
      NODE_EXTRA_CA_CERTS: join(tls, 'ca.pem'),
    };
    const { code, stdout } = await machine.run(['sms', 'send', '99112233', 'Нууц 4711', '--value', 'id'], {
      env,
    });
    expect(code).toBe(0);
    await machine.run(['messages', 'get', stdout.trim()], { env });
    const wrong = { ...env, URTUU_API_KEY: `urtuu_${'A'.repeat(40)}` };
    await machine.run(['balance'], { env: wrong });
    await machine.run(['api', 'GET', '/v1/balance', '-H', 'X-Forwarded-For: 192.0.2.1, 192.0.2.7'], {
      env: wrong,
    });

    const metrics = /Metrics: (\S+)/.exec(notes)?.[1] ?? '';
    const page = await (await fetch(metrics)).text();
    expect(page).toContain(
      'urtuu_http_request_duration_seconds_count{route="POST /v1/sms",status="200"} 1\n',
    );
    expect(page).toContain('urtuu_refusals_total{code="unauthorized"} 2\n');
    expect(page).toContain('urtuu_messages_total{channel="sms",status="sent"} 1\n');
    expect((await fetch(metrics.replace('/metrics', '/v1/balance'))).status).toBe(404);

    child.kill('SIGTERM');
    const { stderr } = await ended;
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { method: 'POST', route: '/v1/sms', status: 200, key: key.slice(0, 12), code: null },
      { method: 'GET', route: '/v1/messages/:id', status: 200, key: key.slice(0, 12) },
      {
        method: 'GET',
        route: '/v1/balance',
        status: 401,
        key: null,
        code: 'unauthorized',
        client: '127.0.0.1',
      },
      { route: '/v1/balance', status: 401, client: '192.0.2.7' },
    ]);
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual([
      ...['time', 'request_id', 'method', 'route', 'status', 'ms', 'key', 'code', 'client'],
    ]);
    expect(stderr).not.toMatch(/99112233|4711|AAAA/);
    expect(stderr).not.toContain(key.slice(0, 13));
  });

  it('makes no key that it cannot keep, on the second start none either', async () => {
    const data = join(machine.home, 'data');
    for (const _ of [1, 2]) {
      const child = machine.start(['serve', '--drain-time', '0', '--port', '0', '--data', data]);
      const ended = outcomeOf(child);
      await printed(child, 'stderr', /--data .*\n/);
      child.kill('SIGTERM');
      await ended;
    }
    const { stdout } = await machine.run(['keys', 'list', '--data', data, '-o', 'ndjson']);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });
});

describe('/metrics on the main port', () => {
  it.each([
    ['127.0.0.1', 200],
    ['0.0.0.0', 404],
  ])('of %s is %i', async (host, status) => {
    const { child, ended, base_url } = await machine.serve(['--host', host]);
    const answer = await fetch(base_url.replace('/v1', '/metrics'));
    expect(answer.status).toBe(status);
    await answer.text();
    child.kill('SIGTERM');
    await ended;
  });
});

describe('a certificate that cannot be used', () => {
  it.each([
    [['--tls-cert', 'a.pem'], 2, 'must be used together'],
    [['--tls-cert', 'a.pem', '--tls-key', 'b.pem'], 13, 'cannot read'],
    [['--tls-cert', join(tls, 'key.pem'), '--tls-key', join(tls, 'key.pem')], 13, 'cannot use'],
  ])('%j ends with %i before anything is made', async (flags, code, message) => {
    const outcome = await machine.run(['serve', ...flags]);
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect((await machine.run(['keys', 'list'])).code).toBe(12);
  });

  it.skipIf(process.platform === 'win32').each(['certificate', 'key', 'secret'])(
    'such as a pipe for the %s ends with 13',
    async (what) => {
      const pipe = join(machine.home, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const cert = what === 'certificate' ? pipe : join(tls, 'self-signed.pem');
      const flags =
        what === 'secret'
          ? ['--database', 'postgres://127.0.0.1:1/x']
          : ['--tls-cert', cert, '--tls-key', pipe];
      const outcome = await machine.run(['serve', ...flags], { env: { URTUU_SECRET_FILE: pipe } });
      expect(outcome).toMatchObject({ code: 13, stderr: expect.stringContaining('is not a regular file') });
    },
  );

  it.each(['certificate', 'key'])('such as an empty %s ends with 13', async (what) => {
    const empty = join(machine.home, 'empty.pem');
    writeFileSync(empty, '');
    const [cert, key] = what === 'key' ? [join(tls, 'self-signed.pem'), empty] : [empty, empty];
    const outcome = await machine.run(['serve', '--tls-cert', cert, '--tls-key', key]);
    expect(outcome).toMatchObject({ code: 13, stderr: expect.stringContaining(`the ${what} is empty`) });
  });
});
