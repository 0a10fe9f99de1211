import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.js';

/** Fetches a package for another system, or of another runtime, once; none of them has an install script. */
export function fetchPackage(
  name,
  version,
  file,
  cache = `runtimes/${name.replace(/[@/]+/g, '-')}-${version}`,
) {
  const folder = join(root, 'node_modules/.cache', cache);
  const path = join(folder, 'node_modules', name, file);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    // By force: npm would refuse a package for another system than this.
    const flags = ['--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--force'];
    execFileSync('npm', ['install', ...flags, `${name}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
  }
  return path;
}
