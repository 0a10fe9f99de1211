import { promises } from 'node:fs';
import { dirname } from 'node:path';
import { machineError } from '../errors.js';
import { makeFolder } from './make-folder.js';
import { renameFile } from './rename.js';
import { syncFile } from './sync-file.js';

/** Replaces a private file as a whole: 0600 in a 0700 folder, synced, then renamed. Throws CliError (exit 13). */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  const temporary = `${file}.${process.pid}.new`;
  try {
    makeFolder(folder);
    const handle = await promises.open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await syncFile(handle);
    } finally {
      await handle.close();
    }
    await renameFile(temporary, file);
  } catch (error) {
    await promises.rm(temporary, { force: true }).catch(() => {});
    throw machineError(`cannot write ${file}`, error);
  }
}
