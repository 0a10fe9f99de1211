import { createHmac, timingSafeEqual } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Random } from '../../../random.js';
import { makePrivate } from '../database/private-files.js';

export const secretLength = 32;

/** Null when it is not there, or has not the length of one. */
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

/** Makes one where there is none. */
export function makeSecret(path: string, random: Random): void {
  const made = `${path}.${process.pid}.${Buffer.from(random.bytes(6)).toString('hex')}`;
  makePrivate(made);
  writeFileSync(made, random.bytes(secretLength), { flush: true });
  try {
    // A link never replaces: a secret that is there stays.
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made);
  }
}

/** What the store keeps of the secret, to know it again. */
export function fingerprintOf(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('fingerprint').digest();
}

export function isSecretOf(fingerprint: Uint8Array | null, secret: Uint8Array): boolean {
  return fingerprint !== null && timingSafeEqual(fingerprint, fingerprintOf(secret));
}
