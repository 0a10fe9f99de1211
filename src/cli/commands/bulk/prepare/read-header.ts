import type { Channel } from '../../../../contract/index.js';
import { InputError } from '../../../bulk/input/input-error.js';
import { readTable } from '../../../bulk/input/read-table.js';
import { recipientReader } from '../../../bulk/input/recipient-reader.js';
import { ownColumns } from '../../../bulk/input/report-columns.js';
import { selectColumns } from '../../../bulk/plan/select-columns.js';
import { bindTemplate, parseTemplate } from '../../../bulk/plan/template/template.js';
import type { Context } from '../../../context.js';
import type { Check } from '../../../input/required.js';
import { type BulkOptions, delimiterOf } from '../options.js';
import { askAboutInput } from './ask-about-input.js';

/** A header, and the options chosen while it was read. */
export interface Header {
  columns: readonly string[];
  chosen: Pick<BulkOptions, 'encoding' | 'sheet'>;
}

/** Stops reading a table after its header. */
class HeaderRead extends Error {
  constructor(readonly columns: readonly string[]) {
    super('the header was read');
  }
}

/** Reads the header of a file before anybody writes a text for it. Throws CliError for whatever a plan would refuse. */
export async function readHeader(
  { io }: Pick<Context, 'io'>,
  channel: Channel,
  file: string,
  options: BulkOptions,
): Promise<Header> {
  const table = { ...options, delimiter: delimiterOf(options) };
  const input = { bytes: io.files.bytes(file), source: file };
  try {
    await readTable(input, table, {
      copy: () => {},
      onHeader(names, line, source): never {
        selectColumns({ names, line, source }, { ...options, channel }, recipientReader(channel));
        throw new HeaderRead(names);
      },
    });
    return { columns: [], chosen: {} };
  } catch (error) {
    if (error instanceof HeaderRead) return { columns: error.columns, chosen: {} };
    const answer = await askAboutInput(io, error, file, options);
    const { columns, chosen } = await readHeader({ io }, channel, file, { ...options, ...answer });
    return { columns, chosen: { ...answer, ...chosen } };
  }
}

const mostNamed = 8;

/** `Text ({Утас} {Нэр} {Огноо}):` */
export function questionFor(what: string, columns: readonly string[]): string {
  const own = new Set(ownColumns(columns).values());
  const usable = columns.filter((_, index) => !own.has(index));
  const named = usable.slice(0, mostNamed).map((name) => `{${name}}`);
  const more = usable.length > named.length ? ' …' : '';
  return named.length === 0 ? `${what}:` : `${what} (${named.join(' ')}${more}):`;
}

/** Whether a text only has existing columns. */
export const columnsOf =
  (label: string, columns: readonly string[]): Check =>
  (text) => {
    try {
      bindTemplate(parseTemplate(text, label), columns, 'plain');
      return true;
    } catch (error) {
      if (error instanceof InputError) return `${error.message}. ${error.hint}`;
      throw error;
    }
  };
