import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EngineError } from '../../../errors/engine-error.js';

export type Engine = typeof import('@photostructure/sqlite');

/** SQLite of Node.js 22.16 and newer, else the package with the same interface. Throws EngineError without either. */
export async function loadEngine(): Promise<Engine> {
  const builtIn = builtInEngine();
  if (builtIn !== undefined && isComplete(builtIn)) return builtIn;
  try {
    return (await usualAddon()) ?? (await import('@photostructure/sqlite'));
  } catch (cause) {
    throw new EngineError(cause);
  }
}

/** Where one of these is set, the package may choose another addon. */
const choices = [
  'LIBC',
  'PREBUILDS_ONLY',
  'npm_config_arch',
  'npm_config_platform',
  '@PHOTOSTRUCTURE/SQLITE_PREBUILD',
];

/**
 * The addon that the package opens, without its search for it, which takes a twelfth of a command in the sandbox. Null
 * where anything is unusual: the package then chooses, or says what is wrong.
 */
async function usualAddon(): Promise<Engine | null> {
  const { platform, arch, env, versions } = process;
  const isUsual =
    platform === 'linux' && versions.electron === undefined && !choices.some((name) => env[name]);
  if (!isUsual || existsSync('/etc/alpine-release')) return null;
  try {
    const folder = packageAbove(__dirname);
    if (folder === null || existsSync(join(folder, 'build'))) return null;
    return await import(join(folder, `prebuilds/linux-${arch}/@photostructure+sqlite.glibc.node`));
  } catch {
    return null;
  }
}

/** The first of the folders in which Node.js looks for it. */
function packageAbove(folder: string): string | null {
  const found = join(folder, 'node_modules/@photostructure/sqlite');
  if (existsSync(found)) return found;
  return dirname(folder) === folder ? null : packageAbove(dirname(folder));
}

/** Suppresses its experimental warning, which every command would print. */
function builtInEngine(): Engine | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as Engine | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node.js before 22.16 has an early version without some members. */
const isComplete = ({ DatabaseSync }: Engine) =>
  // In Bun these are members of the objects, not of the prototype.
  'isTransaction' in DatabaseSync.prototype || 'isTransaction' in new DatabaseSync(':memory:');
