import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { Machine, type Outcome, outcomeOf, root } from '../support/binary.js';
import type { ProjectServer } from '../support/project-server.js';

/** What a failing call says: no room, or a broken disk. */
const errors = {
  openat: 'ENOSPC',
  mkdir: 'ENOSPC',
  write: 'ENOSPC',
  pwrite64: 'ENOSPC',
  rename: 'ENOSPC',
  fsync: 'EIO',
  fdatasync: 'EIO',
  ftruncate: 'EIO',
  pread64: 'EIO',
  unlink: 'EIO',
} as const;
type Call = keyof typeof errors;

/** The `nth` use of a call on a file of the state folder; the process's number in the name is `$$`. */
export interface Place {
  call: Call;
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

const people = ['88110001,A', '88110002,A', '88110003,C', '88110004,D', '88110005,E'];
const numbers = people.map((row) => row.slice(0, 8));

/** Null when every system call can be made to fail here; else why not. */
export function whyNoInjection(): string | null {
  if (process.platform !== 'linux') return 'system calls can be made to fail on Linux only';
  const { status, error } = spawnSync('strace', ['-D', '-f', '-qq', '-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? null : 'strace may not trace processes here';
}

/** What is run: a script, and the options that are given to its `sms bulk`. */
export interface Command {
  script: string;
  options: readonly string[];
}

/** The command as it is built. */
export const realCommand: Command = { script: join(root, 'bin/urtuu.js'), options: [] };

/** The control: the same command with a journal that overlooks what the disk says. */
export async function carelessCommand(folder: string): Promise<Command> {
  const outfile = join(folder, 'careless.cjs');
  let isCareless = false;
  const overlook = (code: string, from: string, to: string) => {
    if (!code.includes(from)) throw new Error(`append-file.ts has no '${from}'`);
    return code.replace(from, to);
  };
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
        name: 'careless',
        setup({ onLoad }) {
          onLoad({ filter: /journal\/append-file\.ts$/ }, ({ path }) => {
            const synced = overlook(
              readFileSync(path, 'utf8'),
              'syncBytes(file)',
              'syncBytes(file).catch(() => {})',
            );
            const contents = overlook(
              synced,
              '(await file.write(bytes, done)).bytesWritten',
              '(await file.write(bytes, done).catch(() => ({ bytesWritten: bytes.length }))).bytesWritten',
            );
            isCareless = true;
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  if (!isCareless) throw new Error('the file of the journal is elsewhere now');
  return { script: outfile, options: [] };
}

/** A job on a machine and at a service of its own; the first run of it can be traced. */
class Trial {
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

  get #log(): string {
    return join(this.machine.home, 'strace');
  }

  /** The same words every time; one request after the other, so that no send is under way when a record fails. */
  #words(): string[] {
    const job = [
      'sms',
      'bulk',
      'list.csv',
      '--text',
      'Hi {name}',
      '--job',
      'july',
      '--yes',
      '--json',
      '--quiet',
    ];
    const { script, options } = this.#command;
    return [script, ...job, '--concurrency', '1', '--base-url', this.service.baseUrl, ...options];
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

  run(): Promise<Outcome> {
    return outcomeOf(
      spawn(process.execPath, this.#words(), {
        cwd: this.machine.home,
        env: this.#environment(),
        stdio: 'pipe',
      }),
    );
  }

  /** Runs it under strace; -D keeps the process's number, which is in names of its files, known beforehand. */
  async trace(options: readonly string[], target = ''): Promise<{ outcome: Outcome; log: string }> {
    const [before = '', after] = target.split('$$');
    const path = after === undefined ? '"$BEFORE"' : '"$BEFORE$$$AFTER"';
    const only = target === '' ? '' : `-P ${path}`;
    const script = `exec strace -D -f -qq -y -ttt -o "$LOG" ${only} "$@"`;
    const words = [...options, process.execPath, '--random-seed=1', ...this.#words()];
    const child = spawn('sh', ['-c', script, 'sh', ...words], {
      cwd: this.machine.home,
      env: this.#environment({ BEFORE: before, AFTER: after ?? '', LOG: this.#log }),
      stdio: 'pipe',
    });
    const outcome = await outcomeOf(child);
    return { outcome, log: await this.#ended() };
  }

  /** The tracer writes its last lines when the process is gone already. */
  async #ended(): Promise<string> {
    let log = '';
    for (let same = 0; same < 3; ) {
      await sleep(10);
      const now = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
      same = now === log ? same + 1 : 0;
      log = now;
    }
    return log;
  }
}

/** Every place where a job calls the system about its files. */
export async function placesOf(service: ProjectServer, command: Command): Promise<Place[]> {
  const trial = new Trial(service, command);
  try {
    const calls = Object.keys(errors).join(',');
    const { outcome, log } = await trial.trace(['-e', `trace=${calls}`]);
    if (outcome.code !== 0) throw new Error(`without faults it ends with ${outcome.code}: ${outcome.stderr}`);
    const counts = new Map<string, number>();
    for (const [, call, rest = ''] of log.matchAll(/^\d+ +[\d.]+ (\w+)\((.*)$/gm)) {
      const path = rest.split(/["<>]/).find((each) => each.startsWith(`${trial.state}/`));
      // A lock is made under a random name, so no fault can be aimed at it.
      if (path === undefined || call === undefined || path.includes('/lock.new-')) continue;
      const name = `${call} ${path.slice(trial.state.length + 1).replace(/\.new-\d+-/, '.new-$$$$-')}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].flatMap(([name, count]) => {
      const [call, path = ''] = name.split(' ');
      return Array.from({ length: count }, (_, index) => ({ call: call as Call, path, nth: index + 1 }));
    });
  } finally {
    trial.machine.remove();
  }
}

/** Lets one call fail, looks at how the command ends, and runs the same command again. */
export async function failAt(service: ProjectServer, command: Command, place: Place): Promise<Finding> {
  const trial = new Trial(service, command);
  try {
    const { call, path, nth } = place;
    const fault = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${errors[call]}:when=${nth}`];
    const { outcome, log } = await trial.trace(fault, join(trial.state, path));
    const failed = /^\d+ +(\d+\.\d+) .*\(INJECTED\)$/m.exec(log);
    const finding: Finding = {
      place,
      reached: failed !== null,
      exit: outcome.signal ?? outcome.code,
      wrong: [],
    };
    if (failed === null) return finding;
    const after = trial.service.arrivals.filter((at) => at > Number(failed[1]) * 1_000).length;
    finding.wrong.push(...judge(place, outcome, after, trial.service));
    const again = await trial.run();
    if (again.code !== 0 && !(again.code === 11 && /job_done/.test(again.stderr))) {
      finding.wrong.push(`the same command then ends with ${again.code}: ${again.stderr.trim()}`);
    }
    const got = trial.service.project.received();
    const wrong = numbers.filter((number) => got.get(number) !== 1);
    if (wrong.length > 0) finding.wrong.push(`not exactly once: ${wrong.join(', ')}`);
    return finding;
  } finally {
    trial.machine.remove();
  }
}

/** Rates, locks, caches and the note of a run are courtesies; what else is under `jobs` records what was sent. */
function judge({ path }: Place, outcome: Outcome, after: number, { project }: ProjectServer): string[] {
  const isRecord = path.startsWith('jobs') && !path.endsWith('/running');
  const done = outcome.code === 0 && project.received().size === numbers.length;
  const wrong: string[] = [];
  if (isRecord && after > 0) wrong.push(`${after} sends after it`);
  if (outcome.code !== 13 && !done) {
    wrong.push(`ends with ${outcome.signal ?? outcome.code}: ${outcome.stderr.trim()}`);
  }
  return wrong;
}
