import { join } from 'node:path';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
  readonly platform: NodeJS.Platform;
}

/** Folder of the profiles; null for a user without a home. */
export function configDirectory(place: Place): string | null {
  const { env, platform } = place;
  const base = env.XDG_CONFIG_HOME || (platform === 'win32' ? env.APPDATA : undefined);
  return base ? join(base, 'urtuu') : inHome(place, '.config');
}

/** Folder of jobs and the embedded service; null for a user without a home. */
export function stateDirectory(place: Place): string | null {
  const { env, platform } = place;
  const base = env.XDG_STATE_HOME || (platform === 'win32' ? env.LOCALAPPDATA : undefined);
  return base ? join(base, 'urtuu') : inHome(place, '.local', 'state');
}

/** The data folder of --sandbox. */
export const sandboxDirectory = (state: string): string => join(state, 'sandbox');

/** The data folder of `urtuu serve`. */
export const serviceDirectory = (state: string): string => join(state, 'service');

const inHome = ({ home }: Place, ...folders: string[]) =>
  home === null ? null : join(home, ...folders, 'urtuu');

export function noHome(what: string, variable: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME'): CliError {
  return new CliError('no_home', exits.machine, `this user has no home folder for ${what}`, {
    hint: `Set ${variable} to a folder of your own.`,
  });
}
