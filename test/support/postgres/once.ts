import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The variable with the folder that the files of a run share. */
export const sharedFolder = 'URTUU_TEST_POSTGRES_FOLDER';

/** What the first process of a run that asks has made; the others wait for it. */
export async function once(folder: string, name: string, make: () => Promise<string>): Promise<string> {
  const ready = join(folder, `${name}.ready`);
  const broken = join(folder, `${name}.broken`);
  if (isFirst(join(folder, `${name}.begun`))) {
    try {
      write(ready, await make());
    } catch (error) {
      write(broken, String(error));
    }
  }
  while (!existsSync(ready)) {
    if (existsSync(broken)) throw new Error(readFileSync(broken, 'utf8'));
    await pause(50);
  }
  return readFileSync(ready, 'utf8');
}

function isFirst(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function write(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
