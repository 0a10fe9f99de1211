const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'urtuu_';
const randomLength = 34;
const checksumLength = 6;
const form = /^urtuu_[0-9A-Za-z]{40}$/;

/**
 * A new API key: the prefix, 34 random characters in base 62 (202 bits) and a checksum of both. `below`: a random whole
 * number from 0 to `limit` - 1.
 */
export function newApiKey(below: (limit: number) => number): string {
  let key = prefix;
  for (let count = 0; count < randomLength; count += 1) key += alphabet[below(alphabet.length)];
  return key + checksum(key);
}

/** Checks form and checksum: false for a mistyped key. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
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

/** CRC-32 (IEEE) of ASCII; Node.js 20.0 has no zlib.crc32. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
