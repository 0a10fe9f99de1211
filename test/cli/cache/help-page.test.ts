import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CacheFolder } from '../../../src/cli/cache/cache-folder.js';
import { HelpPage } from '../../../src/cli/cache/help-page.js';
import { emptyFolder } from '../../support/folders.js';
import { run } from '../../support/run.js';

const home = emptyFolder();
const user = process.geteuid?.() ?? -1;
const of = (line: string, { build = 'one', owner = user } = {}) =>
  HelpPage.of(line.split(' ').filter(Boolean), build, new CacheFolder(join(home, 'cache'), owner));
const read = (line: string) => of(line)?.read()?.toString();
const stored = () => readdirSync(join(home, 'cache')).map((name) => join(home, 'cache', name));

describe('a kept page of help', () => {
  it.each(['', '--help', 'balance --help', 'sms send --help', 'service settings get --help'])(
    'is found by the same words: `urtuu %s`',
    (line) => {
      of(line)?.keep('Көмөк\n');
      expect(read(line)).toBe('Көмөк\n');
      for (const file of stored()) expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  it.each([
    '-h',
    'sms send',
    '--help sms send',
    'sms send --help --help',
    'sms send --help x',
    'sms send 99112233 --help',
    'sms send --json --help',
    '--profile x --help',
    '__complete --help',
    'Sms --help',
    '../sms --help',
    'a b c d --help',
  ])('is neither looked for nor made for other command lines: `urtuu %s`', (line) => {
    expect(of(line)).toBeNull();
  });

  it.each([
    ['another build', 'sms send --help', { build: 'two' }],
    ['a build whose name goes on', 'sms send --help', { build: 'one sms' }],
    ['words that are written alike', 'sms-send --help', {}],
    ['the command above it', 'sms --help', {}],
    ['another user', 'sms send --help', { owner: user + 1 }],
  ])('is not that of %s', (_, line, given) => {
    of('sms send --help')?.keep('page');
    expect(read('sms send --help')).toBe('page');
    expect(of(line, given)?.read()).toBeNull();
  });

  it.each<[string, (file: string) => void]>([
    ['of which one copy is damaged', (file) => writeFileSync(file, turned(readFileSync(file)))],
    ['of another build under its name', (file) => writeFileSync(file, 'two sms send --help\npage'.repeat(2))],
    ['that is empty', (file) => writeFileSync(file, '')],
    ['that its group can write', (file) => chmodSync(file, 0o660)],
    ['in a folder that others can write', () => chmodSync(join(home, 'cache'), 0o777)],
  ])('is made again in place of one %s', (_, damage) => {
    of('sms send --help')?.keep('page');
    for (const file of stored()) damage(file);
    expect(read('sms send --help')).toBeUndefined();
  });

  it('is what a run asked for help has printed, and of no other run', async () => {
    const pages: string[] = [];
    const onHelp = (page: string) => pages.push(page);
    const { stdout } = await run('sms send --help', { env: {}, onHelp });
    expect(pages).toEqual([stdout]);
    for (const line of [
      'sms',
      'balance extra',
      'help options',
      'completion bash',
      'sms send --dry-run 99112233 x',
    ])
      await run(line, { env: {}, onHelp });
    expect(pages).toEqual([stdout]);
  });
});

function turned(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  copy[content.length - 2] = (copy[content.length - 2] ?? 0) ^ 1;
  return copy;
}
