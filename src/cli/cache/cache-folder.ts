import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../platform/make-folder.js';

const longestFile = 8 * 2 ** 20;
/** If there are more, all are deleted; those still in use return. */
const mostFiles = 64;

/**
 * A private folder of files that make a start faster. A failure here is not an error: the start is then as slow as
 * without it. Each file has two copies, and is used only if they are equal, because nothing else would detect damage
 * (a checksum would cost more than it saves).
 */
export class CacheFolder {
  /** Created if missing; null to work without. */
  readonly #path: string | null;
  /** The user id that must own folder and files. */
  readonly #user: number;

  constructor(path: string | null, user: number) {
    this.#path = path;
    this.#user = user;
  }

  /** What was written under this name; null if it is missing, damaged, or others can change it. */
  read(name: string): Buffer | null {
    if (this.#path === null) return null;
    try {
      if (!this.#isPrivate(lstatSync(this.#path))) return null;
      const content = this.#readPrivate(join(this.#path, name));
      const copy = content.subarray(0, content.length / 2);
      return copy.equals(content.subarray(copy.length)) ? copy : null;
    } catch {
      return null;
    }
  }

  /** Replaces the file of this name, which ends in `.code` or `.page`. */
  write(name: string, copy: Buffer): void {
    if (this.#path === null || 2 * copy.length > longestFile) return;
    const place = join(this.#path, name);
    const beside = `${place}.${process.pid}`;
    try {
      makeFolder(this.#path);
      if (!this.#isPrivate(lstatSync(this.#path))) return;
      makeRoom(this.#path);
      writeFileSync(beside, Buffer.concat([copy, copy]), { flag: 'wx', mode: 0o600 });
      renameSync(beside, place);
    } catch {
      discard(beside);
    }
  }

  #readPrivate(file: string): Buffer {
    // O_NONBLOCK: opening a named pipe would hang.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile() || !this.#isPrivate(stats) || stats.size > longestFile) throw new Error('not ours');
      const content = Buffer.allocUnsafeSlow(stats.size);
      return content.subarray(0, readSync(descriptor, content));
    } finally {
      closeSync(descriptor);
    }
  }

  #isPrivate({ uid, mode }: Stats): boolean {
    return uid === this.#user && (mode & 0o022) === 0;
  }
}

/**
 * Versions of Node.js come and go and leave their files. If the XDG folders are the same folder, other files are
 * beside them.
 */
function makeRoom(folder: string): void {
  const names = readdirSync(folder).filter((name) => /\.(?:code|page)(?:\.\d+)?$/.test(name));
  if (names.length < mostFiles) return;
  for (const name of names) discard(join(folder, name));
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}
