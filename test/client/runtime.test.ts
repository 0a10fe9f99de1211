import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isNode, newConnection } from '../../src/client/runtime.js';
import { Loopback } from '../support/loopback.js';

const versions = (more: object) => ({ process: { versions: { node: '24.0.0', ...more } } });

describe('a new connection', () => {
  it('is the rule of Node.js, which repeats nothing', () => {
    expect(isNode()).toBe(true);
    expect(newConnection()).toEqual({});
    expect(newConnection(versions({}))).toEqual({});
  });

  it('is asked for in the words of Bun and Deno', () => {
    expect(newConnection(versions({ bun: '1.4.0' }))).toEqual({ keepalive: false });
    const asked: unknown[] = [];
    const Deno = { createHttpClient: (options: unknown) => asked.push(options) && 'client' };
    expect(newConnection({ ...versions({ deno: '2.9.0' }), Deno })).toEqual({ client: 'client' });
    expect(asked).toEqual([{ poolMaxIdlePerHost: 0 }]);
    expect(newConnection({ ...versions({ deno: '1.0.0' }), Deno: {} })).toEqual({});
  });
});

const found = (name: string): boolean => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const program = `
  const { Urtuu } = await import(${JSON.stringify(join(import.meta.dirname, '../../dist/client/index.js'))});
  const client = new Urtuu('urtuu_${'k'.repeat(40)}', { baseUrl: process.env.BASE_URL });
  await client.balance.get();
  const error = await client.verify.create({ to: '99112233' }).catch((error) => error);
  console.log(JSON.stringify(error));
`;

/** Where the runtime is installed; both take the program from their command line. */
const runtimes: [name: string, words: string[]][] = [
  ['node', ['--input-type=module', '-e']],
  ['bun', ['-e']],
  ['deno', ['eval']],
];

describe.each(runtimes)('on %s', (name, words) => {
  it.skipIf(!found(name))('verify.create is one request, even when a kept connection is reset', async () => {
    await using server = await Loopback.listen(({ method }, response) => {
      if (method === 'GET') response.setHeader('content-type', 'application/json').end('{"balance": 1}');
      else response.socket?.resetAndDestroy();
    });
    const { stdout } = await promisify(execFile)(name, [...words, program], {
      env: { ...process.env, BASE_URL: `${server.origin}/v1` },
    });
    expect(JSON.parse(stdout)).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: true });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });
});
