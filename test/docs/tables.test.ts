import { describe, expect, it } from 'vitest';
import { exitMeanings, exitOfCode } from '../../src/cli/exit-codes.js';
import { textOf } from './pages.js';

/** The cells of the rows of a table whose first cell is a number. */
const numbered = (page: string) =>
  textOf(page)
    .split('\n')
    .filter((line) => /^\| \d+ \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('the tables of exit codes', () => {
  it('in the README has the words of urtuu help exit-codes', () => {
    expect(numbered('README.md').length).toBeGreaterThan(3);
    expect(exitMeanings).toMatchObject(Object.fromEntries(numbered('README.md')));
  });

  it('in docs/exit-codes.md has every exit, and every error code of a service in the rows of its exits', () => {
    const rows = numbered('docs/exit-codes.md');
    expect(rows.map(([exit]) => exit)).toEqual(Object.keys(exitMeanings));
    const named = Object.fromEntries(
      rows.map(([exit = '', , codes = '']) => [
        exit,
        [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code),
      ]),
    );
    for (const [code, exits] of Object.entries(exitOfCode)) {
      for (const exit of typeof exits === 'number' ? [exits] : Object.values(exits)) {
        expect(named[exit], `exit ${exit}`).toContain(code);
      }
    }
  });
});
