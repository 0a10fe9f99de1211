import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivate } from '../database/private-files.js';

/** Whose files these are, and how often they were opened. */
export interface Identity {
  id: string;
  epoch: number;
}

/** What `installation.json` says: null when it is missing, 'damaged' when it says nothing. */
export function readIdentity(path: string): Identity | 'damaged' | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { version, id, epoch } = JSON.parse(text) as Record<string, unknown>;
    if (version === 1 && typeof id === 'string' && Number.isSafeInteger(epoch))
      return { id, epoch: epoch as number };
  } catch {}
  return 'damaged';
}

/** On disk when it returns. To be called by one process at a time. */
export function writeIdentity(path: string, { id, epoch }: Identity): void {
  const made = `${path}.new`;
  makePrivate(made);
  writeFileSync(made, `${JSON.stringify({ version: 1, id, epoch })}\n`, { flush: true });
  renameSync(made, path);
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
