import pkg from '../../package.json' with { type: 'json' };
import type { Streams } from './create-context.js';
import { machineError } from './errors.js';
import type { Exit } from './exit.js';
import { exits } from './exit-codes.js';
import { endBySignal, hasTerminal, watchSignals } from './platform/signals.js';
import type { ProcessEnvironment } from './process-environment.js';
import { outputOf } from './terminal/descriptor.js';
import { Sink } from './terminal/streams.js';

/** Runs one command line and returns how the process must end. The only place that decides an exit code. */
export async function run(argv: readonly string[], environment: ProcessEnvironment): Promise<Exit> {
  const stdout = new Sink(() => environment.stdout);
  const stderr = new Sink(() => environment.stderr, { isLog: true });
  const isVersion = argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V');
  if (!isVersion) return loadAndRun(argv, environment, { stdout, stderr });
  await stdout.write(`${pkg.version}\n`);
  const failure = stdout.failure?.code;
  if (failure === undefined || failure === 'EPIPE') return exits.ok;
  await stderr.write(`urtuu: standard output could not be written: ${failure}\n`);
  return exits.machine;
}

/** `runApplication` handles errors of commands; other failures are printed here, in one line. */
async function loadAndRun(
  argv: readonly string[],
  environment: ProcessEnvironment,
  streams: Streams,
): Promise<Exit> {
  try {
    return await (await import('./application.js')).runApplication(argv, environment, streams);
  } catch (error) {
    const { visible } = await import('./terminal/sanitise.js');
    await streams.stderr.write(`urtuu: internal error: ${visible(String(error))}\n`);
    return exits.internal;
  }
}

/** Parts of Node.js that take time to load; loaded on demand. */
export interface System {
  /** The user's home according to the system; throws if there is none. */
  homeOfUser(): string;
  isTerminal(descriptor: number): boolean;
  /** Called with a page of help that was asked for and shown. */
  onHelp(page: string): void;
}

/** Runs the command line of this process, and ends the process. */
export async function start(process: NodeJS.Process, system: System): Promise<void> {
  // If nothing is left to wait for, Node.js ends the process by itself, with 0.
  process.exitCode = exits.internal;
  const exit = await run(process.argv.slice(2), environmentOf(process, system));
  if (typeof exit === 'string') {
    endBySignal(process, exit);
  } else {
    process.exit(exit);
  }
}

function environmentOf(process: NodeJS.Process, system: System): ProcessEnvironment {
  const isAtTerminal = () => hasTerminal(process.platform, system.isTerminal);
  return {
    env: process.env,
    get cwd() {
      return currentFolder(process);
    },
    get home() {
      return process.env.HOME || homeOf(system);
    },
    platform: process.platform,
    script: process.argv[1] ?? '',
    nodeVersion: process.version,
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return outputOf(1, () => process.stdout);
    },
    get stderr() {
      return outputOf(2, () => process.stderr);
    },
    clock: {
      now: () => Date.now(),
      elapsed: () => {
        const [seconds, nanoseconds] = process.hrtime();
        return seconds * 1_000 + nanoseconds / 1e6;
      },
      sleep: async (milliseconds, signal) => {
        const { setTimeout } = await import('node:timers/promises');
        await setTimeout(milliseconds, undefined, signal ? { signal } : {});
      },
      after(milliseconds, run) {
        // setTimeout takes no more, and fires at once when it is given more.
        const timer = setTimeout(run, Math.min(milliseconds, 2 ** 31 - 1));
        return () => clearTimeout(timer);
      },
    },
    random: () => Math.random(),
    isAtTerminal,
    onHelp: (page) => system.onHelp(page),
    onSignal: (listener, onHangUp) => watchSignals(process, isAtTerminal(), listener, onHangUp),
  };
}

/** Null for a user unknown to the system. */
function homeOf(system: System): string | null {
  try {
    return system.homeOfUser() || null;
  } catch {
    return null;
  }
}

function currentFolder(process: NodeJS.Process): string {
  try {
    return process.cwd();
  } catch (error) {
    throw machineError('the current folder does not exist any more', error, 'Change to another one with cd.');
  }
}
