import { CsvError, Parser } from 'csv-parse';
import { grouped } from '../../text/wording.js';
import { listed } from './header.js';
import { InputError } from './input-error.js';
import type { TableFormat } from './table.js';

/** In characters: an unclosed quote must not fill the memory. */
export const maxRowLength = 2_000_000;

/** csv-parse copies its input; small copies are freed early, without a full collection. */
const pieceBytes = 16 * 1024;

/** The parts of csv-parse that decide about quotes. */
interface QuoteRules {
  api: { __isQuote(bytes: Buffer, at: number): boolean };
  state: {
    quoting: boolean;
    record: string[];
    field: {
      length: number;
      reset(): void;
      prepend(bytes: Buffer): void;
      toString(encoding: 'utf8'): string;
    };
  };
}

const quote = 0x22;
const mostBlanks = 100;

type EndedRow = [record: string[], line: number];
type OnRow = (record: string[], line: number, isCut: boolean) => void;

/**
 * csv-parse with line numbers. It overrides `push`, because `info: true` or `on_record` would create two objects a row,
 * which costs more than the parsing. A quote within a field is text, as in spreadsheets, and blanks around a quoted field
 * are dropped.
 */
export class RowParser extends Parser {
  /** Line where the current row begins. */
  line: number;
  readonly #onRow: OnRow;
  readonly #source: string;
  readonly #isSheet: boolean;
  #parserLine = 0;
  #error: Error | undefined;
  /** Rows after the end of the input, which may be cut off in the last one. */
  #last: EndedRow[] | null = null;
  #endsLine = true;
  #watchesQuotes = false;
  /** Fields of the current row with something after their closing quote. */
  #closed: { index: number; value: string }[] = [];
  /** Lines of rows with text after a closing quote. */
  readonly #faulty: number[] = [];

  /** The copy of a sheet has one record for each of its rows, whatever line breaks are in it. */
  constructor({ delimiter, firstLine, sheet }: TableFormat, source: string, onRow: OnRow) {
    super({
      delimiter,
      record_delimiter: ['\n', '\r\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
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

  /** From the first quote on: what is called for each byte is slower than csv-parse's own function. */
  #watchQuotes({ api, state }: QuoteRules): void {
    this.#watchesQuotes = true;
    const { field } = state;
    api.__isQuote = (bytes, at) => {
      if (bytes[at] !== quote) return false;
      const mayOpen = !state.quoting && field.length > 0 && field.length <= mostBlanks;
      if (mayOpen && field.toString('utf8').trim() === '') field.reset();
      return true;
    };
    const { prepend } = field;
    // It is called for nothing but a quote that neither ends its field nor is doubled.
    field.prepend = (bytes) => {
      this.#closed.push({ index: state.record.length, value: field.toString('utf8') });
      prepend.call(field, bytes);
    };
  }

  override push(record: string[] | null): boolean {
    if (record === null) return true;
    const line = this.line;
    const parserLine = this.info.lines;
    // csv-parse counts a quoted CRLF twice, so its count only shows whether the row has line breaks.
    this.line += this.#isSheet || parserLine - this.#parserLine === 1 ? 1 : 1 + breaksIn(record);
    this.#parserLine = parserLine;
    if (this.#closed.length > 0) this.#checkQuotes(record, line);
    if (this.#last === null) this.#onRow(record, line, false);
    else this.#last.push([record, line]);
    return true;
  }

  #checkQuotes(record: string[], line: number): void {
    const closed = this.#closed;
    this.#closed = [];
    const isBlank = ({ index, value }: (typeof closed)[number]) =>
      record[index]?.slice(value.length + 2).trim() === '';
    if (!closed.every(isBlank)) this.#faulty.push(line);
    else for (const { index, value } of closed) record[index] = value;
  }

  /** Resolves when the rows of the block have been handled. */
  async feed(block: Buffer): Promise<void> {
    const last = block.at(-1);
    if (last !== undefined) this.#endsLine = last === 0x0a || last === 0x0d;
    for (let at = 0; at < block.length; at += pieceBytes) {
      const piece = block.subarray(at, at + pieceBytes);
      if (!this.#watchesQuotes && piece.includes(quote)) this.#watchQuotes(this as unknown as QuoteRules);
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
    const last: EndedRow[] = [];
    this.#last = last;
    await new Promise<void>((resolve) => this.end(() => resolve()));
    this.#rethrow();
    if (this.#faulty.length > 0) throw this.#quoteError();
    last.forEach(([record, line], at) => {
      this.#onRow(record, line, !this.#endsLine && at === last.length - 1);
    });
  }

  #quoteError(): InputError {
    const [line, ...others] = this.#faulty;
    const also =
      others.length === 0
        ? ''
        : `; also in ${others.length === 1 ? 'line' : 'lines'} ${listed(others.map(String))}`;
    return new InputError('csv', this.#source, `text after a closing quote${also}`, quotesHint, { line });
  }

  #rethrow(): void {
    if (this.#error === undefined) return;
    if (this.#faulty.length > 0) throw this.#quoteError();
    throw this.#error instanceof CsvError ? csvError(this.#error, this.#source, this.line) : this.#error;
  }
}

function breaksIn(record: readonly string[]): number {
  let breaks = 0;
  for (const field of record) breaks += field.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}

const quotesHint = 'Put quotes around the whole field, and double those inside it: "5"" pipe".';

function csvError(error: CsvError, source: string, line: number): InputError {
  const [what, hint] =
    error.code === 'CSV_MAX_RECORD_SIZE'
      ? [`row over ${grouped(maxRowLength)} characters`, 'Look for an unclosed quote.']
      : ['unclosed quote', quotesHint];
  return new InputError('csv', source, what, hint, { line });
}
