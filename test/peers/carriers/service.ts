import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Machine, type Outcome } from '../../support/binary.js';
import { openAccounts } from '../../torture/service/books.js';
import { served } from '../../torture/service/server.js';

/**
 * `urtuu serve` with a configuration, and the command line of a customer. `onMade` is given the folder of its data, `port` is
 * where it listens.
 */
export async function startService(
  configuration: object,
  env: NodeJS.ProcessEnv = {},
  onMade: (directory: string) => void = () => {},
  port = 0,
) {
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const file = join(machine.home, 'service.json');
  writeFileSync(file, JSON.stringify(configuration));
  const [account] = await openAccounts(directory, 1);
  chmodSync(machine.home, 0o755);
  onMade(directory);
  const server = served(machine, directory, env, ['--config', file]);
  if (port > 0) server.url = `http://127.0.0.1:${port}/v1`;
  onTestFinished(async () => {
    await server.end('SIGTERM');
    machine.remove();
  });
  await server.start();
  const customer = { URTUU_API_KEY: account?.keys[0], URTUU_BASE_URL: server.url };
  const run = (args: string[]): Promise<Outcome> => machine.run(args, { env: { ...env, ...customer } });

  /** Runs a command for its JSON. */
  async function json<Value>(...args: string[]): Promise<Value> {
    const { code, stdout, stderr } = await run([...args, '--json']);
    if (code !== 0) throw new Error(`urtuu ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Value;
  }

  return {
    run,
    /** Runs a command of its owner for its JSON. */
    own: <Value>(...args: string[]) => json<Value>(...args, '--data', directory, '--project', 'Customer 0'),
    check: () => run(['service', 'check', '--config', file]),
    json,
  };
}

/** Waits for something that others do. */
export async function until<Value>(look: () => Promise<Value | null>, longest = 15_000): Promise<Value> {
  for (const end = Date.now() + longest; ; await sleep(100)) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error('it never comes');
  }
}
