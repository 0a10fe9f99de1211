import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { secretLength } from '../../shared/secret.js';
import { makePrivate } from '../database/private-files.js';

/** Null if it is missing or has the wrong length. */
export function readSecret(path: string): Uint8Array | null {
  try {
    const secret = readFileSync(path);
    if (secret.length !== secretLength) return null;
    makePrivate(path);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/** Writes a secret if there is none. */
export function makeSecret(path: string, secret: Uint8Array): void {
  const made = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  makePrivate(made);
  try {
    writeFileSync(made, secret, { flush: true });
    // A link never replaces a file: an existing secret remains.
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made);
  }
}
