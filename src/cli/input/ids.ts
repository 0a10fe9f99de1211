import type { Command } from 'commander';
import type { Context } from '../context.js';
import { inputError, usageError } from '../errors.js';

export interface IdSource {
  fromFile?: string;
  column?: string;
}

/** Adds the ways to give many ids. */
export function addIdOptions(command: Command): void {
  command
    .argument('[id...]', 'ids; - reads them from standard input, one a line')
    .option('--from-file <file>', 'read the ids from a file, one a line, or - for standard input')
    .option('--column <name>', 'the file is a CSV with a header, and the ids are in this column');
}

/** The ids in their order: those of the arguments, `-` in its place, then those of the file. */
export async function readIds(context: Context, given: string[], source: IdSource): Promise<string[]> {
  const { fromFile, column } = source;
  if (column !== undefined && fromFile === undefined && !given.includes('-')) {
    throw usageError(
      '--column needs a CSV file',
      'Name it with --from-file FILE, or give it on standard input with -',
    );
  }
  if (given.length === 0 && fromFile === undefined) {
    throw usageError(
      'missing: <id>',
      'Give ids as arguments, with --from-file FILE, or on standard input with -',
    );
  }
  const ids: string[] = [];
  for (const word of fromFile === undefined ? given : [...given, { file: fromFile }]) {
    const file = typeof word === 'string' ? (word === '-' ? word : undefined) : word.file;
    if (file === undefined) ids.push(word as string);
    else ids.push(...(await idsOf(context, file, column)));
  }
  if (ids.length === 0)
    throw inputError(
      'there are no ids',
      'Write one a line, or name the CSV column they are in with --column.',
    );
  return ids.map(readId);
}

/** An id as it can stand in a path; the client refuses the others. */
export function readId(written: string): string {
  if (written === '' || written === '.' || written === '..')
    throw inputError(`'${written}' is no id`, 'Ids are in the first column of what a send prints.');
  return written;
}

async function idsOf(context: Context, file: string, column: string | undefined): Promise<string[]> {
  const text = await context.files.text(file);
  const cells = column === undefined ? text.split(/\r\n|\n|\r/) : await columnOf(text, column);
  return cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
}

async function columnOf(text: string, column: string): Promise<string[]> {
  const { parseCsv } = await import('./csv.js');
  const [header = [], ...rows] = parseCsv(text);
  const index = header.findIndex((name) => name.trim() === column);
  if (index === -1) {
    throw inputError(`there is no column '${column}'`, `The columns are ${header.join(', ')}.`);
  }
  return rows.map((row) => row[index] ?? '');
}
