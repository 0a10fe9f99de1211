import type { CommandRow } from '../../src/cli/commands/commands/read-commands.js';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { globalOptionTable } from '../../src/cli/options.js';
import { topics } from '../../src/cli/topics/index.js';

/** `docs/commands.md`. */
export function commandsPage(commands: readonly CommandRow[]): string {
  return [
    '# Commands',
    'For looking up one command: its options, examples, JSON and exit codes, as `urtuu <command> --help` and `man urtuu` have them. Written by `npm run docs`.',
    [...commands, ...prose.map(([name, { summary }]) => ({ name: `urtuu help ${name}`, summary }))]
      .map(({ name, summary }) => `- [\`${name}\`](#${name.replaceAll(' ', '-')}): ${summary}`)
      .join('\n'),
    '## Global options',
    'Every command takes these, before or after its name.',
    table('option', globalOptionTable),
    '## Exit codes',
    table('code', Object.entries(exitMeanings)),
    ...commands.flatMap(section),
    ...prose.flatMap(([name, { text }]) => [
      `## urtuu help ${name}`,
      fenced('text', text().trimEnd().split('\n')),
    ]),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

/** `deploy/skill/SKILL.md`: `docs/agents.md` as a skill, which its folder holds whole. */
export const skillOf = (page: string): string =>
  `---
name: urtuu
description: Send SMS, email and verification codes with the urtuu command line, one message or one to every row of a list. Use when asked to text, email or notify people, or about such messages, jobs and balances.
---

${page}`;

/** Two topics are tables above. */
const prose = Object.entries(topics).filter(([name]) => name !== 'options' && name !== 'exit-codes');

function section(command: CommandRow): string[] {
  const { description, usage, notes, examples, json, exits } = command;
  return [
    `## ${command.name}`,
    description,
    fenced('text', [usage]),
    ...(command.arguments.length > 0
      ? [
          table(
            'argument',
            command.arguments.map(({ name, description }) => [name, description]),
          ),
        ]
      : []),
    table(
      'option',
      command.options.map(({ flags, description }) => [flags, description]),
    ),
    ...(notes.length > 0 ? [fenced('', notes)] : []),
    fenced(
      'sh',
      examples.flatMap(({ line, purpose }) => [`# ${purpose}`, line]),
    ),
    ...json.flatMap(({ when, example }) => [
      when === null ? 'JSON:' : `JSON ${when}:`,
      fenced('json', JSON.stringify(example, undefined, 2).split('\n')),
    ]),
    `Exit codes: ${exits.map(({ code, meaning }) => `${code} ${meaning.replace(/[:;,].*/, '')}`).join(', ')}.`,
  ];
}

const table = (head: string, entries: readonly (readonly [string, string])[]): string =>
  [`| ${head} | |`, '|---|---|', ...entries.map(([term, text]) => `| \`${term}\` | ${cell(text)} |`)].join(
    '\n',
  );

const cell = (text: string) => text.replaceAll('|', '\\|').replace(/(?<= )<(?=\w)/g, '\\<');

const fence = '```';
const fenced = (language: string, lines: readonly string[]) => [fence + language, ...lines, fence].join('\n');
