import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { randomUuid } from '../../../src/cli/platform/random-uuid.js';
import { testFolder } from '../../support/folders.js';

/** Version 4, variant 1 (RFC 9562). */
const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function folder(): string {
  const path = testFolder();
  return path;
}

it.each([
  ['the generator of the kernel', () => '/dev/urandom'],
  ['nothing', () => join(folder(), 'missing')],
  ['a folder', folder],
  ['a device that gives the same bytes each time', () => '/dev/zero'],
  [
    'a pipe that nobody writes to',
    () => {
      const path = join(folder(), 'pipe');
      if (process.platform !== 'win32') execFileSync('mkfifo', [path]);
      return path;
    },
  ],
  [
    'a file, which gives the same bytes each time',
    () => {
      const path = join(folder(), 'urandom');
      writeFileSync(path, Buffer.alloc(64, 7));
      return path;
    },
  ],
])('makes a new UUID each time from %s', (_, make) => {
  const path = make();
  const made = Array.from({ length: 1_000 }, () => randomUuid(path));
  expect(new Set(made).size).toBe(1_000);
  expect(made.filter((uuid) => !shape.test(uuid))).toEqual([]);
});
