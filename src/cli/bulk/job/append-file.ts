import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../platform/sync-folder.js';

export { syncFolder };

/** A file that only grows. Every method can fail, with the code of the operating system. */
export interface AppendFile {
  /** The bytes from the beginning, in pieces. */
  read(): AsyncIterable<Uint8Array>;
  /** Writes all bytes behind the last one. */
  append(bytes: Uint8Array): Promise<void>;
  /** Cuts the file to its first `size` bytes. */
  truncate(size: number): Promise<void>;
  /** What was written is on the disk when this resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The part of the file system that the journal needs; tests put failing and forgetting disks here. */
export interface Disk {
  /** Opens a file (created with mode 0600 and its name made durable when missing). */
  openAppend(path: string): Promise<AppendFile>;
}

// Windows has no O_NOFOLLOW, and lets only administrators make links.
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants;

export const nodeDisk: Disk = {
  async openAppend(path) {
    // A link in the place of a journal would let what it points to be written over.
    const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600).catch((error) => {
      if (error.code === 'ELOOP')
        error.message = `${path} is a link; remove it, the keys keep anything from being sent twice`;
      throw error;
    });
    await syncFolder(dirname(path));
    return {
      read: () => createReadStream(path),
      async append(bytes) {
        for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten;
      },
      truncate: (size) => file.truncate(size),
      sync: () => file.datasync(),
      close: () => file.close(),
    };
  },
};

/** Whether an error is the operating system's about a file, and no fault of the program. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return error instanceof Error && typeof code === 'string' && typeof syscall === 'string';
}
