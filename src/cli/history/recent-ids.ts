import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../platform/make-folder.js';
import { writePrivateFile } from '../platform/write-private-file.js';

interface Place {
  /** Throws if there is none. */
  readonly stateDirectory: string;
}

const maxIds = 50;
const maxBytes = 16_384;
const fileIn = (place: Place) => join(place.stateDirectory, 'recent-ids');

/** Records an id for shell completion, if possible. */
export async function rememberId(place: Place, id: string): Promise<void> {
  if (!/^[\w-]{1,100}$/.test(id)) return;
  try {
    const file = fileIn(place);
    makeFolder(dirname(file));
    appendFileSync(file, `${id}\n`, { mode: 0o600 });
    if (statSync(file).size > maxBytes) {
      await writePrivateFile(file, `${recentIds(place).reverse().join('\n')}\n`);
    }
  } catch {}
}

/** The ids of recent sends on this machine, newest first. */
export function recentIds(place: Place): string[] {
  return [...new Set(read(place).split('\n').filter(Boolean).reverse())].slice(0, maxIds);
}

function read(place: Place): string {
  try {
    return readFileSync(fileIn(place), 'utf8');
  } catch {
    return '';
  }
}
