import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder of a Node.js from its npm package, fetched once. npm has win-arm64 in an older version than the others. */
export function fetchNode({ name, version, integrity }) {
  const cache = resolve('node_modules/.cache/release', `${name}-${version}`);
  const folder = join(cache, 'package');
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const archive = join(cache, `${name}-${version}.tgz`);
  try {
    execFileSync('npm', ['pack', '--silent', `${name}@${version}`, '--pack-destination', cache]);
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${name} ${version} is another one than ${integrity}: ${found}`);
    execFileSync('tar', ['-xzf', archive, '-C', cache]);
  } finally {
    rmSync(archive, { force: true });
  }
  return folder;
}
