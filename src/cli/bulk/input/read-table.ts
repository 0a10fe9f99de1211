import { decodeInput, EncodingFault, encodingChoices, encodingNamed } from './decode.js';
import { type Head, readHead } from './delimiter.js';
import { FileError } from './file-error.js';
import { fileKind } from './file-kind.js';
import { InputError } from './input-error.js';
import { maxRowLength } from './row-parser.js';
import type { ReadTable, RowTaker, TableHandlers, TableInput, TableOptions } from './table-handlers.js';
import { Table, type TableFormat } from './table-parser.js';

/** Reads a table from its bytes: a sheet of an Excel workbook, or CSV in any encoding, delimiter and line ends. */
export async function readTable<Taker extends RowTaker>(
  input: TableInput,
  options: TableOptions,
  handlers: TableHandlers<Taker>,
): Promise<ReadTable<Taker>> {
  const { source } = input;
  const { head, bytes } = await peek(input.bytes);
  const kind = await fileKind(head, bytes, source);
  refuseOptions(kind, options, source);
  if (kind === 'text') return readCsv({ bytes, source }, options, handlers);
  const { readSheet } = await import('./read-sheet.js');
  return readSheet({ bytes, source }, options, handlers);
}

const headBytes = 4_096;

/** The first bytes, and all of them. */
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

/** What was asked for in vain would be taken for granted. */
function refuseOptions(kind: 'text' | 'zip', options: TableOptions, source: string): void {
  const refuse = (option: string, what: string) =>
    new FileError('options', source, what, `leave ${option} out`);
  if (kind === 'text' && options.sheet !== undefined) {
    throw refuse('--sheet', 'is no Excel workbook, so it has no sheets');
  }
  for (const name of ['encoding', 'delimiter'] as const) {
    if (kind === 'zip' && options[name] !== undefined) {
      throw refuse(`--${name}`, `is an Excel workbook, which has no ${name}`);
    }
  }
}

async function readCsv<Taker extends RowTaker>(
  { bytes, source }: TableInput,
  options: TableOptions,
  handlers: TableHandlers<Taker>,
): Promise<ReadTable<Taker>> {
  const reading = new TableReading(source, options, handlers);
  try {
    const onMark = () => {
      reading.marked = true;
    };
    for await (const block of decodeInput(bytes, encodingOf(options.encoding, source), onMark)) {
      options.signal?.throwIfAborted();
      await reading.feed(block);
    }
    return await reading.finish();
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    throw new InputError('encoding', source, error.message, error.hint, { line: await reading.lastLine() });
  }
}

function encodingOf(label: string | undefined, source: string): string | undefined {
  const encoding = label === undefined ? undefined : encodingNamed(label);
  if (encoding !== null) return encoding;
  const choices = `use one of ${encodingChoices.join(', ')}`;
  throw new InputError('encoding', source, `${label} is no known encoding`, choices);
}

const nul = 0;
const replacement = Buffer.from('\ufffd');

class TableReading<Taker extends RowTaker> {
  readonly #source: string;
  readonly #options: TableOptions;
  readonly #handlers: TableHandlers<Taker>;
  /** What was read before the first row was whole. */
  #head = Buffer.alloc(0);
  #begun: { table: Table; format: TableFormat } | undefined;
  #taker: Taker | null = null;
  #damageSeen = false;
  /** The input began with a byte order mark. */
  marked = false;

  constructor(source: string, options: TableOptions, handlers: TableHandlers<Taker>) {
    this.#source = source;
    this.#options = options;
    this.#handlers = handlers;
  }

  /** Line of the row in which what was read so far ends. */
  async lastLine(): Promise<number> {
    return (await this.#begun?.table.lastLine()) ?? 1;
  }

  async feed(block: Buffer): Promise<void> {
    if (this.#begun !== undefined) return this.#parse(this.#begun.table, block);
    this.#head = Buffer.concat([this.#head, block]);
    await this.#begin(this.#head.length > maxRowLength);
  }

  async finish(): Promise<ReadTable<Taker>> {
    if (this.#begun === undefined) await this.#begin(true);
    if (this.#begun === undefined) throw new Error('a whole input has a first row');
    const { table, format } = this.#begun;
    await table.finish();
    return { format, columns: table.columns, taker: this.#taker, hiddenRows: 0 };
  }

  /** Begins with the rows once the first one is there, which tells the delimiter. */
  async #begin(whole: boolean): Promise<void> {
    const head = readHead(this.#head, whole, this.#options.delimiter);
    if ('problem' in head) {
      if (head.problem === 'unfinished') return;
      throw this.#delimiterError(head.problem, head.found);
    }
    const table = this.#tableFor(head);
    const rest = this.#head.subarray(head.skip);
    this.#head = Buffer.alloc(0);
    await this.#parse(table, rest);
  }

  #tableFor({ delimiter, firstLine }: Head): Table {
    const format: TableFormat = { delimiter, firstLine, headerless: this.#options.headerless ?? false };
    if (this.marked) format.marked = true;
    const table = new Table(
      format,
      this.#source,
      (columns, line) => {
        this.#taker = this.#handlers.onHeader(columns, line, this.#source);
        this.#taker.damageSeen = this.#damageSeen;
      },
      (record, line) => this.#taker?.take(record, line),
    );
    this.#begun = { table, format };
    return table;
  }

  #parse(table: Table, block: Buffer): Promise<void> {
    this.#handlers.copy(block);
    if (!this.#damageSeen && (block.includes(nul) || block.includes(replacement))) {
      this.#damageSeen = true;
      if (this.#taker !== null) this.#taker.damageSeen = true;
    }
    return table.feed(block);
  }

  #delimiterError(problem: 'ambiguous' | 'unknown', found: string): InputError {
    const what =
      problem === 'ambiguous'
        ? `the first row could be divided by ${found}`
        : `sep=${found} names a delimiter that is not known`;
    const hint = 'name it with --delimiter (comma, semicolon, tab or pipe)';
    return new InputError('delimiter', this.#source, what, hint, { line: 1 });
  }
}
