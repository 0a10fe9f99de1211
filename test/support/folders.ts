import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, onTestFinished } from 'vitest';

const make = () => mkdtempSync(join(tmpdir(), 'urtuu-test-'));
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

/** A folder for the rest of the running test. */
export function testFolder(): string {
  const folder = make();
  onTestFinished(() => remove(folder));
  return folder;
}

/** A folder for all tests of the file or the group that asks for it. */
export function fileFolder(): string {
  const folder = make();
  afterAll(() => remove(folder));
  return folder;
}

/** A folder that each test of the file or the group finds empty. */
export function emptyFolder(): string {
  const folder = fileFolder();
  afterEach(() => {
    remove(folder);
    mkdirSync(folder, { mode: 0o700 });
  });
  return folder;
}
