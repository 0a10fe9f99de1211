import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';

/** What npm would pack; without the built files where nothing is built. */
let packed: Set<string>;
beforeAll(async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  packed = new Set(files.map(({ path }) => path));
}, 60_000);

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`]*`/g, '');

const linksOf = (file: string) =>
  [...withoutCode(readFileSync(join(root, file), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, to = '']) => to,
  );

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (file: string) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the packed pages', () => {
  it('are the README, the docs and the other pages for users', () => {
    const texts = [...packed].filter((path) => path.endsWith('.md'));
    expect(texts.length).toBeGreaterThan(10);
    for (const path of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/guide.md'])
      expect(texts).toContain(path);
  });

  it('have relative links that lead to something in the package, and to headings that are there', () => {
    const broken: string[] = [];
    for (const file of [...packed].filter((path) => path.endsWith('.md'))) {
      for (const link of linksOf(file)) {
        if (/^[a-z]+:/.test(link)) continue;
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : posix.normalize(posix.join(dirname(file), path));
        const isFolder = [...packed].some((each) => each.startsWith(`${target}/`));
        if (!packed.has(target) && !isFolder) broken.push(`${file}: ${link}`);
        else if (anchor !== undefined && !anchorsOf(target).includes(anchor)) broken.push(`${file}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('link to pages with https only, and to no picture elsewhere', () => {
    for (const file of [...packed].filter((path) => path.endsWith('.md'))) {
      for (const link of linksOf(file)) expect(link).not.toMatch(/^http:/);
      expect(readFileSync(join(root, file), 'utf8')).not.toMatch(/!\[[^\]]*\]\(https?:/);
    }
  });
});

describe('the README', () => {
  it('links every page of docs', () => {
    const links = new Set(linksOf('README.md'));
    const missing = [...packed].filter((path) => /^docs\/.*\.md$/.test(path) && !links.has(path));
    expect(missing).toEqual([]);
  });

  it('names files of the repository that are there', () => {
    for (const [, path = ''] of readFileSync(join(root, 'README.md'), 'utf8').matchAll(
      /`([\w./-]+\.(?:md|csv|js))`/g,
    )) {
      if (path.includes('/')) expect(existsSync(join(root, path)), path).toBe(true);
    }
  });
});
