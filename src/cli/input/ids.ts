import type { Command } from 'commander';
import { inputError, usageError } from '../errors.js';
import type { Files } from '../files/files.js';
import { nameOf } from '../files/files.js';
import { grouped } from '../wording.js';

export interface IdSource {
  fromFile?: string;
  column?: string;
}

/** More would take days at the allowed rate. */
const mostIds = 1_000_000;
const longestLine = 1_000;
const listHint = 'Give the ids one a line, or a CSV file with --column.';

/** Adds the ways to give many ids. */
export function addIdOptions(command: Command): void {
  command
    .argument('[id...]', 'ids; - reads them from standard input, one a line')
    .option('--from-file <file>', 'read the ids from a file, one a line, or - for standard input')
    .option('--column <name>', 'the file is a CSV with a header, and the ids are in this column');
}

/** The ids in their order: those of the arguments, `-` in its place, then those of the file. */
export async function readIds(
  files: Pick<Files, 'bytes'>,
  given: string[],
  source: IdSource,
): Promise<string[]> {
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
  const take = (id: string, from: string) => {
    if (ids.length === mostIds) {
      throw inputError(`${nameOf(from)} has over ${grouped(mostIds)} ids`, 'Give them in several commands.');
    }
    if (id !== '') ids.push(readId(id));
  };
  for (const word of fromFile === undefined ? given : [...given, { file: fromFile }]) {
    const file = typeof word === 'string' ? (word === '-' ? word : undefined) : word.file;
    if (file === undefined) ids.push(readId(word as string));
    else await (column === undefined ? eachLine : eachOf(column))(files, file, (id) => take(id, file));
  }
  if (ids.length === 0)
    throw inputError(
      'there are no ids',
      'Write one a line, or name the CSV column they are in with --column.',
    );
  return ids;
}

/** An id as it can stand in a path; the client refuses the others. */
export function readId(written: string): string {
  if (written === '' || written === '.' || written === '..')
    throw inputError(`'${written}' is no id`, 'Ids are in the first column of what a send prints.');
  return written;
}

/** One a line. */
async function eachLine(
  files: Pick<Files, 'bytes'>,
  file: string,
  take: (id: string) => void,
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  const read = (text: string) => {
    const lines = `${rest}${text}`.split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) take(line.trim());
    if (rest.length > longestLine) {
      throw inputError(
        `${nameOf(file)} is not a list of ids: it has a line of over ${longestLine} characters`,
        listHint,
      );
    }
  };
  try {
    for await (const block of files.bytes(file)) read(decoder.decode(block, { stream: true }));
    read(`${decoder.decode()}\n`);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw inputError(`${nameOf(file)} is not UTF-8 text`, 'Save it as UTF-8.');
  }
}

/** Those of a column of a CSV file. */
const eachOf =
  (column: string) =>
  async (files: Pick<Files, 'bytes'>, file: string, take: (id: string) => void): Promise<void> => {
    const [{ readTable }, { columnNamed, listed }, { InputError }] = await Promise.all([
      import('../bulk/input/read-table.js'),
      import('../bulk/input/recipient-column.js'),
      import('../bulk/input/input-error.js'),
    ]);
    const input = { bytes: files.bytes(file), source: file };
    try {
      const { taker } = await readTable(
        input,
        {},
        {
          copy: () => {},
          onHeader(columns) {
            const index = columnNamed(columns, column);
            if (index === -1)
              throw inputError(`there is no column '${column}'`, `The columns are ${listed(columns)}.`);
            return {
              damageSeen: false,
              take: (record: readonly string[]) => take((record[index] ?? '').trim()),
            };
          },
        },
      );
      if (taker === null) throw inputError('there are no ids', `${nameOf(file)} is empty.`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw inputError(error.message, error.fault === 'encoding' ? 'Save it as UTF-8.' : listHint);
    }
  };
