import type { Command } from 'commander';
import type { Context } from '../../src/cli/context.js';
import { commandsOf } from '../../src/cli/help/command-tree.js';
import { buildProgram } from '../../src/cli/program.js';

/** A command that a line prints, as a shell reads it. */
export interface Printed {
  line: string;
  variables: Record<string, string>;
  /** Those after `urtuu`. */
  words: string[];
}

const open = (first?: string) =>
  buildProgram({} as Context, { write: () => {}, width: 80 }, { first, onCommand: () => {} });
export const commandNames = commandsOf(open()).map((command) => command.name());
const begins = new RegExp(
  String.raw`(?:(?<![\w/.-])[A-Z][A-Z_]+=(?:[^\s'";()]|'[^']*'|"[^"]*")* )*(?<![\w/.\-'"\x60])urtuu (?=(?:${commandNames.join('|')}|--?[a-z]\S*)(?:[\s;)]|$))`,
  'g',
);
const word = /(?:[^\s'"\\;()\x60]|'[^']*'|"[^"]*"|\\.)+/y;

/** The POSIX command lines in what a command printed. In a text a command ends with the text, at `;` or at `)`. */
export function commandsIn(text: string): Printed[] {
  // A suggestion names commands, and leaves the rest of the line to the person.
  const shown = text.replace(/Did you mean [^?]*\? /g, '');
  return [...shown.matchAll(begins)].map((match) => {
    const end = shown.indexOf('\n', match.index);
    const rest = shown.slice(match.index, end === -1 ? undefined : end);
    const found: string[] = [];
    let at = 0;
    for (;;) {
      word.lastIndex = at;
      const [raw] = word.exec(rest) ?? [];
      if (raw === undefined) break;
      found.push(raw.replace(/'([^']*)'|\\(.)/g, (_, quoted = '', escaped = '') => quoted + escaped));
      at += raw.length;
      if (rest[at] !== ' ') break;
      at += 1;
    }
    const start = found.indexOf('urtuu');
    // One that has to be set stays as it is.
    const set = found.slice(0, start).filter((each) => !each.includes(':?}'));
    const variables = Object.fromEntries(set.map((each) => each.split(/=(.*)/s, 2)));
    return { line: rest.slice(0, at).trim(), variables, words: found.slice(start + 1) };
  });
}

/** The texts of a JSON value, without messages: those name commands in sentences. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (name === 'message' ? [] : textsIn(each)));
}

const colour = /\u001b\[\d*m/g;

/** The same for programs, whose commands are in JSON. */
export function printedIn(stderr: string): Printed[] {
  return stderr
    .replace(colour, '')
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith('{')) return line.startsWith('urtuu: ') ? [] : commandsIn(line);
      try {
        return textsIn(JSON.parse(line)).flatMap(commandsIn);
      } catch {
        return [];
      }
    });
}

class Parsed extends Error {}
const problems = new Map<string, Promise<string | null>>();

/** Why the real parser does not take a command; null where it does. */
export function problemOf({ words }: Printed): Promise<string | null> {
  const key = JSON.stringify(words);
  const known = problems.get(key) ?? parse(words);
  problems.set(key, known);
  return known;
}

async function parse(words: string[]): Promise<string | null> {
  const program: Command = open(words[0]);
  program.hook('preAction', () => {
    throw new Parsed();
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof Parsed) return null;
    const { code, message } = error as Error & { code?: string };
    return /^commander\.(?:helpDisplayed|version)$/.test(code ?? '') ? null : message;
  }
}

/** Throws where something printed looks like a command and is none. */
export async function checkPrinted(stderr: string): Promise<void> {
  if (stderr.includes('`urtuu ')) throw new Error(`a command between backticks was printed: ${stderr}`);
  for (const printed of printedIn(stderr)) {
    const problem = await problemOf(printed);
    if (problem !== null) throw new Error(`a printed command is wrong: ${printed.line}: ${problem}`);
  }
}
