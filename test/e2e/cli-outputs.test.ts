import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, outcomeOf, root } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { smsMessage, smsResult } from '../support/resources.js';
import { testKey } from '../support/run.js';

const isLinux = process.platform === 'linux';
const binary = `${process.execPath} ${root}/bin/urtuu.js`;

let machine: Machine;
let server: Loopback;
beforeAll(async () => {
  machine = new Machine();
  server = await Loopback.listen(({ method, path }, response) => {
    const id = path.split('/').at(-1);
    if (path.endsWith('/balance')) return json(response, 200, { balance: 5 });
    json(response, 200, method === 'POST' ? smsResult() : smsMessage({ id: id ?? '' }));
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  machine.remove();
});

/** Runs a line of shell in which `urtuu` is the real command. */
async function shell(line: string, env: NodeJS.ProcessEnv = {}) {
  const before = server.requests.length;
  const script = `urtuu() { ${binary} "$@"; }\n${line}`;
  const child = spawn('bash', ['-c', script], {
    cwd: machine.home,
    env: {
      ...machine.environment({ URTUU_API_KEY: testKey, URTUU_BASE_URL: `${server.origin}/v1` }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outcome = await outcomeOf(child);
  return { ...outcome, requests: server.requests.length - before };
}

const send = 'urtuu sms send 99112233 hi';
const many = `urtuu messages get ${Array.from({ length: 30 }, (_, index) => `m${index}`).join(' ')}`;

describe.runIf(isLinux)('where standard output cannot be written', () => {
  it.each([
    // A closed one is opened by Node.js as /dev/null: nobody wanted to read.
    [`${send} >&-`, 0, 1],
    ['urtuu balance >&-', 0, 1],
    ['urtuu --version >&-', 0, 0],
    ['urtuu --help >&-', 0, 0],
    [`${send} > /dev/full`, 13, 1],
    ['urtuu balance > /dev/full', 13, 1],
    ['urtuu balance --json > /dev/full', 13, 1],
    ['urtuu --version > /dev/full', 13, 0],
    ['urtuu help jobs > /dev/full', 13, 0],
    ['urtuu sms send --help > /dev/full', 13, 0],
    ['urtuu completion bash > /dev/full', 13, 0],
    // What went wrong before goes before the disk.
    ['urtuu balance --min 10 > /dev/full', 7, 1],
  ])('%s ends with %i', async (line, code, requests) => {
    const outcome = await shell(line);
    expect(outcome).toMatchObject({ code, signal: null, requests });
    expect(outcome.stderr).not.toMatch(/at .*\.cjs|node:internal/);
    if (code === 13) expect(outcome.stderr).toMatch(/^urtuu: standard output could not be written: E\w+\n/m);
  });
});

describe.runIf(isLinux)('where standard error cannot be written', () => {
  it.each([
    [`${send} 2>&-`, 0, 1],
    [`${send} -v 2>&-`, 0, 1],
    [`${send} -v 2> /dev/full`, 0, 1],
    ['urtuu balance --min 10 2>&-', 7, 1],
    ['urtuu balance --min 10 2> /dev/full', 7, 1],
    ['urtuu nope 2>&-', 2, 0],
    ['urtuu balance >&- 2>&-', 0, 1],
  ])('%s ends with %i all the same', async (line, code, requests) => {
    expect(await shell(line)).toMatchObject({ code, signal: null, requests });
  });
});

describe('a reader who leaves', () => {
  it.each([
    `${many} -o ndjson | head -1; echo \${PIPESTATUS[0]}`,
    `${many} -o csv | head -1 > /dev/null; echo \${PIPESTATUS[0]}`,
    `${many} | head -1 > /dev/null; echo \${PIPESTATUS[0]}`,
    `urtuu --help | head -1 > /dev/null; echo \${PIPESTATUS[0]}`,
    `urtuu help jobs | true; echo \${PIPESTATUS[0]}`,
    `urtuu balance | true; echo \${PIPESTATUS[0]}`,
  ])('ends a read with 0 and without a word: %s', async (line) => {
    const { stdout, stderr } = await shell(line);
    expect(stdout).toMatch(/(?:^|\n)0\n$/);
    expect(stderr).toBe('');
  });

  it('never stops a send', async () => {
    const { stdout, requests } = await shell(`${send} | true; echo \${PIPESTATUS[0]}`);
    expect({ stdout, requests }).toEqual({ stdout: '0\n', requests: 1 });
  });

  it('does not stop a bulk send', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => `99119${String(index).padStart(3, '0')},n${index}`);
    const list = `printf 'phone,name\\n${rows.join('\\n')}\\n'`;
    const line = `${list} | urtuu --sandbox sms bulk - --text 'Hi {name}' --yes | true; echo \${PIPESTATUS[1]}`;
    expect((await shell(line)).stdout).toBe('0\n');
    const outbox = await shell('urtuu sandbox outbox -o ndjson');
    expect(outbox.stdout.trim().split('\n')).toHaveLength(30);
  });
});

describe('the environment', () => {
  const bare = { XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined, HOME: undefined, PATH: undefined };

  it.each([
    ['in the C locale', { LC_ALL: 'C', LANG: 'C' }],
    ['in POSIX', { LC_ALL: 'POSIX' }],
    ['with a locale that does not exist', { LC_ALL: 'xx_XX.KOI8-R' }],
    ['on a dumb terminal', { TERM: 'dumb' }],
    ['in CI', { CI: 'true' }],
  ])('is the same %s: Cyrillic goes out as it came in', async (_, env) => {
    const { code, stdout } = await shell("urtuu sms send 99112233 'Сайн уу' --json", env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'sent' });
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({ to: '99112233', text: 'Сайн уу' });
  });

  it('may be empty', async () => {
    const line = (words: string) => `env -i ${words.replace('urtuu', binary)}`;
    expect(await shell(line('urtuu --version'), bare)).toMatchObject({ code: 0, stderr: '' });
    expect(await shell(line('urtuu --help'), bare)).toMatchObject({ code: 0, stderr: '' });
    const key = `URTUU_API_KEY=${testKey} URTUU_BASE_URL=${server.origin}/v1`;
    expect(await shell(`env -i ${key} ${binary} balance`)).toMatchObject({
      code: 0,
      stdout: 'balance  5\n',
      stderr: '',
    });
  });

  it('masks recipients in a table in CI', async () => {
    expect((await shell(send, { CI: '1' })).stdout).toMatch(/^to +9911\*\*33$/m);
  });

  it.each(['sms send 99112233 -', 'sms send', 'sendmail -t', 'sms bulk - --text hi --yes'])(
    'sends nothing when standard input is /dev/null: %s',
    async (line) => {
      const posted = () => server.requests.filter(({ method }) => method === 'POST').length;
      const before = posted();
      expect((await shell(`urtuu ${line} < /dev/null`)).code).not.toBe(0);
      expect(posted()).toBe(before);
    },
  );
});
