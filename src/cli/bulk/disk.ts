import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../platform/sync-folder.js';

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

export const nodeDisk: Disk = {
  async openAppend(path) {
    const file = await open(path, 'a', 0o600);
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
