import { writeSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import pkg from '../../package.json' with { type: 'json' };
import { CodeCache } from './code-cache.js';

/** The build's name, from `scripts/build.js`. */
declare const BUILD: string;

/** Seconds after which a run gains nothing from the cache, because V8 has dropped code that it used early. */
const longestRun = 10;

/** The folder of the bundles, and how to read them if they are not files. */
interface Bundles {
  folder: string;
  read?: (file: string) => Buffer;
}

/** Starts the process: prints the version without loading anything, and loads everything else from the code cache. */
export function start(
  process: NodeJS.Process,
  require: (id: string) => unknown,
  { folder, ...reading }: Bundles = { folder: __dirname },
): void {
  // By default it opens Node.js's debugger, to whoever connects; rotation of logs sends it. Not removed: it would then kill.
  process.on('SIGUSR1', () => {});
  const argv = process.argv.slice(2);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V') && written(`${pkg.version}\n`))
    return;
  const cache = new CodeCache({
    folder: cacheFolder(process),
    build: BUILD,
    command: commandOf(argv),
    user: process.geteuid?.() ?? -1,
    require,
    ...reading,
  });
  const main = cache.load(join(folder, 'main.cjs')) as typeof import('./main.js');
  process.on('exit', (code) => {
    if (code === 0 && process.uptime() < longestRun) cache.save();
  });
  void main.start(process, {
    homeOfUser: () => (require('node:os') as typeof import('node:os')).homedir(),
    isTerminal: (descriptor) => (require('node:tty') as typeof import('node:tty')).isatty(descriptor),
  });
}

/** Whether standard output accepted it at once; if not, `main` reports the error. */
function written(line: string): boolean {
  try {
    return writeSync(1, line) === line.length;
  } catch {
    return false;
  }
}

/** Null on Windows, and if Node.js has no compile cache. */
function cacheFolder({ env, geteuid }: NodeJS.Process): string | null {
  if (env.NODE_DISABLE_COMPILE_CACHE || geteuid === undefined) return null;
  const base = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
  return isAbsolute(base) ? join(base, 'urtuu') : null;
}

/** `sms-send`, `sms-send-help`: the first words, whether of a command's name or its arguments. */
function commandOf(argv: readonly string[]): string {
  const words = argv.slice(0, 2).filter((word) => /^[a-z][a-z-]{0,20}$/.test(word));
  const asksForHelp = argv.some((word) => word === '--help' || word === '-h');
  return [...words, ...(asksForHelp ? ['help'] : [])].join('-');
}
