import type { CommandRow } from '../../src/cli/commands/commands/read-commands.js';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { globalOptionTable } from '../../src/cli/options.js';
import { topics } from '../../src/cli/topics/index.js';
import { Page } from './roff.js';

/** The manual by file name: `urtuu.1`, `urtuu-sms-send.1`, `urtuu-csv.7`. */
export function manPages(commands: readonly CommandRow[], version: string): Map<string, string> {
  const pages = new Map([['urtuu.1', mainPage(commands, version)]]);
  for (const command of commands) pages.set(`${fileName(command.name)}.1`, commandPage(command, version));
  for (const [name, { summary, text }] of Object.entries(topics))
    pages.set(`urtuu-${name}.7`, topicPage(name, summary, text(), version));
  return pages;
}

/** Paths of its pages in the package. */
export const manualOf = (commands: readonly CommandRow[]): string[] =>
  [...manPages(commands, '').keys()].map((name) => `./man/${name}`);

function mainPage(commands: readonly CommandRow[], version: string): string {
  const page = new Page('urtuu', 1, version, 'send SMS and email')
    .heading('Synopsis')
    .paragraph('urtuu <command> [options]')
    .heading('Commands');
  for (const { name, summary } of commands) page.item(`${fileName(name)}(1)`, `${summary}.`);
  page.heading('Global options');
  for (const [flags, description] of globalOptionTable) page.item(flags, description);
  page.heading('Exit codes');
  for (const [code, meaning] of Object.entries(exitMeanings)) page.item(code, meaning);
  page.heading('See also');
  return page
    .paragraph(
      Object.keys(topics)
        .map((name) => `urtuu-${name}(7)`)
        .join(', '),
    )
    .toString();
}

function commandPage(command: CommandRow, version: string): string {
  const name = fileName(command.name);
  const page = new Page(name, 1, version, lowerCase(command.summary))
    .heading('Synopsis')
    .paragraph(command.usage)
    .heading('Description')
    .paragraph(command.description);
  if (command.notes.length > 0) page.verbatim(command.notes);
  if (command.arguments.length > 0) page.heading('Arguments');
  for (const { name, description } of command.arguments) page.item(name, description);
  page.heading('Options');
  for (const { flags, description } of command.options) page.item(flags, description);
  page.paragraph('Every command also takes the global options of urtuu(1).').heading('Examples');
  for (const { line, purpose } of command.examples) page.paragraph(`${purpose}:`).verbatim([line]);
  if (command.json.length > 0) page.heading('JSON');
  for (const { when, example } of command.json) {
    if (when !== null) page.paragraph(`${when}:`);
    page.verbatim(JSON.stringify(example, undefined, 2).split('\n'));
  }
  page.heading('Exit codes');
  for (const { code, meaning } of command.exits) page.item(String(code), meaning);
  return page.heading('See also').paragraph('urtuu(1), urtuu-exit-codes(7)').toString();
}

function topicPage(name: string, summary: string, text: string, version: string): string {
  const [, ...lines] = text.trimEnd().split('\n');
  return new Page(`urtuu-${name}`, 7, version, summary)
    .heading('Description')
    .verbatim(lines.slice(1))
    .toString();
}

const fileName = (name: string) => name.replaceAll(' ', '-');
const lowerCase = (text: string) => text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
