import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf, printed } from './binary.js';

const namespace = ['-Urm'];

export const whyNoDisk = (): string | null =>
  spawnSync('unshare', [...namespace, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
    ? null
    : 'no disk may be made here';

/** A small disk at a folder that programs see which are run with the words of `within`; `path` is its way from here. */
export async function smallDisk(folder: string) {
  mkdirSync(folder);
  const script = 'mount -t tmpfs -o size=128m tmpfs "$0" && echo mounted && read -r _';
  const holder = spawn('unshare', [...namespace, 'bash', '-c', script, folder]);
  const ended = outcomeOf(holder);
  await printed(holder, 'stdout', /mounted/);
  return {
    path: `/proc/${holder.pid}/root${folder}`,
    within: ['--target', String(holder.pid), '--user', '--mount', '--preserve-credentials'],
    end() {
      holder.stdin.end();
      return ended;
    },
  };
}

/** Writes until so many bytes are left. */
export function fill(disk: string, left: number): void {
  const { bavail, bsize } = statfsSync(disk);
  try {
    appendFileSync(join(disk, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - left)));
  } catch (error) {
    // Others have taken the rest meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
