import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, machineError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { writePrivateFile } from './atomic-file.js';

export interface Profile {
  base_url?: string;
  /** The key itself. */
  api_key?: string;
  /** A command that prints the key: pass, secret-tool, security, op. */
  key_command?: string;
  /** Plain http is allowed beyond this machine. */
  allow_http?: boolean;
}

export interface Config {
  /** The profile used when nobody names one. */
  current?: string;
  profiles: Record<string, Profile>;
}

export const defaultProfile = 'default';
export const isProfileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
export const configFile = (directory: string): string => join(directory, 'config.json');

/** Reads the profiles; none when there is no file. Refuses a file that others can read, or that is damaged. */
export function readConfig(directory: string, platform: NodeJS.Platform): Config {
  const file = configFile(directory);
  let text: string;
  try {
    // Small, and read before anything else can be done: to wait for it in a thread takes longer.
    const { mode } = statSync(file);
    if (platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new CliError('unsafe_config', exits.machine, `${file} can be read by others on this machine`, {
        hint: `Run: chmod 600 '${file}'; then make a new key if others may have read this one.`,
      });
    }
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
    throw error instanceof CliError
      ? error
      : machineError(`${file} could not be read`, error, 'It has to be a file that is yours.');
  }
  return parse(text, file);
}

export async function writeConfig(directory: string, config: Config): Promise<void> {
  await writePrivateFile(configFile(directory), `${JSON.stringify(config, null, 2)}\n`);
}

function parse(text: string, file: string): Config {
  // What JSON.parse says would quote the file, and with it perhaps the key.
  const damaged = () =>
    new CliError('damaged_config', exits.machine, `${file} is damaged`, {
      hint: 'Mend it, or move it away and run: `urtuu login`',
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged();
  }
  if (!isObject(value) || !isObject(value.profiles)) throw damaged();
  const { current, profiles } = value;
  if (current !== undefined && typeof current !== 'string') throw damaged();
  if (!Object.entries(profiles).every(([name, profile]) => isProfileName(name) && isProfile(profile))) {
    throw damaged();
  }
  return { ...(current === undefined ? {} : { current }), profiles: profiles as Config['profiles'] };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isProfile(value: unknown): boolean {
  if (!isObject(value)) return false;
  const texts = ['base_url', 'api_key', 'key_command'] as const;
  return (
    texts.every((name) => value[name] === undefined || typeof value[name] === 'string') &&
    (value.allow_http === undefined || typeof value.allow_http === 'boolean')
  );
}
