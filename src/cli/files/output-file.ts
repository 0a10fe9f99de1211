import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, copyFile, type FileHandle, open, readlink, realpath, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CliError, machineError } from '../errors.js';
import { renameFile } from '../platform/rename.js';
import { syncFile } from '../platform/sync-file.js';
import { syncFolder } from '../platform/sync-folder.js';
import { visibleLines } from '../terminal/sanitise.js';

/** How to wait for the reader of a named pipe. */
export interface PipeWait {
  note(text: string): void;
  /** Rejects if the signal is aborted, or without one, if the run was stopped. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A regular file is replaced as a whole; devices, pipes and this process's standard output are appended to. */
type Target =
  | { kind: 'whole'; path: string; stats: Stats | null }
  | { kind: 'stream'; path: string; pipe: boolean; append: boolean };

const maxLinks = 40;
const probeEvery = 100;
const noteAfter = 1_000;

/** Throws CliError (exit 13) if the file cannot be written; leaves nothing behind. */
export async function checkWritable(path: string): Promise<void> {
  return writing(path, async () => {
    const target = await targetOf(path);
    if (target.kind === 'stream') return access(target.path, constants.W_OK);
    // Mounts and access lists only show when one tries.
    if (target.stats !== null) await (await open(target.path, constants.O_WRONLY)).close();
    const temporary = temporaryPathOf(target.path);
    await (await open(temporary, 'wx', 0o600)).close();
    await rm(temporary, { force: true });
  });
}

/**
 * Writes a file. A regular file is written completely or left unchanged, and keeps its mode and owner; links are
 * followed. Throws CliError (exit 13) if it cannot be written.
 */
export async function writeNamedFile(
  path: string,
  blocks: AsyncIterable<string | Uint8Array>,
  wait: PipeWait,
): Promise<void> {
  const target = await writing(path, () => targetOf(path));
  if (target.kind === 'whole') return replace(path, target, blocks);
  const file = await writing(path, () => (target.pipe ? openPipe(path, wait) : openDevice(target)));
  try {
    const isTerminal = (await import('node:tty')).isatty(file.fd);
    for await (const block of blocks) {
      const shown = isTerminal && typeof block === 'string' ? visibleLines(block) : block;
      await writing(path, () => file.appendFile(shown));
    }
  } finally {
    await file.close();
  }
}

async function replace(
  path: string,
  { path: real, stats }: Extract<Target, { kind: 'whole' }>,
  blocks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const temporary = temporaryPathOf(real);
  try {
    const file = await writing(path, () => open(temporary, 'wx', 0o600));
    try {
      for await (const block of blocks) await writing(path, () => file.appendFile(block));
      if (stats !== null) await writing(path, () => keepOwner(file, stats));
      await writing(path, () => syncFile(file));
    } finally {
      await file.close();
    }
    await writing(path, () => putInPlace(temporary, real));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Only root can change the owner of a file. The mode is set last, because a new owner can clear bits of it. */
async function keepOwner(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid);
  await file.chmod(mode & 0o7777);
}

async function putInPlace(temporary: string, path: string): Promise<void> {
  try {
    await renameFile(temporary, path);
    // A folder that can be written but not read cannot be opened for a sync.
    await syncFolder(dirname(path)).catch(() => {});
  } catch (error) {
    // A file mounted into a container cannot be replaced, only overwritten.
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || process.platform === 'win32') throw error;
    await copyFile(temporary, path);
    await rm(temporary);
  }
}

/** Not named by process id, which is the same at each start of a container: a crash may have left that file. */
const temporaryPathOf = (path: string) => `${path}.${randomBytes(6).toString('hex')}.part`;

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
  if (!stats.isFile()) return { kind: 'stream', path, pipe: stats.isFIFO(), append: false };
  if (await isStandardOutput(stats)) return { kind: 'stream', path, pipe: false, append: true };
  return { kind: 'whole', path: await realpath(path), stats };
}

/** The target of a name's links, if that does not exist yet. */
async function linked(path: string): Promise<string> {
  let at = path;
  for (let count = 0; count < maxLinks; count += 1) {
    const to = await readlink(at).catch(() => null);
    if (to === null) return at;
    at = resolve(dirname(at), to);
  }
  throw reason('ELOOP');
}

/** `--report /dev/stdout` when the shell redirects standard output to a file, to which others write too. */
async function isStandardOutput({ dev, ino }: Stats): Promise<boolean> {
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

/** Opening a pipe without a reader would block a thread for ever. */
async function openPipe(path: string, { note, sleep }: PipeWait): Promise<FileHandle> {
  const { O_WRONLY, O_NONBLOCK } = constants;
  for (let waited = 0; ; waited += probeEvery) {
    try {
      const probe = await open(path, O_WRONLY | O_NONBLOCK);
      try {
        // With a reader this returns at once; a non-blocking handle would fail on a full pipe.
        return await open(path, O_WRONLY);
      } finally {
        await probe.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
    }
    if (waited === noteAfter) note(`waiting for a reader of ${path}`);
    await sleep(probeEvery).catch((cause) => {
      throw machineError(`cannot write ${path}: it has no reader`, cause, 'Read it while the command runs.');
    });
  }
}

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EISDIR: ['it is a folder', 'Name a file in it.'],
  ENOENT: ['its folder does not exist', 'Make the folder first, or name another one.'],
  ENXIO: ['it is a socket', 'Name a file, a named pipe or a device.'],
  ENOTDIR: ['a part of the path is a file', 'Name another folder.'],
  ELOOP: ['its links form a loop', 'Name another file.'],
  EACCES: ['permission denied', 'Name a file and a folder that you can write to.'],
  EPERM: ['permission denied', 'Name a file and a folder that you can write to.'],
  EROFS: ['the disk is read-only', 'Name a file on another disk.'],
  ENOSPC: ['the disk is full', 'Make room, or name a file on another disk.'],
  EDQUOT: ['your disk quota is used up', 'Make room, or name a file on another disk.'],
  EPIPE: ['its reader has left', 'Keep it read until the end.'],
};

const reason = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** Converts system errors of writing to CliErrors; errors of the blocks are passed on. */
async function writing<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof CliError) throw error;
    const [what, hint] = reasons[code] ?? [code, 'Check the disk or the network folder it is on.'];
    throw machineError(`cannot write ${path}: ${what}`, error, hint);
  }
}
