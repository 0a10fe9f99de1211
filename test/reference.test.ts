import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandPages } from '../scripts/reference/commands.js';
import { manPages, manualOf } from '../scripts/reference/man-pages.js';
import { commandsPage } from '../scripts/reference/markdown.js';
import { escaped } from '../scripts/reference/roff.js';
import type { CommandRow } from '../src/cli/commands/commands/read-commands.js';
import { testFolder } from './support/folders.js';

const root = resolve(import.meta.dirname, '..');
let commands: CommandRow[];
beforeAll(async () => {
  commands = await commandPages();
});
const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined;

it('docs/commands.md is current; write it with: npm run docs', () => {
  expect(readFileSync(join(root, 'docs/commands.md'), 'utf8')).toBe(commandsPage(commands));
});

it('package.json names the pages of the manual; write them with: npm run docs', () => {
  expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).man).toEqual(manualOf(commands));
});

describe('the manual', () => {
  const known = ['.TH', '.SH', '.PP', '.TP', '.nf', '.fi'];
  const pages = () => [...manPages(commands, '1.2.3')];

  it('has a page for every command', () => {
    const names = pages().map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(['urtuu.1', 'urtuu-sms-bulk.1', 'urtuu-sendmail.1', 'urtuu-csv.7']),
    );
    expect(names.length).toBeGreaterThan(commands.length);
  });

  it('has no request but those of the man macros, and nothing that is not ASCII', () => {
    for (const [name, text] of pages()) {
      expect(text).toMatch(new RegExp(`^\\.TH "${name.replace(/\.\d$/, '').toUpperCase()}" "[17]" `));
      expect(text).not.toMatch(/[^\n\x20-\x7e]/);
      const requests = text.match(/^[.'].{0,2}/gm) ?? [];
      expect(known).toEqual(expect.arrayContaining(requests.map((each) => each.trimEnd())));
      expect(text.match(/^\.nf$/gm)?.length).toBe(text.match(/^\.fi$/gm)?.length);
    }
  });

  it('keeps what roff would take for a request, an escape or a dash', () => {
    expect(escaped(".sh\n'a\\b --x Ж")).toBe("\\&.sh\n\\&'a\\eb \\-\\-x \\[u0416]");
  });

  it.runIf(isThere('groff'))('is clean to groff', () => {
    for (const [name, input] of pages()) {
      const { stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8'], { input, encoding: 'utf8' });
      expect({ name, stderr }).toEqual({ name, stderr: '' });
    }
  });

  it.runIf(isThere('mandoc'))('is clean to mandoc', () => {
    for (const [name, input] of pages()) {
      const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning'], { input, encoding: 'utf8' });
      expect({ name, stdout: stdout.replace(/.*missing date.*\n/g, '') }).toEqual({ name, stdout: '' });
    }
  });

  it.runIf(isThere('man'))('shows every option and example as man shows it', () => {
    const folder = testFolder();
    const text = manPages(commands, '1.2.3').get('urtuu-sms-send.1') ?? '';
    writeFileSync(join(folder, 'urtuu-sms-send.1'), text);
    const env = { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: '' };
    const { stdout } = spawnSync('man', ['-l', join(folder, 'urtuu-sms-send.1')], { env, encoding: 'utf8' });
    const sms = commands.find(({ name }) => name === 'urtuu sms send');
    for (const { flags } of sms?.options ?? []) expect(stdout).toContain(flags);
    for (const { line } of sms?.examples ?? []) expect(stdout).toContain(line);
    expect(stdout).toContain('"id": "0b6f...2c"');
  });
});
