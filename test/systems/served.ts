import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Machine, Outcome } from './machine.js';
import { outcomeOf } from './machine.js';

export interface Served {
  child: ChildProcess;
  /** Resolves once it has ended. */
  ended: Promise<Outcome>;
  url: string;
  /** Only on the first start. */
  key: string | null;
  /** Settings that lead to it. */
  env: { URTUU_API_KEY: string; URTUU_BASE_URL: string };
}

/** Starts `urtuu serve` on a free port; resolves once it listens. */
export async function serve(
  machine: Machine,
  words: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Served> {
  const child = machine.start(['serve', '--drain-time', '0', '--port', '0', '-o', 'ndjson', ...words], env);
  const ended = outcomeOf(child);
  const line = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(String),
    ended.then(({ code, stderr }) => {
      throw new Error(`urtuu serve ended with ${code}: ${stderr}`);
    }),
  ]);
  const { base_url: url, api_key: key } = JSON.parse(line);
  return { child, ended, url, key, env: { URTUU_API_KEY: key ?? '', URTUU_BASE_URL: url } };
}

export async function kill({ child, ended }: Served): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
