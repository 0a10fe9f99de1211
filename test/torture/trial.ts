import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { Machine, type Outcome, outcomeOf, root } from '../support/binary.js';
import type { ProjectServer } from '../support/project-server.js';

/** The `nth` use of a call by a thread on a file of the state folder; the process's number in the name is `$$`. */
export interface Place<Call extends string = string> {
  call: Call;
  /** Empty for a file whose name is random: the `nth` use of the call on any file. */
  path: string;
  nth: number;
}

export interface Finding {
  place: Place;
  /** False when the run never came to this call. */
  reached: boolean;
  exit: number | NodeJS.Signals | null;
  /** What must not be; empty when all is well. */
  wrong: string[];
}

export const people = ['88110001,A', '88110002,A', '88110003,C', '88110004,D', '88110005,E'];
export const numbers = people.map((row) => row.slice(0, 8));

/** Null when every system call can be made to fail here; else why not. */
export function whyNoInjection(): string | null {
  if (process.platform !== 'linux') return 'system calls can be made to fail on Linux only';
  const { status, error } = spawnSync('strace', ['-D', '-f', '-qq', '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? null : 'strace may not trace processes here';
}

/** What is run: a script, and the words that are given to it. */
export interface Command {
  script: string;
  words: readonly string[];
}

/** The command as it is built, with a job. */
export const realCommand: Command = {
  script: join(root, 'bin/urtuu.js'),
  words: ['sms', 'bulk', 'list.csv', '--text', 'Hi {name}', '--job', 'july', '--yes', '--json', '--quiet'],
};

/** The same command, altered: in the files that match, each text is replaced by another one. */
export async function alteredCommand(
  folder: string,
  alterations: readonly [file: RegExp, from: string, to: string][],
  words = realCommand.words,
): Promise<Command> {
  const outfile = join(folder, 'altered.cjs');
  const left = new Set(alterations);
  await build({
    stdin: {
      contents: `import { homedir } from 'node:os';
        import { isatty } from 'node:tty';
        import { start } from './src/cli/main.ts';
        void start(process, { homeOfUser: homedir, isTerminal: isatty });`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['@photostructure/sqlite'],
    logLevel: 'error',
    plugins: [
      {
        name: 'altered',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const here = alterations.filter(([file]) => file.test(path));
            if (here.length === 0) return undefined;
            let contents = readFileSync(path, 'utf8');
            for (const alteration of here) {
              const [, from, to] = alteration;
              if (!contents.includes(from)) throw new Error(`${path} has no '${from}'`);
              contents = contents.replace(from, () => to);
              left.delete(alteration);
            }
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  for (const [file] of left) throw new Error(`${file} is elsewhere now`);
  return { script: outfile, words };
}

/** In milliseconds: what has not ended by then hangs. */
const endsInTime = { stdio: 'pipe', timeout: 60_000, killSignal: 'SIGKILL' } as const;

/** A job on a machine and at a service of its own; the first run of it can be traced. */
export class Trial {
  readonly machine = new Machine();
  readonly service: ProjectServer;
  readonly #command: Command;

  constructor(service: ProjectServer, command: Command) {
    service.reset();
    this.service = service;
    this.#command = command;
    mkdirSync(this.state, { recursive: true });
    writeFileSync(join(this.machine.home, 'list.csv'), `phone,name\n${people.join('\n')}\n`);
  }

  get state(): string {
    return join(this.machine.home, 'state/urtuu');
  }

  get #logFile(): string {
    return join(this.machine.home, 'strace');
  }

  /** The same words every time; one request after the other, so that no send is under way when a record fails. */
  #whole(words: readonly string[]): string[] {
    return [this.#command.script, ...words, '--concurrency', '1', '--base-url', this.service.baseUrl];
  }

  #environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    // One thread for files: the order of the calls is the same in every run.
    const alike = {
      UV_THREADPOOL_SIZE: '1',
      URTUU_API_KEY: `urtuu_${'A'.repeat(40)}`,
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    return this.machine.environment({ ...alike, ...extra });
  }

  run(words = this.#command.words): Promise<Outcome> {
    return outcomeOf(
      spawn(process.execPath, this.#whole(words), {
        cwd: this.machine.home,
        env: this.#environment(),
        ...endsInTime,
      }),
    );
  }

  /** Runs it under strace; -D keeps the process's number, which is in names of its files, known beforehand. */
  traced(options: readonly string[], target = ''): ChildProcess {
    const [before = '', after] = target.split('$$');
    const path = after === undefined ? '"$BEFORE"' : '"$BEFORE$$$AFTER"';
    const only = target === '' ? '' : `-P ${path}`;
    const script = `exec strace -D -f -qq -y -ttt -o "$LOG" ${only} "$@"`;
    const words = [...options, process.execPath, '--random-seed=1', ...this.#whole(this.#command.words)];
    return spawn('sh', ['-c', script, 'sh', ...words], {
      cwd: this.machine.home,
      env: this.#environment({ BEFORE: before, AFTER: after ?? '', LOG: this.#logFile }),
      ...endsInTime,
    });
  }

  async trace(options: readonly string[], target = ''): Promise<{ outcome: Outcome; log: string }> {
    const outcome = await outcomeOf(this.traced(options, target));
    return { outcome, log: await this.#ended() };
  }

  /** What the tracer has written so far. */
  get log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  /** The tracer writes its last lines when the process is gone already. */
  async #ended(): Promise<string> {
    let log = '';
    for (let same = 0; same < 3; ) {
      await sleep(10);
      const now = this.log;
      same = now === log ? same + 1 : 0;
      log = now;
    }
    return log;
  }
}

/** The start of a call, with its thread: each has a count of its own, also for a fault. */
const callInLog = /^(\d+) +[\d.]+ (\w+)\((.*)$/gm;

/** Whether a thread has come to a place; only its own calls are in the log. */
export function isReached(log: string, { nth }: Place): boolean {
  const counts = new Map<string, number>();
  for (const [, thread = ''] of log.matchAll(callInLog)) counts.set(thread, (counts.get(thread) ?? 0) + 1);
  return Math.max(0, ...counts.values()) >= nth;
}

/** Every place where the command of a trial makes one of these calls on its files. */
export async function placesIn<Call extends string>(
  trial: Trial,
  calls: readonly Call[],
): Promise<Place<Call>[]> {
  const { outcome, log } = await trial.trace(['-e', `trace=${calls.join(',')}`]);
  if (outcome.code !== 0) throw new Error(`without faults it ends with ${outcome.code}: ${outcome.stderr}`);
  const counts = new Map<string, number>();
  const next = (name: string) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  };
  const places = new Map<string, Place<Call>>();
  for (const [, thread, call, rest = ''] of log.matchAll(callInLog)) {
    const ofAll = next(`${thread} ${call}`);
    const file = rest.split(/["<>]/).find((each) => each.startsWith(`${trial.state}/`));
    if (file === undefined) continue;
    // A lock is made under a random name, at which no fault can be aimed.
    const path = file.includes('/lock.new-')
      ? ''
      : file.slice(trial.state.length + 1).replace(/\.new-\d+-/, '.new-$$$$-');
    const nth = path === '' ? ofAll : next(`${thread} ${call} ${path}`);
    places.set(`${call} ${path} ${nth}`, { call: call as Call, path, nth });
  }
  return [...places.values()];
}
