import type { Command } from 'commander';
import { idAsWritten } from '../../contract/index.js';
import type { CellError } from '../bulk/input/cell-error.js';
import { inputError, usageError } from '../errors.js';
import type { Files } from '../files/files.js';
import { nameOf } from '../files/files.js';
import { grouped } from '../text/wording.js';

export interface IdSource {
  /** Whether the JSON is an array even for one id. */
  array?: boolean;
  fromFile?: string;
  column?: string;
}

/** More would take days at the rate limit. */
const maxIds = 1_000_000;
const maxLineLength = 1_000;
const listHint = 'Give one id per line, or a CSV file with --column.';

export function addIdOptions(command: Command): void {
  command
    .argument('[id...]', 'ids, or - to read one per line from standard input')
    .option('--from-file <file>', 'read one id per line from a file, or - for standard input')
    .option('--column <name>', 'read the ids from this column of a CSV file with a header')
    .option('--array', 'print a JSON array even for one id');
}

/** The ids in the arguments, with `-` replaced by those on standard input, then those in the file. Throws CliError. */
export async function readIds(
  files: Pick<Files, 'bytes'>,
  given: string[],
  source: IdSource,
): Promise<string[]> {
  const { fromFile, column } = source;
  if (column !== undefined && fromFile === undefined && !given.includes('-')) {
    throw usageError(
      '--column needs a CSV file',
      'Name one with --from-file FILE, or use - for standard input.',
    );
  }
  if (given.length === 0 && fromFile === undefined) {
    throw usageError(
      'missing: <id>',
      'Give ids as arguments, with --from-file FILE, or on standard input with -.',
    );
  }
  const ids: string[] = [];
  const take = (id: string, from: string) => {
    if (ids.length === maxIds) {
      throw inputError(
        `${nameOf(from)} has over ${grouped(maxIds)} ids`,
        'Split them over several commands.',
      );
    }
    if (id !== '') ids.push(readId(id));
  };
  for (const word of fromFile === undefined ? given : [...given, { file: fromFile }]) {
    const file = typeof word === 'string' ? (word === '-' ? word : undefined) : word.file;
    if (file === undefined) ids.push(readId(word as string));
    else await (column === undefined ? eachLine : eachOf(column))(files, file, (id) => take(id, file));
  }
  if (ids.length === 0)
    throw inputError('no ids', 'Write one id per line, or name the column of a CSV file with --column.');
  return ids;
}

/** Throws CliError for an id that does not fit into a path. */
export function readId(written: string): string {
  if (written === '' || written === '.' || written === '..')
    throw inputError(
      `invalid id '${written}'`,
      'A send prints its id first; --value id prints nothing else.',
    );
  return idAsWritten(written);
}

const severalColumns = /[,;\t]/;

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
    for (const line of lines) {
      if (severalColumns.test(line.trim()))
        throw inputError(`${nameOf(file)} has several columns`, 'Name the one with the ids: --column id.');
      take(line.trim());
    }
    if (rest.length > maxLineLength) {
      throw inputError(
        `${nameOf(file)} is not a list of ids: a line has over ${maxLineLength} characters`,
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

const eachOf =
  (column: string) =>
  async (files: Pick<Files, 'bytes'>, file: string, take: (id: string) => void): Promise<void> => {
    const [{ readTable }, { columnNamed, columnsHint }, { InputError }] = await Promise.all([
      import('../bulk/input/read-table.js'),
      import('../bulk/input/header.js'),
      import('../bulk/input/input-error.js'),
    ]);
    const input = { bytes: files.bytes(file), source: file };
    try {
      const { consumer } = await readTable(
        input,
        {},
        {
          copy: () => {},
          onHeader(columns) {
            const index = columnNamed(columns, column);
            if (index === -1) throw inputError(`unknown column ${column}`, columnsHint(columns));
            return {
              recipientColumn: index,
              take(record: readonly string[], line: number, errors: readonly CellError[] = []) {
                const error = errors.find(({ field }) => field === index);
                if (error !== undefined)
                  throw inputError(
                    `${nameOf(file)}:${line}: ${column}: ${error.error}`,
                    'Fix it, or leave it out.',
                  );
                take((record[index] ?? '').trim());
              },
            };
          },
        },
      );
      if (consumer === null) throw inputError('no ids', `${nameOf(file)} is empty.`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw inputError(error.message, error.kind === 'encoding' ? 'Save it as UTF-8.' : listHint);
    }
  };
