import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, outcomeOf, root } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { smsResult } from '../support/resources.js';
import { testKey } from '../support/run.js';

const binary = `${process.execPath} ${root}/bin/urtuu.js`;

let machine: Machine;
let server: Loopback;
beforeAll(async () => {
  machine = new Machine();
  server = await Loopback.listen(({ method }, response) =>
    json(response, 200, method === 'POST' ? smsResult() : { balance: 5 }),
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  machine.remove();
});

/** Runs a line of shell in which `urtuu` is the real command. */
async function shell(line: string, env: NodeJS.ProcessEnv = {}) {
  const script = `urtuu() { ${binary} "$@"; }\n${line}`;
  const child = spawn('bash', ['-c', script], {
    cwd: machine.home,
    env: {
      ...machine.environment({ URTUU_API_KEY: testKey, URTUU_BASE_URL: `${server.origin}/v1` }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return outcomeOf(child);
}

const send = 'urtuu sms send 99112233 hi';

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
    // Without a HOME it would find that of whoever runs the tests.
    const least = `HOME=${machine.home} URTUU_API_KEY=${testKey} URTUU_BASE_URL=${server.origin}/v1`;
    expect(await shell(`env -i ${least} ${binary} balance`)).toMatchObject({
      code: 0,
      stdout: 'balance  5\n',
      stderr: '',
    });
  });

  it('masks recipients in a table in CI', async () => {
    expect((await shell(send, { CI: '1' })).stdout).toMatch(/^to +9911\*\*33$/m);
  });
});
