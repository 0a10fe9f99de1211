import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder, lockHolder } from '../../../src/cli/platform/file-lock.js';
import { emptyFolder } from '../../support/folders.js';

const exclusive = 0x10000000;
const root = emptyFolder();
const folder = join(root, 'july');
beforeEach(() => mkdirSync(folder));
const opened = new Set<FileHandle>();
afterEach(async () => {
  for (const file of opened) await file.close();
  opened.clear();
});

/** Windows: a file opened exclusively opens for nobody else; in this order, further opens meet `faults`. */
function windows(...faults: (string | null)[]) {
  const owners = new Map<string, boolean>();
  let slept = 0;
  return {
    slept: () => slept,
    async sleep(milliseconds: number) {
      slept += milliseconds;
    },
    async open(path: string, flags: number, mode: number) {
      const fault = faults.shift();
      if (fault) throw Object.assign(new Error(fault), { code: fault });
      if (owners.has(path)) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      const file = await open(path, flags & ~exclusive, mode);
      opened.add(file);
      if ((flags & exclusive) !== 0) owners.set(path, true);
      return {
        async close() {
          owners.delete(path);
          opened.delete(file);
          await file.close();
        },
      };
    },
  };
}

describe('the lock of a job on Windows', () => {
  it('is held by one process at a time, which says who it is', async () => {
    const doors = windows();
    expect(await lockHolder(folder, doors)).toBe(null);
    const lock = await lockFolder(folder, doors);
    expect(lock.held).toBe(true);
    expect(await lockFolder(folder, doors)).toEqual({ held: false, pid: process.pid });
    expect(await lockHolder(folder, doors)).toEqual({ pid: process.pid });
    if (lock.held) await lock.release();
    expect(await lockHolder(folder, doors)).toBe(null);
    expect((await lockFolder(folder, doors)).held).toBe(true);
  });

  it('has no file in the folder, which can be removed while it is held, and leaves none behind', async () => {
    const lock = await lockFolder(folder, windows());
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
    if (lock.held) await lock.release();
    expect(readdirSync(root)).toEqual([]);
  });

  it.each(['EBUSY', 'EPERM', 'EACCES'])(
    'is asked for again while a scanner has the file: %s',
    async (code) => {
      const doors = windows(code, code, null);
      expect((await lockFolder(folder, doors)).held).toBe(true);
      expect(doors.slept()).toBe(100);
    },
  );

  it('is given up within half a second where another process keeps it', async () => {
    const doors = windows();
    await lockFolder(folder, doors);
    expect((await lockFolder(folder, doors)).held).toBe(false);
    expect(doors.slept()).toBeLessThan(500);
  });

  it.each(['ENOSPC', 'EROFS'])('fails where the disk does: %s', async (code) => {
    await expect(lockFolder(folder, windows(code))).rejects.toMatchObject({ code });
  });
});
