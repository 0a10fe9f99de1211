import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const text = ['CONTRIBUTING.md', 'docs/map.md']
  .map((page) => readFileSync(resolve(root, page), 'utf8'))
  .join('\n');
const named = [...text.matchAll(/`((?:[\w.-]+\/|\.\.\/)+[\w.-]*)`/g)].map(([, path = '']) => path);

it('CONTRIBUTING.md and the map name files and folders that are there', () => {
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter(
    (path) => !existsSync(resolve(root, path)) && !existsSync(resolve(root, 'src/cli', path)),
  );
  expect(missing).toEqual([]);
});
