import { expect, it } from 'vitest';
import { kindOf, pathOfPage } from '../../../src/cli/config/installation.js';

it.each([
  ['/home/a/urtuu/bin/urtuu.js', 'clone', '/home/a/urtuu/docs/carriers.md'],
  ['/usr/lib/node_modules/urtuu/bin/urtuu.js', 'npm package', '/usr/lib/node_modules/urtuu/docs/carriers.md'],
  ['/home/a/.local/bin/urtuu', 'executable', '/home/a/.local/share/doc/urtuu/docs/carriers.md'],
  ['/usr/bin/urtuu', 'Debian package', '/usr/share/doc/urtuu/docs/carriers.md'],
  [
    '/opt/homebrew/Cellar/urtuu/1.0.0/bin/urtuu',
    'Homebrew formula',
    '/opt/homebrew/Cellar/urtuu/1.0.0/share/doc/urtuu/docs/carriers.md',
  ],
])('%s is of a %s, with its pages', (script, kind, page) => {
  expect(kindOf(script, (path) => path === '/var/lib/dpkg/info/urtuu.list')).toBe(kind);
  expect(pathOfPage(script, 'carriers.md')).toBe(page);
});
