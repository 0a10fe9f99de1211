import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { URTUU_TEST_ROOT = process.cwd(), URTUU_TEST_RUNTIME, URTUU_TEST_EXECUTABLE } = process.env;

/** The words that run a script: this Node.js, or the runtime that is tested. */
const runtime: string[] = URTUU_TEST_RUNTIME ? JSON.parse(URTUU_TEST_RUNTIME) : [process.execPath];
export const built = (name: string) => join(URTUU_TEST_ROOT, name);
/** The words that run the command: the executable that is tested, or the built one. */
const command = URTUU_TEST_EXECUTABLE ? [URTUU_TEST_EXECUTABLE] : [...runtime, built('bin/urtuu.js')];

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A user's machine: a home of its own, and nothing of ours in its environment. */
export class Machine {
  readonly home = mkdtempSync(join(tmpdir(), 'urtuu Өргөө '));

  environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(?:URTUU|XDG|HOME$|NODE_OPTIONS)/.test(name),
    );
    const folders =
      process.platform === 'win32'
        ? {
            LOCALAPPDATA: join(this.home, 'Local'),
            APPDATA: join(this.home, 'Roaming'),
            USERPROFILE: this.home,
          }
        : { HOME: this.home };
    return { ...Object.fromEntries(kept), ...folders, ...extra };
  }

  /** The folder of the jobs. */
  get jobs(): string {
    return join(this.home, process.platform === 'win32' ? 'Local' : '.local/state', 'urtuu/jobs');
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return this.#spawn([...command, ...args], env);
  }

  /** Runs a program in the runtime that is tested. */
  script(words: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return this.#spawn([...runtime, ...words], env);
  }

  #spawn([file = '', ...words]: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    return spawn(file, words, {
      cwd: this.home,
      env: this.environment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  async run(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Outcome> {
    const child = this.start(args, env);
    const outcome = outcomeOf(child);
    child.stdin?.end(input);
    return outcome;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      said[name] += text;
    });
  }
  child.stdin?.on('error', () => {});
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...said }));
  });
}
