import { writeSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import pkg from '../../package.json' with { type: 'json' };
import { CacheFolder } from './cache/cache-folder.js';
import { CodeCache } from './cache/code-cache.js';
import { HelpPage, plainWord } from './cache/help-page.js';
import { takesDirectOutput } from './terminal/descriptor.js';

/** The build's name, from `scripts/build.js`. */
declare const BUILD: string;

/** Seconds after which a run gains nothing from the cache, because V8 has dropped code that it used early. */
const longestRun = 10;

/** The folder of the bundles, and how to read them if they are not files. */
interface Bundles {
  folder: string;
  read?: (file: string) => Buffer;
}

/** Starts the process: prints the version or a page of help at once, and loads everything else from the code cache. */
export function start(
  process: NodeJS.Process,
  require: (id: string) => unknown,
  { folder, ...reading }: Bundles = { folder: __dirname },
): void {
  // By default it opens Node.js's debugger, to whoever connects; rotation of logs sends it. Not removed: it would then kill.
  process.on('SIGUSR1', () => {});
  const argv = process.argv.slice(2);
  const isVersion = argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V');
  // To leave at once takes less than to close everything, as Node.js does at the end of its loop.
  if (isVersion && written(`${pkg.version}\n`)) process.exit();
  const files = new CacheFolder(cacheFolder(process), process.geteuid?.() ?? -1);
  const asked = HelpPage.of(argv, BUILD, files);
  const page = asked !== null && takesDirectOutput(1) ? asked : null;
  const kept = page?.read() ?? null;
  if (kept !== null && written(kept)) process.exit();
  const cache = new CodeCache({ files, build: BUILD, command: commandOf(argv), require, ...reading });
  const main = cache.load(join(folder, 'main.cjs')) as typeof import('./main.js');
  let shown: string | null = null;
  process.on('exit', (code) => {
    if (code !== 0 || process.uptime() >= longestRun) return;
    // The code is then not needed again.
    if (page !== null && shown !== null) page.keep(shown);
    else cache.save();
  });
  void main.start(process, {
    homeOfUser: () => (require('node:os') as typeof import('node:os')).homedir(),
    isTerminal: (descriptor) => (require('node:tty') as typeof import('node:tty')).isatty(descriptor),
    onHelp: (text) => {
      shown = text;
    },
  });
}

/** Whether standard output accepted all of it; if not, `main` meets the same error and reports it. */
function written(text: string | Buffer): boolean {
  let left = Buffer.from(text);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      // Or the pipe is non-blocking and full: there is nothing to do but wait.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  return true;
}

/** Null on Windows, and if Node.js has no compile cache. */
function cacheFolder({ env, geteuid }: NodeJS.Process): string | null {
  if (env.NODE_DISABLE_COMPILE_CACHE || geteuid === undefined) return null;
  const base = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
  return isAbsolute(base) ? join(base, 'urtuu') : null;
}

/** `sms-send`, `sms-send-help`: the first words, whether of a command's name or its arguments. */
function commandOf(argv: readonly string[]): string {
  const words = argv.slice(0, 2).filter((word) => plainWord.test(word));
  const asksForHelp = argv.some((word) => word === '--help' || word === '-h');
  return [...words, ...(asksForHelp ? ['help'] : [])].join('-');
}
