import { createHash, timingSafeEqual } from 'node:crypto';
import { type Random, randomInteger } from '../random.js';
import type { OperationContext } from './context.js';
import type { Caller } from './operations.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'urtuu_';
const randomLength = 34;
const checksumLength = 6;
const form = /^urtuu_[0-9A-Za-z]{40}$/;

/** A new API key: the prefix, 34 random characters in base 62 (202 bits) and a checksum of both. */
export function newSecret(random: Random): string {
  let secret = prefix;
  for (let count = 0; count < randomLength; count += 1) secret += alphabet[randomInteger(random, 62)];
  return secret + checksum(secret);
}

/** Checks form and checksum: false for a mistyped key. */
export function isSecret(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}

/** The caller with this key; null for a malformed, unknown or revoked one. */
export async function authenticate(context: OperationContext, secret: string): Promise<Caller | null> {
  if (!isSecret(secret)) return null;
  const hash = hashSecret(secret);
  const { localKey } = context;
  if (timingSafeEqual(hash, localKey.hash)) return { projectId: localKey.projectId, keyId: 'local' };
  const key = await context.store.findKey(hash);
  if (key === null || key.revokedAt !== null || !timingSafeEqual(hash, key.hash)) return null;
  return { projectId: key.projectId, keyId: key.id };
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let count = 0; count < checksumLength; count += 1) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** CRC-32 (IEEE); Node.js 20.0 has no zlib.crc32. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
