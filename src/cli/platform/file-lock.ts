import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock, LockHolder } from './lock-types.js';
import { platformOf } from './platform.js';

/** libuv's UV_FS_O_EXLOCK: Windows refuses the file to others until this process closes it or ends. */
const exclusive = 0x10000000;
/** A virus scanner or a check of the lock has the file open only for a moment. */
const mostTries = 10;
const between = 50;

export interface FileLockCalls {
  open(path: string, flags: number, mode: number): Promise<Pick<FileHandle, 'close'>>;
  sleep(milliseconds: number): Promise<unknown>;
}
const realCalls: FileLockCalls = { open, sleep };

/** Beside the folder: Windows cannot remove a folder with an open file. */
const fileOf = (folder: string, what: 'lock' | 'pid') =>
  join(dirname(folder), `.${basename(folder)}.${what}`);
const isBusy = (error: unknown) =>
  platformOf('win32').busyErrors.includes((error as NodeJS.ErrnoException).code ?? '');

export async function lockFolder(folder: string, calls = realCalls): Promise<Lock> {
  const path = fileOf(folder, 'lock');
  for (let tries = 1; ; tries += 1) {
    try {
      const file = await calls.open(path, constants.O_RDWR | constants.O_CREAT | exclusive, 0o600);
      await writeFile(fileOf(folder, 'pid'), String(process.pid), { mode: 0o600 }).catch(() => {});
      const end = () => release(folder, file);
      return { held: true, release: end, releaseRemoved: end };
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (tries === mostTries) return { held: false, pid: await pidOf(folder) };
      await calls.sleep(between);
    }
  }
}

export async function lockHolder(folder: string, calls = realCalls): Promise<LockHolder | null> {
  try {
    await (await calls.open(fileOf(folder, 'lock'), constants.O_RDONLY, 0o600)).close();
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (!isBusy(error)) throw error;
    return { pid: await pidOf(folder) };
  }
}

async function pidOf(folder: string): Promise<number | null> {
  const text = await readFile(fileOf(folder, 'pid'), 'utf8').catch(() => '');
  return /^[0-9]+$/.test(text) ? Number(text) : null;
}

async function release(folder: string, file: Pick<FileHandle, 'close'>): Promise<void> {
  await rm(fileOf(folder, 'pid'), { force: true }).catch(() => {});
  await file.close();
  // Windows does not remove the file if another process has just opened it.
  await rm(fileOf(folder, 'lock'), { force: true }).catch(() => {});
}
