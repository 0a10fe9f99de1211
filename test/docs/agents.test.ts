import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillOf } from '../../scripts/reference/markdown.js';
import type { CommandRow } from '../../src/cli/commands/commands/read-commands.js';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { root } from '../support/binary.js';
import { run } from '../support/run.js';
import { blocksOf, textOf } from './pages.js';

const page = textOf('docs/agents.md');

describe('docs/agents.md', () => {
  it('names each exit code in one row', () => {
    const named = [...page.matchAll(/^\| ((?:\d+)(?:, (?:\d+|a signal))*) \|/gm)].flatMap(([, codes = '']) =>
      codes.split(', ').filter((code) => code !== 'a signal'),
    );
    expect(named.sort()).toEqual(Object.keys(exitMeanings).sort());
  });

  it('names options and effects that are in the list of commands', async () => {
    const rows: CommandRow[] = JSON.parse((await run('commands --json', { env: {} })).stdout);
    const options = new Set(rows.flatMap((row) => row.options.map(({ name }) => name)));
    const named = [...page.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([option]) => option);
    expect([...options]).toEqual(expect.arrayContaining(named));
    for (const effect of new Set(rows.flatMap(({ effects }) => effects)))
      expect(page).toContain(`\`${effect}\``);
  });

  it('sends in the sandbox only', () => {
    const lines = blocksOf('docs/agents.md').flatMap(({ code }) => code.split('\n'));
    const sending = lines.filter((line) => /urtuu (?:sms|email|jobs) /.test(line));
    expect(sending.length).toBeGreaterThan(5);
    for (const line of sending) expect(line).toContain(' --sandbox');
  });
});

it('deploy/skill/SKILL.md is docs/agents.md as a skill, without a link that leaves its folder; npm run docs writes it', () => {
  expect(readFileSync(join(root, 'deploy/skill/SKILL.md'), 'utf8')).toBe(skillOf(page));
  expect(page).not.toMatch(/\]\((?!https:)/);
});
