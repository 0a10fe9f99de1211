import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Nothing of these is for those who install the package. */
const ours = ['scripts', 'devDependencies', 'allowScripts'];

/** Writes the npm package, and returns its name: what `npm pack` takes, with a manifest for users. */
export function writePackage(output) {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-package-'));
  const pack = (from, to) => {
    const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(to)];
    return execFileSync('npm', words, { cwd: from, encoding: 'utf8' }).trim();
  };
  try {
    execFileSync('tar', ['-xzf', join(folder, pack('.', folder)), '-C', folder]);
    const file = join(folder, 'package/package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    for (const field of ours) delete manifest[field];
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    return pack(join(folder, 'package'), output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
