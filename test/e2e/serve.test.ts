import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf, printed, root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();

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
    const { child, ended, client } = await machine.serve(['--host', host]);
    const { stdout } = await machine.run(['balance', '-o', 'ndjson'], { env: client });
    expect(JSON.parse(stdout)).toEqual({ balance: 100_000 });
    child.kill('SIGTERM');
    expect((await ended).stderr.includes('without TLS')).toBe(warns);
  });

  it('prints each warning to a program at once, as a line of JSON', async () => {
    const child = machine.start([
      'serve',
      '--drain-time',
      '0',
      '--host',
      '0.0.0.0',
      '--port',
      '0',
      '-o',
      'ndjson',
    ]);
    const stderr = await printed(child, 'stderr', /\n/);
    expect(JSON.parse(stderr)).toEqual({ warnings: [expect.stringContaining('without TLS')] });
    child.kill('SIGKILL');
  });

  it('answers though its files are gone, as where its package is updated', async () => {
    for (const each of ['bin', 'dist', 'package.json']) {
      cpSync(join(root, each), join(machine.home, each), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(machine.home, 'node_modules'), 'junction');
    const binary = join(machine.home, 'bin/urtuu.js');
    const { base_url, api_key } = await machine.serve([], { binary });
    rmSync(join(machine.home, 'dist'), { recursive: true });
    const answerOf = (path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      return fetch(base_url + path, { headers, ...sent });
    };
    const sms = { to: '99112233', text: 'Hello' };
    const answers = [
      await answerOf('/messages?limit=5'),
      await answerOf('/messages?limit=x'),
      await answerOf('/batches'),
      await answerOf('/batches/none/messages'),
      await answerOf('/sms', sms),
      await answerOf('/sms/bulk', { ...sms, to: [sms.to] }),
      await answerOf('/email', { to: 'bat@example.mn', subject: 'Hello', text: 'Hello' }),
      await answerOf('/verify', { to: sms.to }),
      await answerOf('/balance'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200, 404, 200, 202, 202, 201, 200]);
  });

  it('prints the command that saves its first key, which leaves other profiles alone', async () => {
    const start = async (folder: string) => {
      const child = machine.start([
        'serve',
        '--drain-time',
        '0',
        '--port',
        '0',
        '--data',
        join(machine.home, folder),
      ]);
      const [, line = ''] =
        /^To use it: (.*)$/m.exec(await printed(child, 'stderr', /^To use it: .*\n/m)) ?? [];
      const pasted = spawnSync(
        'bash',
        ['-c', `urtuu() { '${process.execPath}' '${root}/bin/urtuu.js' "$@"; }; ${line}`],
        {
          env: machine.environment(),
          encoding: 'utf8',
        },
      );
      expect(pasted).toMatchObject({ status: 0, stderr: '' });
      const balance = await machine.run(['balance', '--json']);
      expect(JSON.parse(balance.stdout)).toEqual({ balance: 100_000 });
      child.kill('SIGTERM');
      return line;
    };
    expect(await start('one')).not.toContain('--profile');
    expect(await start('two')).toContain('--profile local --use');
    const { stdout } = await machine.run(['profiles', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'default', current: false },
      { name: 'local', current: true },
    ]);
    expect(await start('three')).toContain('--profile local-2 --use');
  });

  it('names the commands that show its messages and its dashboard, for a terminal in any folder', async () => {
    const child = machine.start(['serve', '--drain-time', '0', '--port', '0', '--data', 'data'], {
      cwd: machine.home,
    });
    const ended = outcomeOf(child);
    const stderr = await printed(child, 'stderr', /dashboard --data .*\n/);
    const [, folder = ''] =
      /To see its messages: urtuu sandbox outbox --follow --data (\S+)\n/.exec(stderr) ?? [];
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
