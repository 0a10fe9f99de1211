import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Machine, type Outcome, outcomeOf, printed, root } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { batchResult, pricing, smsResult } from '../support/resources.js';
import { pty, Terminal } from '../terminal/pseudoterminal.js';

/** A user whom the system does not know; only root can become one. */
const stranger = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};

let server: Loopback;
let folder: string;
/** A copy that every user can read, as the package of an image is. */
let binary: string;
let settings: NodeJS.ProcessEnv;
beforeAll(async () => {
  server = await Loopback.listen(({ path, body }, response) => {
    if (path.endsWith('/balance')) return json(response, 200, { balance: 900 });
    if (path.endsWith('/pricing')) return json(response, 200, pricing);
    const { to } = JSON.parse(body);
    const batch = batchResult({ total: to.length, balance: 890 });
    json(response, 200, Array.isArray(to) ? batch : smsResult({ to, balance: 890 }));
  });
  folder = mkdtempSync(join(tmpdir(), 'urtuu-around-'));
  chmodSync(folder, 0o755);
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(root, part), join(folder, 'app', part), { recursive: true });
  }
  binary = join(folder, 'app/bin/urtuu.js');
  writeFileSync(join(folder, 'list.csv'), 'phone\n99112233\n88112233\n');
  settings = { URTUU_API_KEY: 'k', URTUU_BASE_URL: `${server.origin}/v1` };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command as `env -i` would, with nothing but what is given. */
async function run(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  options: SpawnOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [binary, ...args], {
    cwd: folder,
    env: { ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  return outcomeOf(child);
}

const bulk = ['sms', 'bulk', 'list.csv', '--text', 'hi', '--yes', '--json'];
const told = /^urtuu: [^\n]+\n {2}[^\n]+\n$/;

/** A user whom the system knows would have the home of passwd: that of whoever runs the tests. */
const withoutHome: [string, NodeJS.ProcessEnv][] = [
  ['a user without an entry in passwd and without HOME', {}],
  ['an empty HOME', { HOME: '' }],
];

describe.each([
  ...('uid' in stranger ? withoutHome : []),
  ['a HOME that is not there', { HOME: '/nonexistent' }],
  ['a HOME that cannot be written', { HOME: '/' }],
] satisfies [string, NodeJS.ProcessEnv][])('%s', (_, env) => {
  it('sends and looks up all the same', async () => {
    for (const args of [
      ['--version'],
      ['--help'],
      ['sms', 'send', '--help'],
      ['balance'],
      ['sms', 'send', '99112233', 'hi'],
      ['profiles', 'list'],
      ['completion', 'bash'],
      ['__complete', '--', 'messages', 'get', ''],
    ]) {
      const { code, stderr } = await run(args, env, stranger);
      expect({ args, code, stderr }).toMatchObject({ args, code: 0 });
      expect(stderr).not.toContain('at ');
    }
  });

  it.runIf('uid' in stranger)('refuses only what has to keep something, and names the way out', async () => {
    for (const args of [
      bulk.slice(0, -1),
      ['jobs', 'resume', 'x'],
      ['balance', '--sandbox'],
      ['serve', '--port', '0'],
    ]) {
      const { code, stdout, stderr } = await run(args, env, stranger);
      if (args[1] === 'resume' && code === 12) continue;
      expect({ args, code, stdout }).toEqual({ args, code: 13, stdout: '' });
      expect(stderr).toMatch(told);
      expect(stderr).toContain('XDG_STATE_HOME');
    }
    expect(server.requests.filter(({ body }) => body.includes('["99112233"'))).toEqual([]);
  });
});

/** Runs in a mount namespace of its own in which a folder is read-only, as the root of a container is. */
const readOnly = (path: string) => [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"',
  'sh',
  path,
];
const canMount =
  'uid' in stranger && spawnSync('unshare', readOnly(tmpdir()).slice(1).concat('true')).status === 0;

describe.runIf(canMount)('a read-only root', () => {
  async function inside(args: string[]): Promise<Outcome> {
    const home = join(folder, 'read-only');
    mkdirSync(home, { recursive: true });
    const [file = '', ...words] = [...readOnly(folder), process.execPath, binary, ...args];
    const env = { ...settings, HOME: home, PATH: process.env.PATH };
    return outcomeOf(spawn(file, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  it('lets everything pass that keeps nothing', async () => {
    for (const args of [['balance'], ['sms', 'send', '99112233', 'hi'], ['--help'], ['jobs', 'list']]) {
      const { code, stderr } = await inside(args);
      expect({ args, code, stderr }).toMatchObject({ args, code: 0 });
    }
  });

  it('refuses a job before anything is sent, and names the way out', async () => {
    const before = server.requests.length;
    for (const args of [bulk.slice(0, -1), ['balance', '--sandbox']]) {
      const { code, stderr } = await inside(args);
      expect({ args, code }).toEqual({ args, code: 13 });
      expect(stderr).toMatch(told);
      expect(stderr).toContain('XDG_STATE_HOME');
    }
    expect(server.requests.slice(before).filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

describe.runIf(canMount)('the first process of a container', () => {
  it('ends at once when the container is stopped, with the code that a shell would show', async () => {
    const state = join(folder, 'first');
    mkdirSync(state);
    const isolate = ['--pid', '--fork', '--mount-proc'];
    const serve = [process.execPath, join(root, 'bin/urtuu.js'), 'serve', '--drain-time', '0', '--port', '0'];
    const container = spawn('unshare', [...isolate, ...serve], {
      env: { PATH: process.env.PATH, XDG_STATE_HOME: state },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = outcomeOf(container);
    await printed(container, 'stdout', /base url/);
    const [first] = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGTERM');
    expect(await ended).toMatchObject({ code: 143 });
  });
});

describe('a user whom the system does not know', () => {
  it.runIf('uid' in stranger)('sends a job where XDG_STATE_HOME names a folder', async () => {
    const state = join(folder, 'state');
    mkdirSync(state);
    chmodSync(state, 0o777);
    const { code, stdout } = await run(bulk, { XDG_STATE_HOME: state }, stranger);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ planned: 2, accepted: 2 });
  });

  it.runIf('uid' in stranger)(
    'is told by doctor that there is no home, and that the rest works',
    async () => {
      const { code, stdout } = await run(['doctor', '--json'], {}, stranger);
      expect(code).toBe(0);
      const checks = JSON.parse(stdout) as { check: string; status: string; hint: string | null }[];
      expect(checks.find(({ check }) => check === 'data')).toMatchObject({
        status: 'warning',
        hint: expect.stringContaining('XDG_STATE_HOME'),
      });
      expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
    },
  );

  it.runIf('uid' in stranger)('is told where a profile can be kept', async () => {
    const { code, stderr } = await run(['login', '--api-key-file', '/dev/null'], {}, stranger);
    expect(code).toBe(4);
    writeFileSync(join(folder, 'key'), 'a-key');
    const refused = await run(['login', '--api-key-file', 'key'], {}, stranger);
    expect(refused).toMatchObject({ code: 13, stderr: expect.stringMatching(told) });
    expect(refused.stderr).toContain('XDG_CONFIG_HOME');
    expect(stderr).not.toContain('at ');
  });
});

describe.runIf(process.platform === 'linux')('a current folder that was deleted', () => {
  async function nowhere(args: string[]): Promise<Outcome> {
    const gone = mkdtempSync(join(folder, 'gone-'));
    const line = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    const child = spawn('/bin/sh', ['-c', line, 'sh', gone, process.execPath, binary, ...args], {
      env: { ...settings, HOME: join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return outcomeOf(child);
  }

  it('does not matter to what needs none', async () => {
    for (const args of [
      ['--version'],
      ['balance'],
      ['sms', 'send', '99112233', 'hi'],
      ['sms', 'bulk', join(folder, 'list.csv'), '--text', 'hi', '--yes'],
    ]) {
      const { code, stderr } = await nowhere(args);
      expect({ args, code, stderr }).toMatchObject({ args, code: 0 });
    }
  });

  it('is named where a file of it is asked for', async () => {
    const { code, stdout, stderr } = await nowhere(bulk.slice(0, -1));
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toMatch(/^urtuu: the current folder does not exist any more\n {2}.*cd.*\n$/);
  });
});

describe('an old Node.js', () => {
  const old = (version: string) => {
    const file = join(folder, `${version}.cjs`);
    writeFileSync(
      file,
      `Object.defineProperty(process, 'version', { value: 'v${version}' });
       Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    return file;
  };

  it.each([[['--version']], [['sms', 'send', '99112233', 'hi']], [['--help']], [[]]])(
    'is told which one is needed and which one runs, whatever the command: %j',
    async (args) => {
      const before = server.requests.length;
      const child = spawn(process.execPath, ['-r', old('18.20.8'), binary, ...args], { env: settings });
      expect(await outcomeOf(child)).toEqual({
        code: 13,
        signal: null,
        stdout: '',
        stderr:
          'urtuu: Node.js 20 or newer is needed; this is v18.20.8\n  Install a newer one: https://nodejs.org\n',
      });
      expect(server.requests.length).toBe(before);
    },
  );

  it('is one below what the package names, and the file that says so has no new words', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const text = readFileSync(join(root, 'bin/urtuu.js'), 'utf8');
    expect(engines.node).toBe(`>=${/oldest = (\d+)/.exec(text)?.[1]}`);
    expect(text).not.toMatch(/\?\.|\?\?|\|\|=|\bimport\b|\basync\b|\d_\d/);
  });
});

describe.runIf(process.platform !== 'win32')('a hang-up', () => {
  /** A service that answers when told, and the first request. */
  async function slowService() {
    let answer = () => {};
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const service = await Loopback.listen((_, response) => {
      answer = () => json(response, 200, { balance: 900 });
      arrived();
    });
    const env = { HOME: folder, URTUU_API_KEY: 'k', URTUU_BASE_URL: `${service.origin}/v1` };
    return {
      asked,
      env,
      answer: () => answer(),
      [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
    };
  }

  it('does not stop a command that has no terminal, as under nohup', async () => {
    await using slow = await slowService();
    const child = spawn(process.execPath, [binary, 'balance'], {
      env: slow.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const outcome = outcomeOf(child);
    await slow.asked;
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    slow.answer();
    expect(await outcome).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  it.skipIf(pty === null)('ends a command that has a terminal, by that signal', async () => {
    await using slow = await slowService();
    const machine = new Machine();
    const terminal = new Terminal(machine, ['balance'], { env: slow.env });
    await slow.asked;
    process.kill(terminal.pid, 'SIGHUP');
    expect(await terminal.ended).toMatchObject({ signal: 'SIGHUP' });
    machine.remove();
  });
});

describe('each address of a host has 2.5 s to answer', () => {
  const words = (hook: string) => ({ NODE_OPTIONS: `--require ${hook}` });
  it.each([
    ['a request', ['balance']],
    ['carriers', ['service', 'check', '--config', 'service.json']],
  ])('for %s', async (_, args) => {
    const machine = new Machine();
    onTestFinished(() => machine.remove());
    const hook = join(machine.home, 'hook.cjs');
    const seen = join(machine.home, 'seen');
    writeFileSync(
      hook,
      `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(seen)}, String(require('net').getDefaultAutoSelectFamilyAttemptTimeout())));`,
    );
    writeFileSync(join(machine.home, 'service.json'), '{}');
    await machine.run(args, { cwd: machine.home, env: { ...settings, ...words(hook) } });
    expect(readFileSync(seen, 'utf8')).toBe('2500');
  });
});
