import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PlanDisk, syncPlanFolder } from '../../../src/cli/bulk/plan/files/plan-disk.js';
import { renameFile, renameFileSync } from '../../../src/cli/platform/rename.js';
import { syncFolder } from '../../../src/cli/platform/sync-folder.js';
import { fileFolder } from '../../support/folders.js';

const failure = (code: string) => Object.assign(new Error(code), { code });

/** A system that lets folders be opened and synced, or refuses with a code. */
function folders({ open, sync }: { open?: string; sync?: string }) {
  const seen = { opened: 0, synced: 0, closed: 0 };
  const opening = () => {
    seen.opened += 1;
    if (open !== undefined) throw failure(open);
  };
  const syncing = () => {
    if (sync !== undefined) throw failure(sync);
    seen.synced += 1;
  };
  const closing = () => {
    seen.closed += 1;
  };
  const later = async () => {
    opening();
    return { fd: 3, close: async () => closing() };
  };
  const opened = () => {
    opening();
    return 3;
  };
  const now = { open: opened, sync: syncing, close: closing } as unknown as PlanDisk;
  return {
    seen,
    both: {
      'while other things happen': (platform: NodeJS.Platform) =>
        syncFolder('/jobs', platform, later as unknown as Parameters<typeof syncFolder>[2], async () =>
          syncing(),
        ),
      'for a plan': async (platform: NodeJS.Platform) => syncPlanFolder(now, '/jobs', platform),
    },
  };
}

describe.each(['while other things happen', 'for a plan'] as const)('the sync of a folder, %s', (way) => {
  it('is left out on Windows, which refuses to open folders', async () => {
    const { both, seen } = folders({ open: 'EPERM' });
    await both[way]('win32');
    expect(seen.opened).toBe(0);
  });

  it.each(['linux', 'darwin'] as const)('is done on %s', async (platform) => {
    const { both, seen } = folders({});
    await both[way](platform);
    expect(seen).toEqual({ opened: 1, synced: 1, closed: 1 });
  });

  it.each(['EINVAL', 'ENOTSUP', 'ENOSYS'])('is left out where the file system has none: %s', async (sync) => {
    const { both, seen } = folders({ sync });
    await both[way]('linux');
    expect(seen.closed).toBe(1);
  });

  it.each([{ sync: 'EIO' }, { sync: 'ENOSPC' }, { open: 'EACCES' }, { open: 'EPERM' }])(
    'fails where the disk does: %j',
    async (fault) => {
      await expect(folders(fault).both[way]('linux')).rejects.toMatchObject({
        code: Object.values(fault)[0],
      });
    },
  );
});

const root = fileFolder();

/** A rename that fails with these codes in turn, and then happens. */
function renames(platform: NodeJS.Platform, faults: string[], folder = false) {
  let slept = 0;
  let tries = 0;
  const rename = () => {
    tries += 1;
    const code = faults.shift();
    if (code !== undefined) throw failure(code);
  };
  const sleep = (milliseconds: number) => {
    slept += milliseconds;
  };
  const doors = { platform, rename, sleep, isFolder: () => folder };
  const later = { ...doors, rename: async () => rename(), sleep: async (each: number) => sleep(each) };
  return {
    counts: () => ({ tries, slept }),
    both: {
      'while other things happen': () => renameFile('a', 'b', later),
      'at once': async () => renameFileSync('a', 'b', doors),
    },
  };
}

describe.each(['while other things happen', 'at once'] as const)('a rename, %s', (way) => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])(
    'onto a file that another program of Windows has open is tried again: %s',
    async (code) => {
      const { both, counts } = renames('win32', [code, code, code]);
      await both[way]();
      expect(counts()).toEqual({ tries: 4, slept: 70 });
    },
  );

  it('is given up after little more than a second, with the error of the system', async () => {
    const { both, counts } = renames('win32', Array(100).fill('EBUSY'));
    await expect(both[way]()).rejects.toMatchObject({ code: 'EBUSY' });
    expect(counts()).toEqual({ tries: 8, slept: 1_270 });
  });

  it('onto a folder that is there says so on Windows as elsewhere', async () => {
    const { both, counts } = renames('win32', ['EPERM'], true);
    await expect(both[way]()).rejects.toMatchObject({ code: 'EEXIST' });
    expect(counts().slept).toBe(0);
  });

  it.each([
    ['linux', 'EACCES'],
    ['darwin', 'EPERM'],
    ['win32', 'ENOSPC'],
    ['win32', 'ENOENT'],
  ] as const)('fails at once on %s with %s', async (platform, code) => {
    const { both, counts } = renames(platform, [code]);
    await expect(both[way]()).rejects.toMatchObject({ code });
    expect(counts()).toEqual({ tries: 1, slept: 0 });
  });
});

it('renames a real file', async () => {
  writeFileSync(join(root, 'a'), 'text');
  await renameFile(join(root, 'a'), join(root, 'b'));
  renameFileSync(join(root, 'b'), join(root, 'c'));
  expect(readFileSync(join(root, 'c'), 'utf8')).toBe('text');
});
