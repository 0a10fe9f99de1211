import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkPrinted } from './printed-commands.js';

export const root = resolve(import.meta.dirname, '../..');
const binary = join(root, 'bin/urtuu.js');
/** The words that run the command: this Node.js, or the executable that is tested. */
const { URTUU_TEST_EXECUTABLE } = process.env;
const command = URTUU_TEST_EXECUTABLE ? [URTUU_TEST_EXECUTABLE] : [process.execPath, binary];

/** A machine of its own for the real command: empty home, no settings but those given. */
export class Machine {
  readonly home = mkdtempSync(join(tmpdir(), 'urtuu-'));
  readonly #running = new Set<ChildProcess>();

  environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      XDG_STATE_HOME: join(this.home, 'state'),
      XDG_CONFIG_HOME: join(this.home, 'config'),
      ...extra,
    };
  }

  start(
    args: string[],
    options: { env?: NodeJS.ProcessEnv; cwd?: string; binary?: string } = {},
  ): ChildProcess {
    const [file = '', ...words] = options.binary ? [process.execPath, options.binary] : command;
    const child = spawn(file, [...words, ...args], {
      cwd: options.cwd ?? root,
      env: this.environment(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#running.add(child);
    return child.once('close', () => this.#running.delete(child));
  }

  async run(
    args: string[],
    options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
  ): Promise<Outcome> {
    const child = this.start(args, options);
    const outcome = outcomeOf(child);
    // A command may end before it reads any of it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
    await checkPrinted((await outcome).stderr);
    return outcome;
  }

  /** `urtuu serve` at a port of its own: where it is, its first key, how it ends, and a client of it. */
  async serve(options: readonly string[] = [], given: Parameters<Machine['start']>[1] = {}) {
    const child = this.start(
      ['serve', '--drain-time', '0', '--port', '0', '-o', 'ndjson', ...options],
      given,
    );
    const ended = outcomeOf(child);
    const line = JSON.parse(await printed(child, 'stdout', /\n/)) as { base_url: string; api_key: string };
    const client = { URTUU_BASE_URL: line.base_url, URTUU_API_KEY: line.api_key };
    return { child, ended, ...line, client };
  }

  /** Ends what a failed test has left running here. */
  remove(): void {
    for (const child of this.#running) child.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** All that a process has printed since it was first asked for. */
const outputs = new WeakMap<ChildProcess, Pick<Outcome, 'stdout' | 'stderr'>>();

function outputOf(child: ChildProcess): Pick<Outcome, 'stdout' | 'stderr'> {
  const known = outputs.get(child);
  if (known !== undefined) return known;
  const output = { stdout: '', stderr: '' };
  outputs.set(child, output);
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text) => {
      output[stream] += text;
    });
  return output;
}

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const output = outputOf(child);
  return new Promise((settle, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => settle({ code, signal, ...output }));
  });
}

/** Resolves with everything printed so far once `pattern` is in it: what came before, too, where it was heard. */
export function printed(child: ChildProcess, stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
  const output = outputOf(child);
  return new Promise((settle, fail) => {
    const look = () => {
      if (pattern.test(output[stream])) settle(output[stream]);
    };
    child[stream]?.on('data', look);
    child.on('close', () =>
      fail(new Error(`it ended before it printed ${pattern}: ${output.stdout}${output.stderr}`)),
    );
    look();
  });
}
