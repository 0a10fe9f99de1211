import { promises } from 'node:fs';
import { dirname } from 'node:path';
import { machineError } from '../errors.js';
import { renameFile } from '../platform/rename.js';
import { makeFolder } from './make-folder.js';

/**
 * Writes a private file whole or not at all: 0600 in a 0700 folder, beside its place, synced, then renamed.
 * Throws CliError (exit 13) when the disk does not take it.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  const beside = `${file}.${process.pid}.new`;
  try {
    makeFolder(folder);
    const handle = await promises.open(beside, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameFile(beside, file);
  } catch (error) {
    await promises.rm(beside, { force: true }).catch(() => {});
    throw machineError(`${file} could not be written`, error);
  }
}
