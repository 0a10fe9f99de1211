import type { Channel } from '../../../contract/index.js';
import { columnNamed, columnsHint, plainName } from './header.js';
import { InputError } from './input-error.js';
import { ownColumns } from './report-columns.js';

const namesIn = (list: string): string[] => list.trim().split(/,\s+/);

const common = namesIn('to, recipient, recipients, хүлээн авагч, хэнд');
const phoneNames = namesIn(`
  phone, phone number, phone no, number, mobile, mobile phone, mobile number, cell, cell phone, cellphone,
  tel, telephone, telephone number, msisdn, gsm, sms,
  утас, утасны дугаар, утас дугаар, утасны №, гар утас, гар утасны дугаар, дугаар, холбогдох утас, холбоо барих утас,
  телефон, номер, номер телефона, мобильный
`);
const emailNames = namesIn(`
  email, e mail, mail, email address, e mail address, mail address,
  имэйл, и мэйл, мэйл, э мэйл, имэйл хаяг, и мэйл хаяг, мэйл хаяг, цахим шуудан, цахим хаяг, э шуудан,
  почта, эл почта, электронная почта
`);
const recipientNames: Record<Channel, readonly string[]> = {
  sms: [...common, ...phoneNames],
  email: [...common, ...emailNames],
};

export interface RecipientColumnSearch {
  channel: Channel;
  columns: readonly string[];
  /** The value of `--to-column`. */
  toColumn: string | undefined;
  headerless: boolean;
  source: string;
  line: number;
  /** A recipient in the header means that the header is probably missing. */
  isRecipient: (cell: string) => boolean;
}

/** Index of the recipient column: `toColumn`, else the one with a known name. Throws InputError. */
export function findRecipientColumn(search: RecipientColumnSearch): number {
  const { columns, toColumn, channel, source, line } = search;
  const refuse = (what: string, hint: string) => new InputError('columns', source, what, hint, { line });
  if (toColumn !== undefined) {
    const named = columnNamed(columns, toColumn, new Set(ownColumns(columns).values()));
    const index = named === -1 ? columnNamed(columns, toColumn) : named;
    if (index === -1) throw refuse(`unknown column ${toColumn}`, columnsHint(columns));
    return index;
  }
  if (search.headerless && columns.length === 1) return 0;
  const known = recipientNames[channel];
  const found = columns.flatMap((name, index) => (known.includes(plainName(name)) ? [index] : []));
  if (found.length === 1) return found[0] ?? 0;
  // In a report or rejects file of a list with a single column and no header, the number is its name.
  const isOfBareList = found.length === 0 && ownColumns(columns).size > 0 && !columns.includes('2');
  if (isOfBareList && columns.includes('1')) return columns.indexOf('1');
  const choose = `Choose one with --to-column. ${columnsHint(columns)}`;
  if (found.length > 1) {
    const names = found.slice(0, 20).map((index) => columns[index]);
    throw refuse(`more than one recipient column: ${names.join(', ')}`, choose);
  }
  const headerMissing = !search.headerless && columns.some(search.isRecipient);
  throw refuse(
    'no recipient column found',
    headerMissing ? 'The first row looks like data. Add a header, or use --headerless.' : choose,
  );
}
