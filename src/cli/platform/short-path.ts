import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Bytes of a socket's address; macOS has the shortest, 104 with the NUL. */
const longestAddress = 103;

/** Calls with the path of a socket in `folder`; a path that is too long is replaced by a short link. */
export async function withShortPath<Value>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Value>,
): Promise<Value> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= longestAddress) return use(path);
  const short = await mkdtemp(join(tmpdir(), 'urtuu-'));
  try {
    const way = join(short, 'f');
    await symlink(resolve(folder), way);
    return await use(join(way, name));
  } finally {
    await rm(short, { recursive: true, force: true });
  }
}
