import { fdatasync, fsync } from 'node:fs';

interface OpenFile {
  readonly fd: number;
}

/** Makes a file durable. Not its own `sync`, which files under Yarn's Plug'n'Play do not have. */
export const syncFile = ({ fd }: OpenFile): Promise<void> => synced((done) => fsync(fd, done));

/** Makes the bytes of a file durable. */
export const syncBytes = ({ fd }: OpenFile): Promise<void> => synced((done) => fdatasync(fd, done));

/** `promisify` takes longer than the call itself. */
const synced = (call: (done: (error: Error | null) => void) => void) =>
  new Promise<void>((resolve, reject) => {
    call((error) => (error === null ? resolve() : reject(error)));
  });
