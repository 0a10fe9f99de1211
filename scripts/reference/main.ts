// Writes the manual, or with --docs docs/commands.md and the list of the manual, from the help of the commands.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pkg from '../../package.json' with { type: 'json' };
import type { CommandRow } from '../../src/cli/commands/commands/read-commands.js';
import { commandPages } from './commands.js';
import { manPages, manualOf } from './man-pages.js';
import { commandsPage, skillOf } from './markdown.js';

/** The committed parts: the page, the skill, and the names of the manual that npm installs. */
function writeDocs(commands: readonly CommandRow[]): void {
  writeFileSync('docs/commands.md', commandsPage(commands));
  writeFileSync('deploy/skill/SKILL.md', skillOf(readFileSync('docs/agents.md', 'utf8')));
  const man = manualOf(commands);
  const text = readFileSync('package.json', 'utf8');
  const list = `"man": [\n${man.map((path) => `    "${path}"`).join(',\n')}\n  ]`;
  writeFileSync('package.json', text.replace(/"man": \[[^\]]*\]/, list));
}

function writeManual(commands: readonly CommandRow[]): void {
  rmSync('man', { recursive: true, force: true });
  mkdirSync('man');
  for (const [name, text] of manPages(commands, pkg.version)) writeFileSync(join('man', name), text);
}

const write = process.argv.includes('--docs') ? writeDocs : writeManual;
void commandPages().then(write);
