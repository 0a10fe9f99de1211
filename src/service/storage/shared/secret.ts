import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../../encryption.js';

/** Bytes. */
export const secretLength = 32;

/** The part of the secret that the store keeps to recognise it. */
export function fingerprintOf(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('fingerprint').digest();
}

export function isSecretOf(fingerprint: Uint8Array | null, secret: Uint8Array): boolean {
  return fingerprint !== null && timingSafeEqual(fingerprint, fingerprintOf(secret));
}

// Numbers and addresses contain no colon.
const erased = 'erased:';
export const isPseudonym = (to: string): boolean => to.startsWith(erased);

/** Replaces an erased recipient: caps and suppressions recognise it, and nobody without the secret can. */
export type PseudonymOf = (to: string) => string;

export function createPseudonyms(secret: Uint8Array): PseudonymOf {
  const key = deriveKey(secret, 'erased recipients');
  return (to) => `${erased}${createHmac('sha256', key).update(to).digest('base64url')}`;
}
