import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/threats.md'), 'utf8');
const threats =
  page.slice(page.indexOf('## Threats'), page.indexOf('## Faults')).match(/^\| [A-Z].*$/gm) ?? [];
const tests = threats.flatMap((row) =>
  [...row.matchAll(/`(test\/[^`]+)`: ([^;|]+?)(?=;| \|)/g)].map(
    ([, file = '', title = '']) => [row.slice(2).split(' | ')[0] ?? '', file, title] as const,
  ),
);

describe('docs/threats.md names a test for each threat', () => {
  it('in every row of its tables', () => {
    expect(threats.length).toBeGreaterThan(30);
    expect(threats.filter((row) => !/`test\/[^`]+`: [^;|]+ \|$/.test(row))).toEqual([]);
  });

  it.each(tests)('%s: %s', (_, file, title) => {
    expect(existsSync(join(root, file))).toBe(true);
    expect(readFileSync(join(root, file), 'utf8')).toContain(title);
  });
});

it('the image is built from what its Dockerfile copies, and gets no other file of the folder', () => {
  const lines = (name: string) => readFileSync(join(root, name), 'utf8').split('\n');
  const copied = lines('deploy/Dockerfile')
    .filter((line) => /^COPY (?!--from)/.test(line))
    .flatMap((line) => line.split(' ').slice(1, -1));
  const [first, ...taken] = lines('.dockerignore').filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(taken.sort()).toEqual(copied.map((name) => `!${name}`).sort());
});

it('images of others are named by digest, in the Dockerfile and in compose.yaml', () => {
  const images = ['Dockerfile', 'compose.yaml'].flatMap((name) => {
    const text = readFileSync(join(root, 'deploy', name), 'utf8');
    return [...text.matchAll(/^(?:FROM|\s+image:) (\S+)/gm)].map(([, image]) => image);
  });
  const others = images.filter((image) => image !== 'urtuu');
  expect(others).toHaveLength(4);
  for (const image of others) expect(image).toMatch(/^[a-z]+:[\w-]+@sha256:[0-9a-f]{64}$/);
});

describe('workflows', () => {
  const folder = join(root, '.github/workflows');
  const workflows = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));

  it('run no action that its owner can replace, and publish without a token that lasts', () => {
    const actions = workflows.flatMap((text) => text.match(/(?<=uses: ).+$/gm) ?? []);
    expect(actions.length).toBeGreaterThan(10);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(workflows.join('\n')).not.toMatch(/secrets\./);
  });
});
