import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const source = resolve(import.meta.dirname, '../src');

/** What a room may import: other rooms, and whether packages. Nothing points back. */
const arrows: Record<string, { rooms: string[]; packages: boolean }> = {
  contract: { rooms: ['contract'], packages: false },
  client: { rooms: ['client', 'contract'], packages: false },
  cli: { rooms: ['cli', 'client', 'contract', 'service/index'], packages: true },
  sandbox: { rooms: ['sandbox', 'contract', 'service/index'], packages: false },
  service: { rooms: ['service', 'contract'], packages: true },
};
/**
 * Inside the service: http -> operations -> storage, dispatch -> storage and carriers. The rate limiter of the command
 * line knows clock and client.
 */
const inner: Record<string, string[]> = {
  'service/operations': ['service/http', 'service/dispatch', 'service/storage/sqlite', 'service/carriers'],
  'service/storage': ['service/http', 'service/operations', 'service/dispatch'],
  'service/dispatch': ['service/http', 'service/storage/sqlite'],
  'service/carriers': ['service/http', 'service/operations', 'service/dispatch'],
  'service/http': ['service/storage', 'service/dispatch', 'service/carriers'],
  'cli/rate-limit': [
    'cli/bulk',
    'cli/commands',
    'cli/context',
    'cli/network',
    'cli/output',
    'cli/lookup',
    'cli/terminal',
  ],
};

interface Import {
  file: string;
  target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport\(|\brequire\(|^import)\s*'([^']+)'/gm);
  return [...found].map(([, target = '']) => ({
    file: relative(source, file),
    target: target.startsWith('.')
      ? relative(source, resolve(dirname(file), target)).replace(/\.js$/, '')
      : target,
  }));
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const imports = files.flatMap((name) => importsOf(join(source, name)));
const isBuiltin = (target: string) => target.startsWith('node:') || builtinModules.includes(target);
const isPackage = ({ target }: Import) => !isBuiltin(target) && !((target.split('/')[0] as string) in arrows);

describe('imports', () => {
  it('finds some', () => expect(imports.length).toBeGreaterThan(5));

  it.each(Object.keys(arrows))('of %s go only where its arrows point', (room) => {
    const { rooms, packages } = arrows[room] as (typeof arrows)[string];
    const wrong = imports
      .filter(({ file }) => file.startsWith(`${room}/`))
      .filter((entry) =>
        isPackage(entry)
          ? !packages
          : !isBuiltin(entry.target) &&
            !rooms.some((to) => entry.target === to || entry.target.startsWith(`${to}/`)),
      );
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(inner))('of %s do not point back', (room) => {
    const wrong = imports
      .filter(({ file }) => file.startsWith(`${room}/`))
      .filter(({ target }) => inner[room]?.some((to) => target === to || target.startsWith(`${to}/`)));
    expect(wrong).toEqual([]);
  });

  it('of contract reach no Node module either', () => {
    expect(imports.filter(({ file, target }) => file.startsWith('contract/') && isBuiltin(target))).toEqual(
      [],
    );
  });
});
