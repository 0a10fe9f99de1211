import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivateFile } from './config/atomic-file.js';
import { makeFolder } from './config/make-folder.js';
import type { Context } from './context.js';

const kept = 50;
const tidyOver = 16_384;
const fileOf = (context: Context) => join(context.stateDirectory, 'recent-ids');

/** Notes an id, for completion in the shell. A convenience: that it fails is nobody's trouble. */
export async function remember(context: Context, id: string): Promise<void> {
  if (!/^[\w-]{1,100}$/.test(id)) return;
  try {
    const file = fileOf(context);
    makeFolder(dirname(file));
    appendFileSync(file, `${id}\n`, { mode: 0o600 });
    if (statSync(file).size > tidyOver) {
      await writePrivateFile(file, `${recentIds(context).reverse().join('\n')}\n`);
    }
  } catch {}
}

/** The newest ids of this machine, the newest first. */
export function recentIds(context: Context): string[] {
  return [...new Set(textOf(context).split('\n').filter(Boolean).reverse())].slice(0, kept);
}

function textOf(context: Context): string {
  try {
    return readFileSync(fileOf(context), 'utf8');
  } catch {
    return '';
  }
}
