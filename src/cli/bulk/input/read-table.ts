import { DamageWatch } from './cell-error.js';
import { decodeInput, EncodingError, encodingChoices, encodingNamed } from './decode.js';
import { type DelimiterProblem, type DetectedDelimiter, detectDelimiter } from './delimiter.js';
import { fileKind } from './file-kind.js';
import { FileError, InputError } from './input-error.js';
import { maxRowLength } from './row-parser.js';
import type { ReadTable, RowConsumer, TableHandlers, TableInput, TableOptions } from './table-handlers.js';
import { type TableFormat, TableParser } from './table-parser.js';

/** Reads a table: a sheet of an Excel workbook, or CSV of any encoding, delimiter and line ends. Throws InputError. */
export async function readTable<Consumer extends RowConsumer>(
  input: TableInput,
  options: TableOptions,
  handlers: TableHandlers<Consumer>,
): Promise<ReadTable<Consumer>> {
  const { source } = input;
  const { head, bytes } = await peek(input.bytes);
  const kind = await fileKind(head, bytes, source);
  refuseOptions(kind, options, source);
  if (kind === 'text') return readCsv({ bytes, source }, options, handlers);
  const { readSheet } = await import('./read-sheet.js');
  return readSheet({ bytes, source }, options, handlers);
}

const headBytes = 4_096;
const cr = 0x0d;
const lf = 0x0a;

/** The first bytes, and the whole input including them. */
async function peek(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; bytes: AsyncIterable<Uint8Array> }> {
  const blocks = bytes[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let length = 0; length < headBytes; ) {
    const next = await blocks.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  async function* all() {
    try {
      yield* first.splice(0);
      for (let next = await blocks.next(); next.done !== true; next = await blocks.next()) yield next.value;
    } finally {
      await blocks.return?.();
    }
  }
  return { head: Buffer.concat(first), bytes: all() };
}

function refuseOptions(kind: 'text' | 'zip', options: TableOptions, source: string): void {
  const refuse = (option: string, what: string) =>
    new FileError('options', source, what, `Remove ${option}.`);
  if (kind === 'text' && options.sheet !== undefined) {
    throw refuse('--sheet', 'is not an Excel workbook, so it has no sheets');
  }
  if (kind === 'text' && options.visibleOnly) {
    throw refuse('--visible-only', 'is not an Excel workbook, so it has no hidden rows');
  }
  for (const name of ['encoding', 'delimiter'] as const) {
    if (kind === 'zip' && options[name] !== undefined) {
      throw refuse(`--${name}`, `is an Excel workbook, which has no ${name}`);
    }
  }
}

async function readCsv<Consumer extends RowConsumer>(
  { bytes, source }: TableInput,
  options: TableOptions,
  handlers: TableHandlers<Consumer>,
): Promise<ReadTable<Consumer>> {
  const reader = new TableReader(source, options, handlers);
  try {
    const onMark = () => {
      reader.marked = true;
    };
    for await (const block of decodeInput(bytes, encodingOf(options.encoding, source), onMark)) {
      options.signal?.throwIfAborted();
      await reader.feed(block);
    }
    return await reader.finish();
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    throw new InputError('encoding', source, error.message, error.hint, { line: await reader.lastLine() });
  }
}

function encodingOf(label: string | undefined, source: string): string | undefined {
  const encoding = label === undefined ? undefined : encodingNamed(label);
  if (encoding !== null) return encoding;
  const hint = `Use one of ${encodingChoices.join(', ')}.`;
  throw new InputError('encoding', source, `unknown encoding ${label}`, hint);
}

class TableReader<Consumer extends RowConsumer> {
  readonly #source: string;
  readonly #options: TableOptions;
  readonly #handlers: TableHandlers<Consumer>;
  /** The input until its first row is whole. */
  #head = Buffer.alloc(0);
  #begun: { parser: TableParser; format: TableFormat } | undefined;
  #consumer: Consumer | null = null;
  readonly #damage = new DamageWatch();
  /** Whether the input began with a byte order mark. */
  marked = false;

  constructor(source: string, options: TableOptions, handlers: TableHandlers<Consumer>) {
    this.#source = source;
    this.#options = options;
    this.#handlers = handlers;
  }

  /** Line of the row in which the input ends so far. */
  async lastLine(): Promise<number> {
    return (await this.#begun?.parser.lastLine()) ?? 1;
  }

  async feed(block: Buffer): Promise<void> {
    if (this.#begun !== undefined) return this.#parse(this.#begun.parser, block);
    this.#head = Buffer.concat([this.#head, block]);
    await this.#begin(this.#head.length > maxRowLength);
  }

  async finish(): Promise<ReadTable<Consumer>> {
    if (this.#begun === undefined) await this.#begin(true);
    if (this.#begun === undefined) throw new Error('a whole input has a first row');
    const { parser, format } = this.#begun;
    await parser.finish();
    return { format, columns: parser.columns, consumer: this.#consumer, hiddenRows: 0 };
  }

  /** Begins once the header row is whole, since the delimiter is detected in it. */
  async #begin(whole: boolean): Promise<void> {
    const before = (this.#options.headerRow ?? 1) - 1;
    const start = afterLines(this.#head, before, whole);
    if (start === null) return;
    const detected = detectDelimiter(this.#head.subarray(start), whole, this.#options.delimiter);
    if ('problem' in detected) {
      if (detected.problem === 'unfinished') return;
      throw this.#delimiterError(detected);
    }
    const parser = this.#parserFor({ ...detected, firstLine: detected.firstLine + before });
    const rest = this.#head.subarray(start + detected.skip);
    this.#head = Buffer.alloc(0);
    await this.#parse(parser, rest);
  }

  #parserFor({ delimiter, firstLine }: DetectedDelimiter): TableParser {
    const format: TableFormat = { delimiter, firstLine, headerless: this.#options.headerless ?? false };
    if (this.marked) format.marked = true;
    const parser = new TableParser(
      format,
      this.#source,
      (columns, line) => {
        this.#consumer = this.#handlers.onHeader(columns, line, this.#source, this.#damage);
      },
      (record, line, errors, written) => this.#consumer?.take(record, line, errors, written),
    );
    this.#begun = { parser, format };
    return parser;
  }

  #parse(parser: TableParser, block: Buffer): Promise<void> {
    this.#handlers.copy(block);
    this.#damage.read(block);
    return parser.feed(block);
  }

  #delimiterError({ problem, found }: DelimiterProblem): InputError {
    const what =
      problem === 'ambiguous' ? `ambiguous delimiter: ${found}` : `unknown delimiter: sep=${found}`;
    const hint = 'Choose one with --delimiter (comma, semicolon, tab or pipe).';
    return new InputError('delimiter', this.#source, what, hint, { line: 1 });
  }
}

/** Where the line after the skipped ones begins; null while unknown. */
function afterLines(bytes: Buffer, lines: number, whole: boolean): number | null {
  let at = 0;
  for (let line = 0; line < lines; line += 1) {
    while (at < bytes.length && bytes[at] !== cr && bytes[at] !== lf) at += 1;
    // An LF may follow a CR.
    if (at + 1 >= bytes.length && !whole) return null;
    at += bytes[at] === cr && bytes[at + 1] === lf ? 2 : 1;
  }
  return Math.min(at, bytes.length);
}
