import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
/** Bytes; the lists of a test take far less. */
const enough = 4 * 2 ** 30;

/** Puts the folders of tests into memory, where a sync costs nothing. TMPDIR, when set, takes them to a disk. */
export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !isUsable()) return;
  const folder = mkdtempSync(join(memory, 'urtuu-tests-'));
  // Like /tmp: some tests run commands as another user.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
    const [, , type, options = ''] = mount.find(([, folder]) => folder === memory) ?? [];
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize > enough;
  } catch {
    return false;
  }
}
