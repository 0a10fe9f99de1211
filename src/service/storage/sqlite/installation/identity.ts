import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivate } from '../database/private-files.js';
import { rename } from '../database/rename.js';
import { syncFolder } from './folder.js';

/** Which installation the files belong to, and how often they were opened. */
export interface Identity {
  id: string;
  epoch: number;
}

/** The contents of `installation.json`. */
export interface WrittenIdentity extends Identity {
  /** Bytes of the data files when it was written. */
  sizes: { store: number; carrier: number };
}

/** The contents of `installation.json`: null if it is missing, 'damaged' if it is unreadable. */
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

/** On disk when it resolves. Must be called by one process at a time. */
export async function writeIdentity(path: string, { id, epoch, sizes }: WrittenIdentity): Promise<void> {
  const made = `${path}.new`;
  makePrivate(made);
  writeFileSync(made, `${JSON.stringify({ version: 1, id, epoch, sizes })}\n`, { flush: true });
  await rename(made, path);
  syncFolder(dirname(path));
}
