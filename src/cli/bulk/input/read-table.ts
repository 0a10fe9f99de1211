import { decodeInput, EncodingError, encodingChoices, encodingNamed } from './decode.js';
import { afterRows, detectDelimiter, lineAt } from './delimiter.js';
import { fileKind } from './file-kind.js';
import { FileError, InputError } from './input-error.js';
import { maxRowLength, RowParser } from './row-parser.js';
import {
  type ReadTable,
  type RowConsumer,
  Table,
  type TableFormat,
  type TableHandlers,
  type TableInput,
  type TableOptions,
} from './table.js';

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
  const format: TableFormat = { delimiter: ',', firstLine: 1, headerless: options.headerless ?? false };
  const table = new Table(format, source, handlers.onHeader);
  const rowsBefore = (options.headerRow ?? 1) - 1;
  let parser: RowParser | null = null;
  /** The input until its first row is whole, since the delimiter is detected in it. */
  let head = Buffer.alloc(0);
  const begin = async (whole: boolean) => {
    const start = afterRows(head, rowsBefore, whole);
    const detected =
      start === null ? null : detectDelimiter(head.subarray(start), whole, options.delimiter, source);
    if (start === null || detected === null) return null;
    format.delimiter = detected.delimiter;
    format.firstLine = detected.firstLine + lineAt(head, start) - 1;
    const begun = new RowParser(format, source, (record, line, isCut) =>
      table.take(record, line, undefined, isCut),
    );
    await parse(begun, head.subarray(start + detected.skip));
    head = Buffer.alloc(0);
    return begun;
  };
  const parse = (parser: RowParser, block: Buffer) => {
    handlers.copy(block);
    table.damage.read(block);
    return parser.feed(block);
  };
  try {
    const onMark = () => {
      format.marked = true;
    };
    for await (const block of decodeInput(bytes, encodingOf(options.encoding, source), onMark)) {
      options.signal?.throwIfAborted();
      if (parser !== null) {
        await parse(parser, block);
        continue;
      }
      head = Buffer.concat([head, block]);
      parser = await begin(head.length > maxRowLength);
    }
    parser ??= await begin(true);
    await parser?.finish();
    const { columns, consumer, unread } = table;
    return { format, columns, consumer, hiddenRows: 0, unread };
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    const line = (await parser?.lastLine()) ?? 1;
    throw new InputError('encoding', source, error.message, error.hint, { line });
  }
}

function encodingOf(label: string | undefined, source: string): string | undefined {
  const encoding = label === undefined ? undefined : encodingNamed(label);
  if (encoding !== null) return encoding;
  const hint = `Use one of ${encodingChoices.join(', ')}.`;
  throw new InputError('encoding', source, `unknown encoding ${label}`, hint);
}
