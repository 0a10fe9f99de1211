import { join } from 'node:path';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
  readonly platform: NodeJS.Platform;
}

/** Where profiles are kept; null for a user without a home. */
export function configDirectory(place: Place): string | null {
  const { env, platform } = place;
  const base = env.XDG_CONFIG_HOME || (platform === 'win32' ? env.APPDATA : undefined);
  return base ? join(base, 'urtuu') : inHome(place, '.config');
}

/** Where jobs and the embedded service keep their data; null for a user without a home. */
export function stateDirectory(place: Place): string | null {
  const { env, platform } = place;
  const base = env.XDG_STATE_HOME || (platform === 'win32' ? env.LOCALAPPDATA : undefined);
  return base ? join(base, 'urtuu') : inHome(place, '.local', 'state');
}

const inHome = ({ home }: Place, ...folders: string[]) =>
  home === null ? null : join(home, ...folders, 'urtuu');

const unusable: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR'];

/** The way out where the folder of the state cannot be used at all; nothing where another cause has its own. */
export function stateHint(error: unknown): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  return unusable.includes(code) ? 'Set XDG_STATE_HOME to a folder of your own.' : undefined;
}

/** What is refused for want of a folder; the variable names one. */
export function noHome(what: string, variable: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME'): CliError {
  return new CliError('no_home', exits.machine, `this user has no home folder to keep ${what} in`, {
    hint: `Set ${variable} to a folder of your own.`,
  });
}
