import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPrinted, commandNames, commandsIn } from '../support/printed-commands.js';

const source = resolve(import.meta.dirname, '../../src');
/** Help is the same for every run. */
const help =
  /^cli\/(?:help\/(?:command-help|overview)|usage-error|commands\/(?:help|commands\/list)|completion\/scripts|topics\/texts)\.ts$/;
/** Pages and answers of a running service, which no command prints. */
const served = /^service\/(?:dashboard\/|readiness\.ts$)/;
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /^(?:cli|service)\/.*\.tsx?$/.test(name) && !help.test(name) && !served.test(name),
);
const named = commandNames.join('|');
const written = new RegExp(`(?<![\`=])\\burtuu (?:--?[a-z]|\\$\\{|(?:${named})\\b)`);
/** An example of a help, the name of a command in a sentence, and the words before those of a group. */
const isName = (line: string) =>
  /^ *\[.*\],$|^ *["']urtuu .*["'],$|\b(?:of|as|in|for|see) urtuu |[=(:] *'urtuu [\w ]+'/.test(line);

const withoutComments = (code: string) =>
  code
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/\bnotes: \[[\s\S]*?\n {4,6}\],/g, '');

describe('a command in the source', () => {
  it('stands between backticks, or is made by the one function that prints commands', () => {
    const found = files.flatMap((name) =>
      withoutComments(readFileSync(join(source, name), 'utf8'))
        .split('\n')
        .filter((line) => written.test(line) && !isName(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ["hint: 'See: urtuu jobs list',", true],
    ["hint: 'Start it: urtuu --sandbox serve',", true],
    ["hint: 'See: `urtuu jobs list`',", false],
    ['hint: `See: \\`urtuu jobs list\\``,', false],
    ["  ['urtuu jobs list', 'all jobs'],", false],
    ["'that of urtuu serve'", false],
  ])('%s is found: %s', (line, isFound) => expect(written.test(line) && !isName(line)).toBe(isFound));
});

describe('a command that a test prints', () => {
  it('is read as a shell reads it', () => {
    const text =
      "Sent. Resume with: XDG_STATE_HOME='/srv/the state' urtuu jobs resume july --report 'it'\\''s.csv'";
    expect(commandsIn(text)).toEqual([
      {
        line: text.slice(19),
        variables: { XDG_STATE_HOME: '/srv/the state' },
        words: ['jobs', 'resume', 'july', '--report', "it's.csv"],
      },
    ]);
    const two = 'See (urtuu jobs report july --report j.csv); to finish it: urtuu jobs resume july';
    expect(commandsIn(two).map(({ line }) => line)).toEqual([
      'urtuu jobs report july --report j.csv',
      'urtuu jobs resume july',
    ]);
    expect(commandsIn('a newer version of urtuu wrote it; /opt/urtuu serve.log; of urtuu: jobs')).toEqual([]);
  });

  it.each([
    'See: urtuu jobs lits',
    'See: urtuu jobs list --max-credits 5',
    'See: urtuu jobs remove',
    'See: `urtuu jobs list`',
    '{"error":{"hint":"See: urtuu balance --of me"}}',
    'It is held until urtuu service release is called.',
  ])('fails it where it is none: %s', async (text) => {
    await expect(checkPrinted(text)).rejects.toThrow(/printed/);
  });

  it.each([
    '',
    'urtuu: urtuu balance takes no arguments',
    'See: urtuu jobs list',
    'Did you mean urtuu jobs lits? See: urtuu --version',
    '{"error":{"message":"urtuu balance takes none","hint":"See: urtuu balance --help"}}',
  ])('is right: %s', (text) => expect(checkPrinted(text)).resolves.toBeUndefined());
});
