import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makePrivate } from '../database/private-files.js';
import { syncFolder } from './folder.js';

/** Whose files these are, and how often they were opened. */
export interface Identity {
  id: string;
  epoch: number;
}

/** What `installation.json` holds. */
export interface WrittenIdentity extends Identity {
  /** Bytes of the data files when it was written. */
  sizes: { store: number; carrier: number };
}

/** What `installation.json` says: null when it is missing, 'damaged' when it says nothing. */
export function readIdentity(path: string): WrittenIdentity | 'damaged' | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { version, ...identity } = JSON.parse(text) as WrittenIdentity & { version: number };
    const { id, epoch, sizes } = identity;
    const numbers = [epoch, sizes.store, sizes.carrier];
    if (version === 1 && typeof id === 'string' && numbers.every(Number.isSafeInteger)) return identity;
  } catch {
    // Damaged.
  }
  return 'damaged';
}

/** On disk when it resolves. To be called by one process at a time. */
export async function writeIdentity(path: string, { id, epoch, sizes }: WrittenIdentity): Promise<void> {
  const made = `${path}.new`;
  makePrivate(made);
  writeFileSync(made, `${JSON.stringify({ version: 1, id, epoch, sizes })}\n`, { flush: true });
  await replace(made, path);
  syncFolder(dirname(path));
}

/** Windows refuses to while another process is just reading the file. */
async function replace(made: string, path: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return renameSync(made, path);
    } catch (error) {
      if (process.platform !== 'win32' || tries === 50) throw error;
      await pause(10);
    }
  }
}
