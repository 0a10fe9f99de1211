import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkPrinted } from './printed-commands.js';

export const root = resolve(import.meta.dirname, '../..');
const binary = join(root, 'bin/urtuu.js');

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
    const child = spawn(process.execPath, [options.binary ?? binary, ...args], {
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
    child.stdin?.end(options.input ?? '');
    await checkPrinted((await outcome).stderr);
    return outcome;
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

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((settle, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => settle({ code, signal, stdout, stderr }));
  });
}

/** Resolves with everything printed so far once `pattern` is in it. */
export function printed(child: ChildProcess, stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
  let text = '';
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  return new Promise((settle, fail) => {
    child[stream]?.on('data', (chunk) => {
      text += chunk;
      if (pattern.test(text)) settle(text);
    });
    child.on('close', () => fail(new Error(`it ended before it printed ${pattern}: ${text}${errors}`)));
  });
}
