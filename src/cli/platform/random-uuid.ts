import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Like `crypto.randomUUID`, which loads eight modules of Node.js when first called: 1.8 ms of CPU time in each send.
 */
export function randomUuid(path = '/dev/urandom'): string {
  const bytes = randomBytes(path);
  if (bytes === null) return crypto.randomUUID();
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return groups.join('-');
}

/** Opens a pipe without waiting for its writer. Windows has no such flag. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * 16 bytes from the kernel's generator; null if there is none, as on Windows. A file in its place would repeat
 * itself, and so might another device.
 */
function randomBytes(path: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, flags);
    const bytes = Buffer.alloc(16);
    if (!fstatSync(descriptor).isCharacterDevice()) return null;
    if (readSync(descriptor, bytes) !== bytes.length) return null;
    return bytes.some((byte) => byte !== bytes[0]) ? bytes : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
