import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const service = resolve(import.meta.dirname, '../../../src/service');

it('no statement for SQLite has numbered parameters, which Node.js 22.16 and 24.0 do not bind', () => {
  const files = ['storage/sqlite', 'carriers/simulated'].flatMap((folder) =>
    readdirSync(join(service, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('postgres'))
      .map((name) => join(service, folder, name)),
  );
  expect(files.length).toBeGreaterThan(30);
  const isNumbered = (path: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .some((line) => !/^\s*\/\//.test(line) && /[\s(=<>]\?\d/.test(line));
  expect(files.filter(isNumbered)).toEqual([]);
});
