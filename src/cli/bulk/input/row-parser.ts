import { CsvError, Parser } from 'csv-parse';
import type { Delimiter } from './delimiter.js';
import { InputError } from './input-error.js';
import type { CellFault } from './workbook/sheet-table.js';

/** The most characters one row may have; an unclosed quote must not take the memory. */
export const maxRowLength = 2_000_000;

/** csv-parse copies what it is given; small copies die young and never wait for a large collection. */
const pieceBytes = 16 * 1024;

export type RowHandler = (record: string[], line: number, faults?: readonly CellFault[]) => void;

/**
 * csv-parse with the line number of every row. It hands rows straight to the handler: `info: true` or
 * `on_record` would build two objects a row, which costs more than the parsing.
 */
export class RowParser extends Parser {
  /** Line on which the row that is being read begins. */
  line: number;
  readonly #onRow: RowHandler;
  readonly #source: string;
  readonly #isSheet: boolean;
  #parserLine = 0;
  #fault: Error | undefined;

  /** The copy of a sheet has a record for each of its rows, whatever line ends are inside. */
  constructor(
    { delimiter, firstLine, sheet }: { delimiter: Delimiter; firstLine: number; sheet?: object },
    source: string,
    onRow: RowHandler,
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
      this.#fault = error;
    });
  }

  override push(record: string[] | null): boolean {
    if (record === null) return true;
    const line = this.line;
    const parserLine = this.info.lines;
    // csv-parse counts a quoted CRLF twice, so it only says whether the row has line breaks inside.
    this.line += this.#isSheet || parserLine - this.#parserLine === 1 ? 1 : 1 + breaksIn(record);
    this.#parserLine = parserLine;
    this.#onRow(record, line);
    return true;
  }

  /** Parses a block; its rows have been handled when this returns. */
  async feed(block: Buffer): Promise<void> {
    for (let at = 0; at < block.length; at += pieceBytes) {
      const piece = block.subarray(at, at + pieceBytes);
      await new Promise<void>((resolve) => this.write(piece, () => resolve()));
      this.#rethrow();
    }
  }

  async finish(): Promise<void> {
    await new Promise<void>((resolve) => this.end(() => resolve()));
    this.#rethrow();
  }

  #rethrow(): void {
    if (this.#fault === undefined) return;
    throw this.#fault instanceof CsvError ? csvFault(this.#fault, this.#source, this.line) : this.#fault;
  }
}

function breaksIn(record: readonly string[]): number {
  let breaks = 0;
  for (const field of record) breaks += field.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}

function csvFault(error: CsvError, source: string, line: number): InputError {
  const quotes = 'put the whole field in quotes, and write a quote inside it twice';
  const [what, hint] =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? ['a quote that begins in this row is never closed', quotes]
      : error.code === 'CSV_MAX_RECORD_SIZE'
        ? [`this row has over ${maxRowLength} characters`, 'look for a quote that is not closed']
        : error.code === 'CSV_INVALID_CLOSING_QUOTE'
          ? ['a quote is closed before the end of its field', quotes]
          : ['a quote stands inside a field without quotes', quotes];
  return new InputError('csv', source, what, hint, { line });
}
