import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePrivateFile } from './config/atomic-file.js';
import type { Context } from './context.js';

const kept = 50;
const tidyOver = 16_384;
const fileOf = (context: Context) => join(context.stateDirectory, 'recent-ids');

/** Notes an id, for completion in the shell. A convenience: that it fails is nobody's trouble. */
export async function remember(context: Context, id: string): Promise<void> {
  if (!/^[\w-]{1,100}$/.test(id)) return;
  const file = fileOf(context);
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${id}\n`, { mode: 0o600 });
    if ((await stat(file)).size > tidyOver) {
      await writePrivateFile(file, `${(await recentIds(context)).reverse().join('\n')}\n`);
    }
  } catch {}
}

/** The newest ids of this machine, the newest first. */
export async function recentIds(context: Context): Promise<string[]> {
  const text = await readFile(fileOf(context), 'utf8').catch(() => '');
  return [...new Set(text.split('\n').filter(Boolean).reverse())].slice(0, kept);
}
