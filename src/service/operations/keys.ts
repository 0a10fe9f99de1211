import { createHash } from 'node:crypto';
import { type Random, randomInteger } from '../random.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'urtuu_';
const randomLength = 34;
const checksumLength = 6;
/** Characters of a key that lists show: 36 bits of its 202. */
export const keyPrefixLength = 12;
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
