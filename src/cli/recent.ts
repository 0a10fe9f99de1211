import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivateFile } from './config/atomic-file.js';
import { makeFolder } from './config/make-folder.js';

interface StateFolder {
  /** Throws where there is none. */
  readonly stateDirectory: string;
}

const kept = 50;
const tidyOver = 16_384;
const fileOf = (config: StateFolder) => join(config.stateDirectory, 'recent-ids');

/** Notes an id, for completion in the shell. A convenience: that it fails is nobody's trouble. */
export async function remember(config: StateFolder, id: string): Promise<void> {
  if (!/^[\w-]{1,100}$/.test(id)) return;
  try {
    const file = fileOf(config);
    makeFolder(dirname(file));
    appendFileSync(file, `${id}\n`, { mode: 0o600 });
    if (statSync(file).size > tidyOver) {
      await writePrivateFile(file, `${recentIds(config).reverse().join('\n')}\n`);
    }
  } catch {}
}

/** The newest ids of this machine, the newest first. */
export function recentIds(config: StateFolder): string[] {
  return [...new Set(textOf(config).split('\n').filter(Boolean).reverse())].slice(0, kept);
}

function textOf(config: StateFolder): string {
  try {
    return readFileSync(fileOf(config), 'utf8');
  } catch {
    return '';
  }
}
