import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
let data: string;
beforeEach(() => {
  data = join(machine.home, 'data');
});

const serve = (...options: string[]) => machine.serve(['--data', data, ...options]);

async function servedOnce(): Promise<void> {
  const { child, ended } = await serve();
  child.kill('SIGTERM');
  await ended;
}

const without = (name: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(data, name + suffix), { force: true });
};

describe('urtuu serve on data that is not whole', () => {
  it('starts with --accept-data, after a question that says what is forgotten', async () => {
    await servedOnce();
    const kept = readFileSync(join(data, 'installation.json'), 'utf8');
    without('service.db');
    const asked = await machine.run(['serve', '--port', '0', '--data', data, '--accept-data']);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toMatch(
      /service\.db is missing.*loses messages, balances, API keys and idempotency keys/s,
    );
    expect(readFileSync(join(data, 'installation.json'), 'utf8')).toBe(kept);

    const { child, ended, api_key, client } = await serve('--accept-data', '--yes');
    expect(api_key).toMatch(/^urtuu_/);
    expect((await machine.run(['balance', '-o', 'ndjson'], { env: client })).stdout).toBe(
      '{"balance":100000}\n',
    );
    child.kill('SIGTERM');
    expect((await ended).stderr).toMatch(/service\.db is missing/);
    await servedOnce();
  });

  it.skipIf(process.platform === 'win32')('refuses a folder that others can write to', async () => {
    mkdirSync(data);
    chmodSync(data, 0o777);
    const { code, stderr } = await machine.run(['serve', '--port', '0', '--data', data]);
    expect(code).toBe(13);
    expect(stderr).toContain(`chmod go-w '${data}'`);
    expect(stderr).not.toContain('--accept-data');
    expect(readdirSync(data)).toEqual([]);
  });
});

describe('the sandbox on data that is not whole', () => {
  it('says that its folder may be deleted', async () => {
    await machine.run(['balance', '--sandbox']);
    const folder = join(machine.home, 'state/urtuu/sandbox');
    rmSync(join(folder, 'secret'));
    const { code, stderr } = await machine.run(['balance', '--sandbox', '--json']);
    expect(code).toBe(13);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'data_refused',
        message: `the data in ${folder} is not whole: secret is missing`,
        forgotten: expect.stringMatching(/\w/),
        retryable: false,
        hint: expect.stringMatching(/Or delete the folder: nothing in it was sent to anyone\.$/),
      },
    });
  });
});

describe('data that is taken away from urtuu serve', () => {
  it.each([
    ['the folder moved', () => renameSync(data, `${data}.moved`)],
    ['service.db deleted', () => without('service.db')],
  ])('%s: it answers nothing as done any more, and ends with 13', async (_, take) => {
    const { ended, base_url, api_key } = await serve();
    take();
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ to: '99112233', text: 'Hi' });
    const sent = await fetch(`${base_url}/sms`, { method: 'POST', headers, body }).then(
      ({ status }) => status,
      () => 'gone',
    );
    expect(sent).not.toBe(200);
    const { code, stderr } = await ended;
    expect(code).toBe(13);
    expect(stderr).toMatch(/while the service was running/);
    expect(stderr).toMatch(/Put the files back/);
  });
});

describe('one folder in many processes', () => {
  it('serves while its owner works on it, and starts again after a kill', async () => {
    const { child, ended, client } = await serve();
    const owners = await Promise.all([
      machine.run(['keys', 'list', '--data', data]),
      machine.run(['sandbox', 'credit', '5', '--data', data]),
      machine.run(['sandbox', 'outbox', '--data', data]),
      machine.run(['sms', 'send', '99112233', 'Hi'], { env: client }),
    ]);
    expect(owners.map(({ code, stderr }) => ({ code, stderr: code === 0 ? '' : stderr }))).toEqual(
      owners.map(() => ({ code: 0, stderr: '' })),
    );
    child.kill('SIGKILL');
    await ended;
    const outbox = await machine.run(['sandbox', 'outbox', '--data', data, '-o', 'ndjson']);
    expect(outbox.stdout).toContain('99112233');
    await servedOnce();
  });

  it('a sandbox is used by 8 commands at once, from the first on', async () => {
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        machine.run(['sms', 'send', `9911223${index}`, 'Hi', '--sandbox', '-o', 'json']),
      ),
    );
    expect(runs.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(runs.map(() => '0 '));
    const { stdout } = await machine.run(['balance', '--sandbox', '-o', 'ndjson']);
    expect(stdout).toBe('{"balance":99920}\n');
  });
});

describe('the data of c7d7ad4', () => {
  it('opens with everything in it, once adopted, and keeps a copy of what it was', async () => {
    const fixture = join(root, 'test/fixtures/c7d7ad4');
    mkdirSync(join(machine.home, 'state'), { mode: 0o700 });
    execFileSync('tar', ['xzf', join(fixture, 'state.tar.gz'), '-C', join(machine.home, 'state')]);
    data = join(machine.home, 'state/urtuu/service');
    const { child, ended, base_url, api_key } = await serve();
    expect(api_key).toBeNull();
    const key = readFileSync(join(fixture, 'key.txt'), 'utf8').trim();
    const env = { URTUU_BASE_URL: base_url, URTUU_API_KEY: key };
    const again = ['sms', 'send', '99112233', 'Hi', '--idempotency-key', 'once', '-o', 'json'];
    const { stdout } = await machine.run(again, { env });
    expect(JSON.parse(stdout)).toMatchObject({ to: '99112233', status: 'sent' });
    child.kill('SIGTERM');
    expect((await ended).stderr).not.toMatch(/fault|whole/);
    expect(readdirSync(data)).toEqual(
      expect.arrayContaining(['service.db.schema-1', 'operator.db.schema-2']),
    );
    const line = ['sandbox', 'outbox', '--data', data, '--to', '99112233', '-o', 'ndjson'];
    const outbox = await machine.run(line);
    expect(outbox.stdout.trim().split('\n')).toHaveLength(1);
    expect((await machine.run(['sandbox', 'outbox', '--json'])).code).toBe(0);
  });
});
