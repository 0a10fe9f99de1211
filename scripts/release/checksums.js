import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const checksum = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Writes the list as `sha256sum --check` reads it. */
export function writeChecksums(folder, names) {
  const lines = [...names].sort().map((name) => `${checksum(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  return 'SHA256SUMS';
}
