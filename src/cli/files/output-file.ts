import { constants, type Stats } from 'node:fs';
import { access, copyFile, type FileHandle, open, readlink, realpath, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CliError, machineError } from '../errors.js';
import { renameFile } from '../platform/rename.js';
import { syncFolder } from '../platform/sync-folder.js';
import { visibleLines } from '../terminal/sanitise.js';

/** What a named pipe needs, on whose other end nobody may be yet. */
export interface Patience {
  note(text: string): void;
  /** Rejects when the signal is aborted; without one, when the run was stopped. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A regular file is replaced whole; a device, a pipe or our own standard output is written through. */
type Target =
  | { kind: 'whole'; path: string; stats: Stats | null }
  | { kind: 'through'; path: string; pipe: boolean; append: boolean };

const mostLinks = 40;
const askEvery = 100;
const noteAfter = 1_000;

/** Throws CliError (exit 13) when a file that a person named cannot be written; leaves nothing behind. */
export async function checkWritable(path: string): Promise<void> {
  return told(path, async () => {
    const target = await targetOf(path);
    if (target.kind === 'through') return access(target.path, constants.W_OK);
    // Only the attempt says what disks, mounts and access lists allow.
    if (target.stats !== null) await (await open(target.path, constants.O_WRONLY)).close();
    const beside = besideOf(target.path);
    await (await open(beside, 'wx', 0o600)).close();
    await rm(beside, { force: true });
  });
}

/**
 * Writes a file that a person named. A regular one is whole or as it was, with its mode; links are followed.
 * Throws CliError (exit 13) when it cannot be written.
 */
export async function writeNamedFile(
  path: string,
  blocks: AsyncIterable<string>,
  patience: Patience,
): Promise<void> {
  const target = await told(path, () => targetOf(path));
  if (target.kind === 'whole') return replace(path, target, blocks);
  const file = await told(path, () => (target.pipe ? openPipe(path, patience) : openDevice(target)));
  try {
    const isTerminal = (await import('node:tty')).isatty(file.fd);
    for await (const block of blocks) {
      await told(path, () => file.appendFile(isTerminal ? visibleLines(block) : block));
    }
  } finally {
    await file.close();
  }
}

async function replace(
  path: string,
  { path: real, stats }: Extract<Target, { kind: 'whole' }>,
  blocks: AsyncIterable<string>,
): Promise<void> {
  const beside = besideOf(real);
  try {
    const file = await told(path, () => open(beside, 'wx', 0o600));
    try {
      for await (const block of blocks) await told(path, () => file.appendFile(block));
      if (stats !== null) await told(path, () => keepOwner(file, stats));
      await told(path, () => file.sync());
    } finally {
      await file.close();
    }
    await told(path, () => putInPlace(beside, real));
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw error;
  }
}

/** Only root can give a file to its former owner; the mode comes last, since a new owner can take bits off it. */
async function keepOwner(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid);
  await file.chmod(mode & 0o7777);
}

async function putInPlace(beside: string, path: string): Promise<void> {
  try {
    await renameFile(beside, path);
    // The name is there in any case; a folder that may be written to but not read cannot be opened for it.
    await syncFolder(dirname(path)).catch(() => {});
  } catch (error) {
    // A file that is mounted into a container cannot be replaced, only filled.
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || process.platform === 'win32') throw error;
    await copyFile(beside, path);
    await rm(beside);
  }
}

const besideOf = (path: string) => `${path}.${process.pid}.part`;

async function targetOf(path: string): Promise<Target> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) {
    const real = await linked(path);
    const folder = await stat(dirname(real)).catch(() => null);
    if (folder === null) throw reason('ENOENT');
    return { kind: 'whole', path: real, stats };
  }
  if (stats.isDirectory()) throw reason('EISDIR');
  if (stats.isSocket()) throw reason('ENXIO');
  if (!stats.isFile()) return { kind: 'through', path, pipe: stats.isFIFO(), append: false };
  if (await isOurs(stats)) return { kind: 'through', path, pipe: false, append: true };
  return { kind: 'whole', path: await realpath(path), stats };
}

/** Where the links from a name end, when there is no file yet. */
async function linked(path: string): Promise<string> {
  let at = path;
  for (let count = 0; count < mostLinks; count += 1) {
    const to = await readlink(at).catch(() => null);
    if (to === null) return at;
    at = resolve(dirname(at), to);
  }
  throw reason('ELOOP');
}

/** `--report /dev/stdout` with a shell that sends our output to a file: others write to that file, too. */
async function isOurs({ dev, ino }: Stats): Promise<boolean> {
  const { fstatSync } = await import('node:fs');
  return [1, 2].some((descriptor) => {
    try {
      const ours = fstatSync(descriptor);
      return ours.isFile() && ours.dev === dev && ours.ino === ino;
    } catch {
      return false;
    }
  });
}

function openDevice({ path, append }: { path: string; append: boolean }): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_NOCTTY = 0 } = constants;
  return open(path, O_WRONLY | O_NOCTTY | (append ? O_APPEND : 0));
}

/** To open a pipe that nobody reads would wait without end, in a thread that nothing can stop. */
async function openPipe(path: string, { note, sleep }: Patience): Promise<FileHandle> {
  const { O_WRONLY, O_NONBLOCK } = constants;
  for (let waited = 0; ; waited += askEvery) {
    try {
      const probe = await open(path, O_WRONLY | O_NONBLOCK);
      try {
        // A reader is there, so this returns at once; the first one would refuse what a full pipe has to wait for.
        return await open(path, O_WRONLY);
      } finally {
        await probe.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
    }
    if (waited === noteAfter) note(`waiting for somebody to read ${path}`);
    await sleep(askEvery).catch((cause) => {
      throw machineError(
        `${path} was not written: nobody has read it`,
        cause,
        'Read it while the command runs.',
      );
    });
  }
}

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EISDIR: ['it is a folder', 'Name a file in it.'],
  ENOENT: ['its folder does not exist', 'Make the folder first, or name another one.'],
  ENXIO: ['it is a socket', 'Name a file, a named pipe or a device.'],
  ENOTDIR: ['a file stands where a folder has to be', 'Name another folder.'],
  ELOOP: ['its links go in a circle', 'Name another file.'],
  EACCES: ['permission denied', 'Name a file that you may write, in a folder that you may write to.'],
  EPERM: ['permission denied', 'Name a file that you may write, in a folder that you may write to.'],
  EROFS: ['the disk is read-only', 'Name a file on another disk.'],
  ENOSPC: ['there is no room on the disk', 'Make room, or name a file on another disk.'],
  EDQUOT: ['your share of the disk is used up', 'Make room, or name a file on another disk.'],
  EPIPE: ['its reader has left', 'Keep it read until the end.'],
};

const reason = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** Only what this machine refuses is told as that; faults of the blocks stay what they are. */
async function told<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof CliError) throw error;
    const [what, hint] = reasons[code] ?? [code, 'Check the disk or the network folder it is on.'];
    throw machineError(`${path} cannot be written: ${what}`, error, hint);
  }
}
