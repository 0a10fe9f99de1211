import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { type Machine, printed, root } from '../../support/binary.js';
import { isDatabase } from './data.js';
import type { Break } from './service-main.js';

/** A service in a process of its own that comes back with the same data at the same port. */
export class Server {
  /** Ends in `/v1`. */
  url = '';
  readonly #spawn: (port: number) => ChildProcess;
  #child: ChildProcess | null = null;

  constructor(spawnAt: (port: number) => ChildProcess) {
    this.#spawn = spawnAt;
  }

  async start(): Promise<void> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    this.url = await this.#startAt(port);
  }

  /** While it was down, a connection of somebody else may have got its port for a moment. */
  async #startAt(port: number, tries = 50): Promise<string> {
    this.#child = this.#spawn(port);
    try {
      const line = await printed(this.#child, 'stdout', /\n/);
      return (JSON.parse(line) as { base_url: string }).base_url;
    } catch (error) {
      if (!/address in use/.test(String(error)) || tries === 0) throw error;
      await sleep(100);
      return this.#startAt(port, tries - 1);
    }
  }

  /** Sends a signal and waits for the end; how many milliseconds that took. */
  async end(signal: NodeJS.Signals): Promise<number> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return 0;
    const started = Date.now();
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    return Date.now() - started;
  }

  get running(): boolean {
    const child = this.#child;
    return child !== null && child.exitCode === null && child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }
}

/** `urtuu serve`, as it ships: with its request rate. */
export function served(
  machine: Machine,
  directory: string,
  env: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
): Server {
  return new Server((port) =>
    machine.start(
      ['serve', '--drain-time', '0', '--port', String(port), '--data', directory, '-o', 'ndjson', ...more],
      { env },
    ),
  );
}

/** `urtuu serve` on a database; it needs the file with the secret. */
export function servedOn(
  machine: Machine,
  database: string,
  secretFile: string,
  env: NodeJS.ProcessEnv,
): Server {
  const given = { URTUU_DATABASE: database, URTUU_SECRET_FILE: secretFile, ...env };
  return new Server((port) =>
    machine.start(['serve', '--drain-time', '0', '--port', String(port), '-o', 'ndjson'], { env: given }),
  );
}

let built: Promise<string> | undefined;

async function buildScript(): Promise<string> {
  const script = join(root, 'node_modules/.cache/urtuu/torture/service-main.cjs');
  const { outputFiles } = await build({
    entryPoints: [join(root, 'test/torture/service/service-main.ts')],
    outfile: script,
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['@photostructure/sqlite'],
  });
  // Other test files build it too: none may start half of it.
  const whole = `${script}.${process.pid}`;
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(whole, outputFiles[0]?.contents ?? '');
  renameSync(whole, script);
  return script;
}

/** Resets the service in a folder from a process of its own, in a way that is broken on purpose. */
export async function resetBroken(machine: Machine, directory: string, broken: Break): Promise<void> {
  built ??= buildScript();
  const child = spawn(process.execPath, [await built, directory, 'reset', broken], {
    env: machine.environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the broken reset ended with ${code}`);
}

/** The service without a request rate, and broken if wanted; `configuration`: the file with its carriers. */
export async function scripted(
  machine: Machine,
  data: string,
  broken: Break,
  env: NodeJS.ProcessEnv = {},
  configuration = '',
): Promise<Server> {
  built ??= buildScript();
  const script = await built;
  return new Server((port) =>
    spawn(process.execPath, [script, data, String(port), broken, configuration], {
      env: machine.environment(env),
      stdio: ['pipe', 'pipe', broken === 'boundless' || isDatabase(data) ? 'ignore' : 'inherit'],
    }),
  );
}
