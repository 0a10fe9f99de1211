import pkg from '../../package.json' with { type: 'json' };
import { type Exit, exits } from './exit-codes.js';
import { outputOf } from './terminal/descriptor.js';
import { Sink } from './terminal/streams.js';
import type { World } from './world.js';

/** Runs one command line and says how the process has to end. The only place that decides an exit code. */
export async function run(argv: readonly string[], world: World): Promise<Exit> {
  const stdout = new Sink(() => world.stdout);
  const stderr = new Sink(() => world.stderr);
  const exit =
    argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')
      ? await stdout.write(`${pkg.version}\n`).then(() => exits.ok)
      : await (await import('./application.js')).runApplication(argv, world, { stdout, stderr });
  const failure = stdout.failure?.code;
  if (failure === undefined || typeof exit === 'string') return exit;
  if (failure === 'EPIPE') return exit;
  await stderr.write(`urtuu: standard output could not be written: ${failure}\n`);
  return exit === exits.ok || exit === exits.partly ? exits.machine : exit;
}

/** Runs the command line of this process, and ends the process. `homeOfUser` is asked where HOME is not set. */
export async function start(process: NodeJS.Process, homeOfUser: () => string): Promise<void> {
  const exit = await run(process.argv.slice(2), worldOf(process, homeOfUser));
  if (typeof exit === 'string') {
    process.removeAllListeners(exit);
    process.kill(process.pid, exit);
  } else {
    process.exit(exit);
  }
}

function worldOf(process: NodeJS.Process, homeOfUser: () => string): World {
  return {
    env: process.env,
    cwd: process.cwd(),
    get home() {
      return process.env.HOME || homeOfUser();
    },
    platform: process.platform,
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
        // It takes no more, and fires at once when it is given more.
        const timer = setTimeout(run, Math.min(milliseconds, 2 ** 31 - 1));
        return () => clearTimeout(timer);
      },
    },
    random: () => Math.random(),
    onSignal(listener) {
      const interrupt = () => listener('SIGINT');
      const terminate = () => listener('SIGTERM');
      process.on('SIGINT', interrupt).on('SIGTERM', terminate);
      return () => {
        process.off('SIGINT', interrupt).off('SIGTERM', terminate);
      };
    },
  };
}
