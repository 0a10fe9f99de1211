import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isApiKey } from '../../src/contract/index.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();

const newKey = async () => (await machine.run(['keys', 'example'])).stdout.trim();

describe('urtuu serve with URTUU_SANDBOX_KEY', () => {
  it('takes that key for everything, and writes it nowhere', async () => {
    const key = await newKey();
    expect(isApiKey(key)).toBe(true);
    expect(await newKey()).not.toBe(key);
    const given = { env: { URTUU_SANDBOX_KEY: `${key}\n` } };
    const { child, ended, base_url } = await machine.serve(['--log', 'requests'], given);
    const env = { URTUU_BASE_URL: base_url, URTUU_API_KEY: key };
    const sent = await machine.run(['sms', 'send', '99112233', 'Hi'], { env });
    expect(sent.code).toBe(0);
    const outbox = await machine.run(['api', 'GET', '/v1/outbox?to=99112233', '--json'], { env });
    expect(JSON.parse(outbox.stdout)).toMatchObject({ data: [{ text: 'Hi' }], next: null });
    const metrics = await (await fetch(base_url.replace(/v1$/, 'metrics'))).text();
    child.kill('SIGTERM');
    const { stdout, stderr } = await ended;
    expect(stderr).toContain('/v1/outbox');
    const files = readdirSync(machine.home, { recursive: true, encoding: 'utf8' })
      .map((name) => join(machine.home, name))
      .filter((path) => statSync(path).isFile());
    const written = files.map((path) => readFileSync(path, 'latin1'));
    expect(written.length).toBeGreaterThan(3);
    for (const text of [...written, stdout, stderr, metrics, sent.stdout, sent.stderr, outbox.stderr])
      expect(text).not.toContain(key.slice(12));
  });

  it('refuses a text of another form with 2, without showing it', async () => {
    const key = await newKey();
    const wrong = key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const data = join(machine.home, 'data');
    const { code, stdout, stderr } = await machine.run(['serve', '--port', '0', '--data', data], {
      env: { URTUU_SANDBOX_KEY: wrong },
    });
    expect([code, stdout]).toEqual([2, '']);
    // That command takes no data.
    expect(stderr).toMatch(/URTUU_SANDBOX_KEY is not a key\n {2}Print one with: urtuu keys example\n/);
    expect(stderr).not.toContain(wrong.slice(12));
  });

  it('refuses carriers with 13, and data that was ever served with one; without the variable it starts', async () => {
    const file = join(machine.home, 'service.json');
    const email = { smtp: 'smtp://127.0.0.1:1', from: 'a@example.mn' };
    writeFileSync(file, JSON.stringify({ sms: 'off', email }));
    const env = { URTUU_SANDBOX_KEY: await newKey() };
    const refused = () => machine.run(['serve', '--port', '0', '--config', file], { env });
    expect(await refused()).toMatchObject({ code: 13, stdout: '' });
    const { child, ended } = await machine.serve(['--config', file]);
    child.kill('SIGTERM');
    await ended;
    for (const options of [['--config', file], []]) {
      const { code, stderr } = await machine.run(['serve', '--port', '0', ...options], { env });
      expect(code).toBe(13);
      expect(stderr).toMatch(/has, or had, carriers[\s\S]*without URTUU_SANDBOX_KEY/);
      expect(stderr).not.toContain(env.URTUU_SANDBOX_KEY.slice(12));
    }
  });
});
