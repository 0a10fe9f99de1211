import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from './random.js';

/** Where a service keeps its data. */
export interface Installation {
  /** Paths of SQLite files. */
  store: string;
  allowances: string;
  carrier: string;
  /** 32 bytes that protect verification codes, kept apart from the store. */
  secret: Uint8Array;
  /** Whether other processes can use the same data. */
  shared: boolean;
}

const secretLength = 32;

/** Prepares a folder that only its owner can read; without one everything is in memory. */
export function openInstallation(directory: string | undefined, random: Random): Installation {
  if (directory === undefined) {
    const memory = ':memory:';
    const secret = random.bytes(secretLength);
    return { store: memory, allowances: memory, carrier: memory, secret, shared: false };
  }
  makeFolders(directory);
  return {
    store: join(directory, 'service.db'),
    allowances: join(directory, 'rates.db'),
    carrier: join(directory, 'operator.db'),
    secret: readSecret(directory, random),
    shared: true,
  };
}

/** Not the `recursive` of Node.js: it never returns where every new folder is answered with ENOENT, as in /proc. */
function makeFolders(path: string): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolders(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function readSecret(directory: string, random: Random): Uint8Array {
  const path = join(directory, 'secret');
  const made = join(directory, `secret.${process.pid}.${Buffer.from(random.bytes(6)).toString('hex')}`);
  try {
    return checkSecret(path, readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(made, random.bytes(secretLength), { mode: 0o600, flush: true });
  try {
    // A link never replaces: of several processes that start at once, the first one's secret stays.
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made);
  }
  return checkSecret(path, readFileSync(path));
}

function checkSecret(path: string, secret: Uint8Array): Uint8Array {
  if (secret.length === secretLength) return secret;
  throw new Error(`${path} is damaged: it has ${secret.length} bytes instead of ${secretLength}`);
}
