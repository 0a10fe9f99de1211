import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which work without an address too, and a formula, which has to name one. */
const installers = ['install.sh', 'install.ps1'];
const formula = 'urtuu.rb';

/** Writes the installers of this version, with its checksums and the address of its archives, if any; returns their names. */
export function writeInstallers(folder, { version, checksums, downloads }) {
  const rows = Object.entries(checksums);
  const values = {
    version,
    downloads: downloads ?? '',
    // Of a release on GitHub its repository.
    homepage: downloads?.replace(/\/releases\/.*/, ''),
    cases: rows.map(([system, sum]) => `    ${system}) echo ${sum} ;;`).join('\n'),
    rows: rows.map(([system, sum]) => `  '${system}' = '${sum}'`).join('\n'),
    ...checksums,
  };
  const names = downloads === null ? installers : [...installers, formula];
  for (const name of names) {
    const template = readFileSync(join(import.meta.dirname, name), 'utf8');
    const text = template.replace(/\{([a-z][a-z0-9-]*)\}/g, (whole, key) => values[key] ?? whole);
    writeFileSync(join(folder, name), text);
  }
  return names;
}
