import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const installers = ['install.sh', 'install.ps1', 'urtuu.rb'];

/** Writes the installers of this version, with its checksums and the address of its archives; returns their names. */
export function writeInstallers(folder, { version, checksums, downloads }) {
  const rows = Object.entries(checksums);
  const values = {
    version,
    downloads,
    // Of a release on GitHub its repository, which the formula has to name.
    homepage: downloads.replace(/\/releases\/.*/, ''),
    cases: rows.map(([system, sum]) => `    ${system}) echo ${sum} ;;`).join('\n'),
    rows: rows.map(([system, sum]) => `  '${system}' = '${sum}'`).join('\n'),
    ...checksums,
  };
  for (const name of installers) {
    const template = readFileSync(join(import.meta.dirname, name), 'utf8');
    const text = template.replace(/\{([a-z][a-z0-9-]*)\}/g, (whole, key) => values[key] ?? whole);
    writeFileSync(join(folder, name), text);
  }
  return installers;
}
