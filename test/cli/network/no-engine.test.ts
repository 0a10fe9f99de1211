import { expect, it } from 'vitest';
import { engineCommand, noEngine } from '../../../src/cli/network/no-engine.js';
import { EngineError } from '../../../src/service/index.js';

it.each([
  ['/home/a/shop/node_modules/urtuu/bin/urtuu.js', ['/home/a/shop/package.json'], 'npm install'],
  ['/usr/lib/node_modules/urtuu/bin/urtuu.js', [], 'npm install --global'],
  ['C:\\Users\\a\\npm\\node_modules\\urtuu\\bin\\urtuu.js', [], 'npm install --global'],
  [
    '/home/a/shop/node_modules/.pnpm/urtuu@1.0.0/node_modules/urtuu/bin/urtuu.js',
    ['/home/a/shop/package.json', '/home/a/shop/pnpm-lock.yaml'],
    'pnpm add',
  ],
  [
    '/home/a/.local/share/pnpm/global/5/node_modules/.pnpm/urtuu@1.0.0/node_modules/urtuu/bin/urtuu.js',
    ['/home/a/.local/share/pnpm/global/5/package.json', '/home/a/.local/share/pnpm/global/5/pnpm-lock.yaml'],
    'pnpm add --global',
  ],
  [
    '/home/a/shop/node_modules/urtuu/bin/urtuu.js',
    ['/home/a/shop/package.json', '/home/a/shop/yarn.lock'],
    'yarn add',
  ],
  [
    '/home/a/.bun/install/global/node_modules/urtuu/bin/urtuu.js',
    ['/home/a/.bun/install/global/package.json', '/home/a/.bun/install/global/bun.lock'],
    'bun add --global',
  ],
])('%s beside %j is given the engine by %s', (script, files, command) => {
  expect(engineCommand(script, (path) => files.includes(path))).toBe(`${command} @photostructure/sqlite@1`);
});

it('names npx and a clone by the whole command', () => {
  const npx = '/home/a/.npm/_npx/0a1b/node_modules/urtuu/bin/urtuu.js';
  expect(engineCommand(npx, () => true)).toBe('npx --package=urtuu --package=@photostructure/sqlite@1 urtuu');
  expect(engineCommand('/home/a/urtuu/bin/urtuu.js', () => true)).toBe('npm ci');
});

it('names another Node.js where the package is installed and does not run', () => {
  const error = noEngine(new EngineError(new Error('no native build for plan9')), { nodeVersion: 'v20.9.0' });
  expect(error).toMatchObject({
    exit: 13,
    message: expect.stringContaining('no native build for plan9'),
    hint: 'Use Node.js 22.16 or newer, which has SQLite.',
  });
});
