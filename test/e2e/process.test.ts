import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { outcomeOf } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { emptyMachine } from '../support/machines.js';
import { smsResult } from '../support/resources.js';

const message = smsResult({ id: 'm' });

const machine = emptyMachine();
let server: Loopback | undefined;
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

/** A service that answers with `body`, or, for null, never; resolves with the settings that lead to it. */
async function service(body: object | null): Promise<{ env: NodeJS.ProcessEnv; asked: Promise<unknown> }> {
  const requests = new EventEmitter();
  server = await Loopback.listen((_, response) => {
    requests.emit('request');
    if (body !== null) json(response, 200, body);
  });
  const asked = once(requests, 'request');
  return { asked, env: { URTUU_API_KEY: 'k', URTUU_BASE_URL: `${server.origin}/v1` } };
}

function start(args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = machine.start(args, { env });
  children.push(child);
  return child;
}

describe('the process', () => {
  it('names the key of a send that is stopped on its way', async () => {
    const { env, asked } = await service(null);
    const child = start(['sms', 'send', '99112233', 'hi', '--idempotency-key', 'order-7'], env);
    await asked;
    child.kill('SIGINT');
    const { signal, stderr } = await outcomeOf(child);
    expect(signal).toBe('SIGINT');
    expect(stderr).toContain('--idempotency-key order-7');
  });

  it('ends a read with 0 when its reader leaves', async () => {
    const { env } = await service(message);
    const child = start(['messages', 'get', '-', '-o', 'ndjson'], env);
    const outcome = outcomeOf(child);
    child.stdout?.destroy();
    child.stdin?.end('m\n'.repeat(20));
    expect(await outcome).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  it('sends nothing when standard input is empty', async () => {
    const { env } = await service(message);
    for (const [args, code] of [
      [['sms', 'send'], 2],
      [['sms', 'send', '99112233'], 2],
      [['sms', 'send', '99112233', '-'], 8],
      [['sendmail', '-t'], 64],
      [['verify', 'create'], 2],
      [['sms', 'bulk', '-', '--text', 'hi', '--yes'], 8],
    ] as const) {
      expect(await machine.run([...args], { env })).toMatchObject({ code, stdout: '' });
    }
    expect(server?.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
