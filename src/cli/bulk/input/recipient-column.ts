import type { Channel } from '../../../contract/index.js';
import { grouped } from '../../wording.js';
import { InputError } from './input-error.js';

const common = ['to', 'recipient', 'recipients', 'хүлээн авагч', 'хэнд'];
const recipientNames: Record<Channel, readonly string[]> = {
  sms: [
    ...common,
    ...['phone', 'phone number', 'phone no', 'number', 'mobile', 'mobile phone', 'mobile number', 'cell'],
    ...['cell phone', 'cellphone', 'tel', 'telephone', 'telephone number', 'msisdn', 'gsm', 'sms'],
    ...['утас', 'утасны дугаар', 'утас дугаар', 'утасны №', 'гар утас', 'гар утасны дугаар', 'дугаар'],
    ...['холбогдох утас', 'холбоо барих утас', 'телефон', 'номер', 'номер телефона', 'мобильный'],
  ],
  email: [
    ...common,
    ...['email', 'e mail', 'mail', 'email address', 'e mail address', 'mail address'],
    ...['имэйл', 'и мэйл', 'мэйл', 'э мэйл', 'имэйл хаяг', 'и мэйл хаяг', 'мэйл хаяг', 'цахим шуудан'],
    ...['цахим хаяг', 'э шуудан', 'почта', 'эл почта', 'электронная почта'],
  ],
};

/** A header name as it is compared: case, surrounding space and the marks between words do not count. */
function plain(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s._:*-]+/g, ' ')
    .trim();
}

const listedNames = 20;

/** Names as an error lists them: all of them, or the first ones of very many. */
export function listed(names: readonly string[]): string {
  const first = names.slice(0, listedNames).join(', ');
  return names.length > listedNames ? `${first} and ${grouped(names.length - listedNames)} more` : first;
}

/** The names in the header row, trimmed. An empty name or one that stands twice is an error. */
export function readHeader(record: readonly string[], source: string, line: number): string[] {
  const columns = record.map((name) => name.normalize('NFC').trim());
  const hint = 'give every column a name of its own, or use --headerless';
  const empty = columns.indexOf('');
  if (empty !== -1) {
    throw new InputError('columns', source, `column ${empty + 1} of the header has no name`, hint, { line });
  }
  const seen = new Set<string>();
  const twice = columns.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) {
    throw new InputError('columns', source, `two columns are named ${twice}`, hint, { line });
  }
  return columns;
}

/** Columns of a list without a header: 1, 2, 3 ... */
export function numberedColumns(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1));
}

/** Index of the column a person named; exact, or else the only one that differs in case or marks. */
export function columnNamed(columns: readonly string[], name: string): number {
  const wanted = name.normalize('NFC').trim();
  const exact = columns.indexOf(wanted);
  if (exact !== -1) return exact;
  const alike = columns.flatMap((column, index) => (plain(column) === plain(wanted) ? [index] : []));
  return alike.length === 1 ? (alike[0] ?? -1) : -1;
}

export interface RecipientSearch {
  channel: Channel;
  columns: readonly string[];
  toColumn: string | undefined;
  headerless: boolean;
  source: string;
  line: number;
  /** Whether a header cell can itself be sent to: then the header is probably missing. */
  looksLikeRecipient: (cell: string) => boolean;
}

/** Index of the recipient column: the one that is named, else the one with a known name. */
export function findRecipientColumn(search: RecipientSearch): number {
  const { columns, toColumn, channel, source, line } = search;
  const list = `the columns are ${listed(columns)}`;
  if (toColumn !== undefined) {
    const index = columnNamed(columns, toColumn);
    if (index === -1)
      throw new InputError('columns', source, `no column is named ${toColumn}`, list, { line });
    return index;
  }
  if (search.headerless && columns.length === 1) return 0;
  const known = recipientNames[channel];
  const found = columns.flatMap((name, index) => (known.includes(plain(name)) ? [index] : []));
  if (found.length === 1) return found[0] ?? 0;
  if (found.length > 1) {
    const names = found
      .slice(0, listedNames)
      .map((index) => columns[index])
      .join(' and ');
    throw new InputError(
      'columns',
      source,
      `${names} could all be the recipient`,
      `choose one with --to-column; ${list}`,
      { line },
    );
  }
  const headerMissing = !search.headerless && columns.some(search.looksLikeRecipient);
  throw new InputError(
    'columns',
    source,
    'no column is known to hold the recipient',
    headerMissing
      ? 'the first row looks like data: add a header, or use --headerless'
      : `choose one with --to-column; ${list}`,
    { line },
  );
}
