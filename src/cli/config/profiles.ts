import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { FileOwner } from '../../contract/index.js';
import { CliError, machineError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { releaseLockFile, takeLockFile } from '../platform/lock-file.js';
import { exposureOf } from '../platform/private-file.js';
import { quoteArgument } from '../platform/quote.js';
import { writePrivateFile } from '../platform/write-private-file.js';

export interface Profile {
  base_url?: string;
  api_key?: string;
  /** Prints the key: pass, secret-tool, security, op. */
  key_command?: string;
  /** Plain http to other machines is allowed. */
  allow_http?: boolean;
  /** The address for mail to names without a domain: `urtuu sendmail`. */
  local_to?: string;
}

export interface ConfigFile {
  /** The profile in use. */
  current?: string;
  profiles: Record<string, Profile>;
}

export const defaultProfile = 'default';
export const isProfileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
export const configPath = (directory: string): string => join(directory, 'config.json');

export interface Reader {
  readonly platform: NodeJS.Platform;
  readonly user: number;
}
const thisProcess = (platform: NodeJS.Platform): Reader => ({ platform, user: process.geteuid?.() ?? -1 });

/**
 * Without a file there are no profiles. Throws CliError for a file that is damaged, accessible to others, or owned by
 * another user: a profile can name a command to run.
 */
export function readConfig(
  directory: string,
  platform: NodeJS.Platform,
  reader = thisProcess(platform),
): ConfigFile {
  const file = configPath(directory);
  let text: string;
  try {
    // A small file that is needed first: reading it asynchronously takes longer.
    text = readPrivate(directory, file, reader);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // ENOTDIR: where the home is /dev/null, nobody can have made a file.
    if (code === 'ENOENT' || code === 'ENOTDIR') return { profiles: {} };
    throw error instanceof CliError
      ? error
      : machineError(
          `cannot read ${file}`,
          error,
          isClosed(directory)
            ? 'Set XDG_CONFIG_HOME to a folder of your own.'
            : 'It must be a file of your own.',
        );
  }
  return parse(text, file);
}

/** Whether this user may not enter the folder, as root's home in a container that runs as another user. */
export function isClosed(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** Checks the opened file, not one that has its name a moment later. */
function readPrivate(directory: string, file: string, reader: Reader): string {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  // Without O_NONBLOCK, opening a pipe without a writer never returns.
  const descriptor = openSync(file, O_RDONLY | O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    refuseExposed(file, stats, reader, 600);
    if (!stats.isFile()) throw new Error('not a regular file');
    refuseExposedFolder(directory, reader);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Others may list the folder. */
function refuseExposedFolder(directory: string, reader: Reader): void {
  const { uid, mode } = statSync(directory);
  refuseExposed(directory, { uid, mode: mode & ~0o044 }, reader, 700);
}

function refuseExposed(path: string, owner: FileOwner, { user, platform }: Reader, mode: number): void {
  const exposure = exposureOf(owner, user, platform);
  if (exposure === null) return;
  const quoted = quoteArgument(path, platform);
  const hint =
    exposure === 'owned by another user'
      ? `It belongs to user ${owner.uid}, and this is user ${user}. Set XDG_CONFIG_HOME to a folder of your own.`
      : exposure === 'readable by others'
        ? `Run: chmod ${mode} ${quoted}; then create a new key if others may have read this one.`
        : `Check it for changes by others, then run: chmod ${mode} ${quoted}`;
  throw new CliError('unsafe_config', exits.machine, `${path} ${exposed[exposure]}`, { hint });
}

const exposed = {
  'owned by another user': 'belongs to another user',
  'writable by others': 'can be changed by others on this machine',
  'readable by others': 'can be read by others on this machine',
} as const;

/** A change takes milliseconds, or seconds on a slow disk. */
const lockTimes = { staleAfter: 5_000, longestWait: 15_000 };

/**
 * Changes the file as it is now, which may be what another command has just written. A file that is a link stays one,
 * and its target is changed. Throws CliError for a folder in which others can write: they could replace the file.
 */
export async function changeConfig(
  directory: string,
  change: (config: ConfigFile) => ConfigFile,
  timer: Parameters<typeof takeLockFile>[1],
  platform: NodeJS.Platform,
  reader = thisProcess(platform),
): Promise<ConfigFile> {
  const file = targetOf(configPath(directory));
  for (const folder of new Set([directory, dirname(file)]))
    if (existsSync(folder)) refuseExposedFolder(folder, reader);
  const lock = `${file}.lock`;
  const outcome = await takeLockFile(lock, timer, lockTimes);
  if (outcome === 'late') {
    const hint = `Run the command again once it has ended. If none is running, remove ${lock}`;
    throw new CliError('busy_config', exits.machine, `another command is changing ${file}`, { hint });
  }
  try {
    const changed = change(readConfig(directory, platform, reader));
    await writePrivateFile(file, `${JSON.stringify(changed, null, 2)}\n`);
    return changed;
  } finally {
    // Without a lock the folder is not writable, so the file was not written either.
    if (outcome === 'taken') releaseLockFile(lock);
  }
}

/** As many links as Linux follows. */
const mostLinks = 40;

/** The file behind a link, or chain of links, even if it does not exist yet. */
function targetOf(path: string): string {
  let file = path;
  for (let links = 0; links <= mostLinks; links += 1) {
    try {
      file = resolve(realpathSync(dirname(file)), readlinkSync(file));
    } catch {
      return file;
    }
  }
  throw machineError(`cannot write ${path}`, new Error('too many links'));
}

function parse(text: string, file: string): ConfigFile {
  // JSON.parse's error would quote the file, perhaps with the key.
  const damaged = () =>
    new CliError('damaged_config', exits.machine, `${file} is damaged`, {
      hint: 'Fix it, or move it away and run: `urtuu login`',
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
  return { ...(current === undefined ? {} : { current }), profiles: profiles as ConfigFile['profiles'] };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isProfile(value: unknown): boolean {
  if (!isObject(value)) return false;
  const texts = ['base_url', 'api_key', 'key_command', 'local_to'] as const;
  return (
    texts.every((name) => value[name] === undefined || typeof value[name] === 'string') &&
    (value.allow_http === undefined || typeof value.allow_http === 'boolean')
  );
}
