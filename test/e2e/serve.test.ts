import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine, outcomeOf, printed } from '../support/binary.js';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

describe('urtuu serve', () => {
  it('says that its port is in use, and ends with 13', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await machine.run(['serve', '--port', String(port)]);
    other.close();
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: address in use`);
    expect(code).toBe(13);
  });

  it.each([
    ['0.0.0.0', true],
    ['127.0.0.1', false],
  ])('on %s warns of clear text: %s; its URL can be used as printed', async (host, warns) => {
    const child = machine.start(['serve', '--host', host, '--port', '0', '-o', 'ndjson']);
    const ended = outcomeOf(child);
    const { base_url, api_key } = JSON.parse(await printed(child, 'stdout', /\n/));
    const env = { URTUU_BASE_URL: base_url, URTUU_API_KEY: api_key };
    const { stdout } = await machine.run(['balance', '-o', 'ndjson'], { env });
    expect(JSON.parse(stdout)).toEqual({ balance: 100_000 });
    child.kill('SIGTERM');
    expect((await ended).stderr.includes('without TLS')).toBe(warns);
  });

  it('names the commands that show its messages and its dashboard, for a terminal in any folder', async () => {
    const child = machine.start(['serve', '--port', '0', '--data', 'data'], { cwd: machine.home });
    const ended = outcomeOf(child);
    const stderr = await printed(child, 'stderr', /dashboard --data .*\n/);
    const [, folder = ''] = / of --sandbox: urtuu sandbox outbox --follow --data (\S+)\n/.exec(stderr) ?? [];
    expect(isAbsolute(folder)).toBe(true);
    expect(stderr).toContain(`Its dashboard: urtuu dashboard --data ${folder}\n`);
    child.kill('SIGTERM');
    await ended;
  });
});

describe('--data of a folder without a service', () => {
  it.each(['sandbox outbox', 'sandbox credit 5', 'sandbox reset --yes', 'keys list', 'keys create'])(
    'urtuu %s ends with 12 and makes nothing',
    async (line) => {
      const folder = join(machine.home, 'nosuch');
      const { code, stdout, stderr } = await machine.run([...line.split(' '), '--data', folder]);
      expect({ code, stdout }).toEqual({ code: 12, stdout: '' });
      expect(stderr).toContain(folder);
      expect(existsSync(folder)).toBe(false);
    },
  );
});
