import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** As `crypto.randomUUID`, which loads eight modules at its first use: more time than the rest of a send takes. */
export function randomUuid(path = '/dev/urandom'): string {
  const bytes = randomBytes(path);
  if (bytes === null) return crypto.randomUUID();
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return groups.join('-');
}

/** 16 bytes of the kernel's generator; null where there is none, as on Windows. A file in its place repeats itself. */
function randomBytes(path: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, 'r');
    const bytes = Buffer.alloc(16);
    const isDevice = fstatSync(descriptor).isCharacterDevice();
    return isDevice && readSync(descriptor, bytes) === bytes.length ? bytes : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
