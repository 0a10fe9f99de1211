import { fdatasync, fsync } from 'node:fs';
import { promisify } from 'node:util';

interface OpenFile {
  readonly fd: number;
}

/** Makes a file durable. Not its own `sync`, which files under Yarn's Plug'n'Play do not have. */
export const syncFile = ({ fd }: OpenFile): Promise<void> => promisify(fsync)(fd);

/** Makes the bytes of a file durable. */
export const syncBytes = ({ fd }: OpenFile): Promise<void> => promisify(fdatasync)(fd);
