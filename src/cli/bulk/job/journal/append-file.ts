import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncBytes } from '../../../platform/sync-file.js';
import { syncFolder } from '../../../platform/sync-folder.js';

/** An append-only file. Every method rejects with the operating system's error. */
export interface AppendFile {
  /** Reads from the beginning. */
  read(): AsyncIterable<Uint8Array>;
  /** Writes all bytes, or rejects. */
  append(bytes: Uint8Array): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Resolves when everything appended is durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens append-only files; tests inject disks that fail or lose power. */
export interface Disk {
  /** Creates a missing file with mode 0600 and a durable name. */
  openAppend(path: string): Promise<AppendFile>;
}

/** With smaller pieces, reading a journal of 100 MB takes twice as long. */
export const readAtOnce = 262_144;

// Windows has no O_NOFOLLOW, and only administrators can create links there.
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants;

export const nodeDisk: Disk = {
  async openAppend(path) {
    // A link in its place could make this overwrite any other file.
    const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600).catch((error) => {
      if (error.code === 'ELOOP')
        error.message = `${path} is a link; remove it: the idempotency keys prevent duplicates`;
      throw error;
    });
    await syncFolder(dirname(path));
    return {
      read: () => createReadStream(path, { highWaterMark: readAtOnce }),
      async append(bytes) {
        for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten;
      },
      truncate: (size) => file.truncate(size),
      sync: () => syncBytes(file),
      close: () => file.close(),
    };
  },
};
