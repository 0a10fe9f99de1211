import { CsvError, Parser } from 'csv-parse';
import { grouped } from '../../text/wording.js';
import { InputError } from './input-error.js';
import type { TableFormat } from './table.js';

/** In characters: an unclosed quote must not fill the memory. */
export const maxRowLength = 2_000_000;

/** csv-parse copies its input; small copies are freed early, without a full collection. */
const pieceBytes = 16 * 1024;

/**
 * csv-parse with line numbers. It overrides `push`, because `info: true` or `on_record` would create two objects a row,
 * which costs more than the parsing.
 */
export class RowParser extends Parser {
  /** Line where the current row begins. */
  line: number;
  readonly #onRow: (record: string[], line: number) => void;
  readonly #source: string;
  readonly #isSheet: boolean;
  #parserLine = 0;
  #error: Error | undefined;

  /** The copy of a sheet has one record for each of its rows, whatever line breaks are in it. */
  constructor(
    { delimiter, firstLine, sheet }: TableFormat,
    source: string,
    onRow: (record: string[], line: number) => void,
  ) {
    super({
      delimiter,
      record_delimiter: ['\n', '\r\n', '\r'],
      relax_column_count: true,
      max_record_size: maxRowLength,
    });
    this.line = firstLine;
    this.#source = source;
    this.#isSheet = sheet !== undefined;
    this.#onRow = onRow;
    this.on('error', (error) => {
      this.#error = error;
    });
  }

  override push(record: string[] | null): boolean {
    if (record === null) return true;
    const line = this.line;
    const parserLine = this.info.lines;
    // csv-parse counts a quoted CRLF twice, so its count only shows whether the row has line breaks.
    this.line += this.#isSheet || parserLine - this.#parserLine === 1 ? 1 : 1 + breaksIn(record);
    this.#parserLine = parserLine;
    this.#onRow(record, line);
    return true;
  }

  /** Resolves when the rows of the block have been handled. */
  async feed(block: Buffer): Promise<void> {
    for (let at = 0; at < block.length; at += pieceBytes) {
      const piece = block.subarray(at, at + pieceBytes);
      await new Promise<void>((resolve) => this.write(piece, () => resolve()));
      this.#rethrow();
    }
  }

  /** Line of the row in which the input ends so far; nothing may be fed afterwards. */
  async lastLine(): Promise<number> {
    // csv-parse holds back some bytes until the next ones arrive.
    await this.feed(Buffer.from('    '));
    return this.line;
  }

  async finish(): Promise<void> {
    await new Promise<void>((resolve) => this.end(() => resolve()));
    this.#rethrow();
  }

  #rethrow(): void {
    if (this.#error === undefined) return;
    throw this.#error instanceof CsvError ? csvError(this.#error, this.#source, this.line) : this.#error;
  }
}

function breaksIn(record: readonly string[]): number {
  let breaks = 0;
  for (const field of record) breaks += field.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}

function csvError(error: CsvError, source: string, line: number): InputError {
  const quotes = 'Put quotes around the whole field, and double the quotes inside it.';
  const [what, hint] =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? ['unclosed quote', quotes]
      : error.code === 'CSV_MAX_RECORD_SIZE'
        ? [`row over ${grouped(maxRowLength)} characters`, 'Look for an unclosed quote.']
        : error.code === 'CSV_INVALID_CLOSING_QUOTE'
          ? ['text after a closing quote', quotes]
          : ['quote inside an unquoted field', quotes];
  return new InputError('csv', source, what, hint, { line });
}
