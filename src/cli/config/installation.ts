import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Kind = 'clone' | 'npm package' | 'executable' | 'Debian package' | 'Homebrew formula';

/** How the command at this path was installed. */
export function kindOf(script: string, exists: (path: string) => boolean = existsSync): Kind {
  const path = realPath(script);
  if (isScript(path)) return /[\\/]node_modules[\\/]/.test(path) ? 'npm package' : 'clone';
  if (/\/Cellar\//.test(path)) return 'Homebrew formula';
  const isDebian = path === '/usr/bin/urtuu' && exists('/var/lib/dpkg/info/urtuu.list');
  return isDebian ? 'Debian package' : 'executable';
}

/** The path of a documentation page that was installed with the command. */
export function pathOfPage(script: string, name: string): string {
  const path = realPath(script);
  const docs = isScript(path) ? 'docs' : 'share/doc/urtuu/docs';
  return join(dirname(dirname(path)), docs, name);
}

/** A path with its links resolved, if it exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The others include Node.js. */
const isScript = (path: string) => /\.[cm]?[jt]s$/.test(path) || path === '';
