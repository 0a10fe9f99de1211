import { createHmac, timingSafeEqual } from 'node:crypto';

/** Bytes. */
export const secretLength = 32;

/** The part of the secret that the store keeps, to know it again. */
export function fingerprintOf(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('fingerprint').digest();
}

export function isSecretOf(fingerprint: Uint8Array | null, secret: Uint8Array): boolean {
  return fingerprint !== null && timingSafeEqual(fingerprint, fingerprintOf(secret));
}
