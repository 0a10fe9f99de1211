import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { quoteArgument } from '../../../src/cli/platform/quote.js';

const hostile = [
  '',
  ' ',
  'a b',
  "it's",
  "''",
  '"',
  '$HOME',
  '$(id)',
  '`id`',
  '\\',
  'a\\',
  '!',
  '~',
  '=ls',
  '#',
  '*',
  '{a,b}',
  'a;b',
  'a|b',
  'a&b',
  'a\nb',
  'Сайн уу',
  '-',
  '--',
  '--job',
  'http://127.0.0.1:7788/v1',
];

describe('an argument in a POSIX shell', () => {
  it.each(hostile)('comes back from sh as it was: %j', (word) => {
    const script = `printf '%s.' ${quoteArgument(word, 'linux')}`;
    expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })).toBe(`${word}.`);
  });

  it.each(['july', 'july.2', '--max-credits', 'list-1.csv', '/tmp/a_b', 'https://a.mn/v1', '+97699112233'])(
    'is plain where nothing needs quoting: %s',
    (word) => expect(quoteArgument(word, 'darwin')).toBe(word),
  );
});

describe('an argument in PowerShell', () => {
  it.each([
    ['july', 'july'],
    ['--max-credits', '--max-credits'],
    ['-q', '-q'],
    ['C:\\Users\\bat\\list.csv', 'C:\\Users\\bat\\list.csv'],
    ['http://127.0.0.1:7788/v1', 'http://127.0.0.1:7788/v1'],
    ['', "''"],
    ['C:\\Users\\Bat Bold\\list.csv', "'C:\\Users\\Bat Bold\\list.csv'"],
    ["it's", "'it''s'"],
    ['it\u2019s', "'it\u2019\u2019s'"],
    ['$env:TEMP', "'$env:TEMP'"],
    ['a`b', "'a`b'"],
    ['a,b', "'a,b'"],
    ['a;b', "'a;b'"],
    ['007', "'007'"],
    ['1kb', "'1kb'"],
    ['--', "'--'"],
    ['-a.b', "'-a.b'"],
    ['@list', "'@list'"],
    ['%PATH%', "'%PATH%'"],
    ['Сайн', "'Сайн'"],
  ])('%j is %s', (word, quoted) => expect(quoteArgument(word, 'win32')).toBe(quoted));
});
