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

/** Further names, which count only in a list without any of those above. They are compared without blanks. */
const furtherPhones = `
  cellular, handphone, mob, whatsapp, contact number, contact no, contact phone, contact tel, primary phone, main phone,
  mobile no, mobile tel, mobile telephone, mobile phone number, mobile phone no, phone mobile, tel number, tel no,
  telephone no, cell number, cell no, cell phone number, gsm number,
  тел, утасны, гар утасны, утасны дугаарууд, телефоны дугаар, телефон дугаар, тел дугаар, гар утас дугаар, мобайл,
  мобайл дугаар, мобайл утас, үүрэн утас, үүрэн телефон, холбогдох дугаар, холбогдох утасны дугаар, холбоо барих дугаар,
  холбоо барих утасны дугаар, хүлээн авагчийн утас, хүлээн авагчийн дугаар, харилцагчийн утас, хэрэглэгчийн утас,
  тел номер, номер тел, номер моб, моб, моб тел, моб телефон, мобильный телефон, мобильный номер, сотовый,
  сотовый телефон, контактный телефон, телефон мобильный, номер мобильного, номер мобильного телефона
`;
const furtherEmails = `
  email id, work email, primary email, contact email, email хаяг, mail хаяг, gmail,
  имейл, и мейл, мейл, майл, емэйл, емейл, майл хаяг, имейл хаяг, емэйл хаяг, емейл хаяг, мейл хаяг, мэйлийн хаяг,
  имэйлийн хаяг, майлийн хаяг, цахим шуудангийн хаяг, цахим шуудан хаяг, хүлээн авагчийн имэйл,
  емаил, адрес почты, адрес эл почты, адрес электронной почты, эл адрес, электронный адрес
`;
const furtherNames: Record<Channel, string> = { sms: furtherPhones, email: furtherEmails };

const squeezed = (name: string) => name.replaceAll(' ', '');

/** `Phone 1 - Value`, `Утас №1` and `Phone (mobile)` are compared as `phone`, `утас` and `phone mobile`. */
function furtherName(name: string): string {
  const plain = plainName(name.replace(/[№#()[\]/,;]/g, ' '));
  return squeezed(plain.replace(/ value$/, '').replace(/ ?\d{1,2}$/, ''));
}

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

const indexesOf = (columns: readonly string[], isWanted: (name: string) => boolean): number[] =>
  columns.flatMap((name, index) => (isWanted(name) ? [index] : []));

function furtherColumns(columns: readonly string[], channel: Channel): number[] {
  const names = new Set([...recipientNames[channel], ...namesIn(furtherNames[channel])].map(squeezed));
  return indexesOf(columns, (name) => names.has(furtherName(name)));
}

/** Index of a column that an option names, of the list's own first; -1 for none. */
export function columnGiven(columns: readonly string[], name: string): number {
  const own = columnNamed(columns, name, new Set(ownColumns(columns).values()));
  return own === -1 ? columnNamed(columns, name) : own;
}

/** Index of the recipient column: `toColumn`, else the one with a known name. Throws InputError. */
export function findRecipientColumn(search: RecipientColumnSearch): number {
  const { columns, toColumn, channel, source, line } = search;
  const refuse = (what: string, hint: string) => new InputError('columns', source, what, hint, { line });
  if (toColumn !== undefined) {
    const index = columnGiven(columns, toColumn);
    if (index === -1) throw refuse(`unknown column ${toColumn}`, columnsHint(columns));
    return index;
  }
  if (search.headerless && columns.length === 1) return 0;
  const known = recipientNames[channel];
  const first = indexesOf(columns, (name) => known.includes(plainName(name)));
  const found = first.length > 0 ? first : furtherColumns(columns, channel);
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
