import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
/** Bytes; the lists of a test take far less. */
const enough = 4 * 2 ** 30;
const beginning = 'urtuu-tests-';
/** Names the process of a folder: in the name of the folder its digits would pass for a telephone number. */
const owner = '.owner';

/** Puts the folders of tests into memory, where a sync costs nothing. TMPDIR, when set, takes them to a disk. */
export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !isUsable()) return;
  // Containers may share the memory, and count their processes apart.
  const processes = readlinkSync('/proc/self/ns/pid');
  removeDead(processes);
  if (!hasRoom()) return;
  const folder = mkdtempSync(join(memory, beginning));
  writeFileSync(join(folder, owner), JSON.stringify({ processes, pid: process.pid }));
  // Like /tmp: some tests run commands as another user.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A run that was killed has left hundreds of MB in memory. */
function removeDead(processes: string): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(beginning))) {
    const folder = join(memory, name);
    const of = ownerOf(folder);
    if (of?.processes === processes && !isAlive(of.pid)) rmSync(folder, { recursive: true, force: true });
  }
}

function ownerOf(folder: string): { processes: string; pid: number } | null {
  try {
    return JSON.parse(readFileSync(join(folder, owner), 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function isUsable(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
    const [, , type, options = ''] = mount.find(([, folder]) => folder === memory) ?? [];
    return type === 'tmpfs' && !options.split(',').includes('noexec');
  } catch {
    return false;
  }
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > enough;
}
