import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
/** Bytes; the lists of a test take far less. */
const enough = 4 * 2 ** 30;

/** Puts the folders of tests into memory, where a sync costs nothing. TMPDIR, when set, takes them to a disk. */
export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !isUsable()) return;
  // Containers may share the memory, and count their processes apart.
  const beginning = `urtuu-tests-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}-`;
  removeDead(beginning);
  if (!hasRoom()) return;
  const folder = mkdtempSync(join(memory, `${beginning}${process.pid}-`));
  // Like /tmp: some tests run commands as another user.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A run that was killed has left hundreds of MB in memory. */
function removeDead(beginning: string): void {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(beginning) ? Number(name.slice(beginning.length).split('-')[0]) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(memory, name), { recursive: true, force: true });
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
