/**
 * Makes lists as programs export them: each with its delimiter, quotes, line ends, byte order mark, empty fields and names
 * of columns. Each says what must arrive.
 */

import { workbook } from '../cli/bulk/input/workbook/write-workbook.js';

export interface Person {
  name: string;
  number: string;
  email: string;
  amount: number;
  /** Days since the beginning of 2026. */
  due: number;
}

export interface ExportedList {
  /** The program and its format. */
  name: string;
  file: string;
  bytes: Buffer;
  channel: 'sms' | 'email';
  /** What a person would give on the command line. */
  options: { encoding?: string; headerRow?: number };
  text: string;
  /** What arrives; or why nothing does. */
  expected: { to: string; text: string }[] | { refused: string };
}

const names = [
  ...['Бат', 'Цэцэг', 'Bold', 'Дорж-Сүрэн', 'Ө. Өлзий'],
  ...['Bold, Dorj', 'Дорж "Хүдэр"', 'Сараа; Туяа', 'Нар\nСар', '"Чингис" буудал', "О'Коннор"],
];

export function peopleOf(random: () => number): Person[] {
  const below = (limit: number) => Math.floor(random() * limit);
  return Array.from({ length: 3 + below(4) }, (_, at) => ({
    name: names[below(names.length)] ?? '',
    number: `${['99', '88', '80', '95', '86', '96'][below(6)]}${100_000 + at * 100_000 + below(90_000)}`,
    email: `user${at}@example.mn`,
    amount: 1 + below(2_000_000),
    due: below(365),
  }));
}

const grouped = (amount: number, mark: string) => String(amount).replace(/\B(?=(?:\d{3})+$)/g, mark);
const dayOf = ({ due }: Person) => new Date(Date.UTC(2026, 0, 1 + due)).toISOString().slice(0, 10);
/** How a spreadsheet stores a day of 2026. */
const serialOf = ({ due }: Person) => 46_023 + due;

interface Dialect {
  delimiter?: string;
  end?: string;
  /** Fields in quotes: those that need them, all, or texts but no numbers. */
  quotes?: 'needed' | 'all' | 'texts';
  mark?: boolean;
  /** Whether the last line has an end. */
  isEnded?: boolean;
  /** Behind each line. */
  tail?: string;
}

function textOf(rows: readonly (readonly string[])[], dialect: Dialect = {}): string {
  const {
    delimiter = ',',
    end = '\r\n',
    quotes = 'needed',
    mark = false,
    isEnded = true,
    tail = '',
  } = dialect;
  const field = (value: string) => {
    const isNeeded = /["\r\n]/.test(value) || value.includes(delimiter);
    const isQuoted = isNeeded || quotes === 'all' || (quotes === 'texts' && !/^\d*$/.test(value));
    return isQuoted ? `"${value.replaceAll('"', '""')}"` : value;
  };
  const lines = rows.map((fields) => fields.map(field).join(delimiter) + tail);
  return (mark ? '\ufeff' : '') + lines.join(end) + (isEnded ? end : '');
}

const utf8 = (...written: Parameters<typeof textOf>) => Buffer.from(textOf(...written));
const utf16 = (...written: Parameters<typeof textOf>) => Buffer.from(textOf(...written), 'utf16le');
function windows1251(...written: Parameters<typeof textOf>): Buffer {
  const table = new TextDecoder('windows-1251').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const bytes = [...textOf(...written)].map((letter) => table.indexOf(letter));
  if (bytes.includes(-1)) throw new Error('windows-1251 lacks a letter');
  return Buffer.from(bytes);
}
/** Letters that windows-1251 has. */
const in1251 = (person: Person): Person => ({
  ...person,
  name: person.name.replace(/[Өө]/g, 'о').replace(/[Үү]/g, 'у'),
});

type Made = Omit<ExportedList, 'name' | 'channel' | 'options'> & Partial<ExportedList>;
type Maker = (people: Person[]) => Made;

/** A list whose columns are the name, the number and the amount, and its text. */
const usual = (people: Person[], amountOf: (amount: number) => string = String) => ({
  text: 'Сайн уу {Нэр}, {Дүн}',
  header: ['Нэр', 'Утас', 'Дүн'],
  rows: people.map(({ name, number, amount }) => [name, number, amountOf(amount)]),
  expected: people.map(({ name, number, amount }) => ({
    to: number,
    text: `Сайн уу ${name}, ${amountOf(amount)}`,
  })),
});

const outlookNames =
  'Title,First Name,Last Name,Company,Mobile Phone,E-mail Address,E-mail 2 Address,Notes,Web Page';
const googleNames =
  'First Name,Last Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Birthday,Notes';

/** By the program and its format. */
const makers: Record<string, Maker> = {
  'Excel for Windows: CSV UTF-8'(people) {
    const { header, rows, ...list } = usual(people, (amount) => `${grouped(amount, ',')}.00`);
    return { ...list, file: 'excel.csv', bytes: utf8([header, ...rows], { mark: true }) };
  },
  'Excel for Windows, region with decimal commas: CSV UTF-8'(people) {
    const { header, rows, ...list } = usual(people, (amount) => `${grouped(amount, '\u00a0')},00 ₮`);
    return { ...list, file: 'excel.csv', bytes: utf8([header, ...rows], { mark: true, delimiter: ';' }) };
  },
  'Excel for Windows: CSV in the code page of Windows'(people) {
    const { header, rows, ...list } = usual(people.map(in1251));
    const bytes = windows1251(
      [header, ...rows].map((row) => row.map((each) => each.replace('ү', 'у'))),
      { delimiter: ';' },
    );
    const named = { ...list, text: list.text.replace('{Дүн}', '{Дун}') };
    return { ...named, file: 'excel.csv', bytes, options: { encoding: 'windows-1251' } };
  },
  'Excel for Windows: Unicode text'(people) {
    const { header, rows, ...list } = usual(people);
    return { ...list, file: 'excel.txt', bytes: utf16([header, ...rows], { mark: true, delimiter: '\t' }) };
  },
  'Excel for Mac: CSV with a delimiter at the end of every line'(people) {
    const { header, rows, ...list } = usual(people);
    return {
      ...list,
      file: 'mac.csv',
      bytes: utf8([header, ...rows], { delimiter: ';', end: '\r', tail: ';' }),
    };
  },
  'Excel: a title of two lines above the header'(people) {
    const { header, rows, ...list } = usual(people);
    const bytes = utf8([['Жагсаалт\n2026', '', ''], header, ...rows]);
    return { ...list, file: 'excel.csv', bytes, options: { headerRow: 2 } };
  },
  'Google Sheets: CSV'(people) {
    const { header, rows, ...list } = usual(people);
    return { ...list, file: 'sheets.csv', bytes: utf8([header, ...rows], { isEnded: false }) };
  },
  'Google Contacts: CSV'(people) {
    const rows = people.map(({ name, number, email }) => [
      ...[
        name,
        '',
        '* myContacts',
        '* Work',
        email,
        'Mobile',
        `+976 ${number.slice(0, 4)} ${number.slice(4)}`,
        '',
        '',
      ],
    ]);
    return {
      file: 'contacts.csv',
      bytes: utf8([googleNames.split(','), ...rows], { end: '\n' }),
      text: 'Hi {First Name}',
      expected: people.map(({ name, number }) => ({ to: number, text: `Hi ${name}` })),
    };
  },
  'Google Contacts of before 2024: CSV in UTF-16'(people) {
    const rows = people.map(({ name, email }) => [name, '*', email, 'Mobile', '']);
    const header = ['Name', 'E-mail 1 - Type', 'E-mail 1 - Value', 'Phone 1 - Type', 'Phone 1 - Value'];
    return {
      file: 'google.csv',
      bytes: utf16([header, ...rows], { mark: true }),
      channel: 'email',
      text: 'Hi {Name}',
      expected: people.map(({ name, email }) => ({ to: email, text: `Hi ${name}` })),
    };
  },
  'Outlook: CSV without the last empty fields'(people) {
    const rows = people.map(({ name, number, email }, at) => [
      '',
      name,
      '',
      '',
      number,
      ...(at % 2 ? [] : [email]),
    ]);
    return {
      file: 'outlook.csv',
      bytes: utf8([outlookNames.split(','), ...rows], { quotes: 'all' }),
      text: 'Hi {First Name}',
      expected: people.map(({ name, number }) => ({ to: number, text: `Hi ${name}` })),
    };
  },
  'Outlook on the web: CSV for mails'(people) {
    const rows = people.map(({ name, email }) => ['', name, '', '', '', email]);
    return {
      file: 'outlook.csv',
      bytes: utf8([outlookNames.split(','), ...rows], { mark: true }),
      channel: 'email',
      text: 'Hi {First Name}',
      expected: people.map(({ name, email }) => ({ to: email, text: `Hi ${name}` })),
    };
  },
  'LibreOffice: CSV with texts in quotes'(people) {
    const { header, rows, ...list } = usual(people);
    return { ...list, file: 'calc.csv', bytes: utf8([header, ...rows], { end: '\n', quotes: 'texts' }) };
  },
  '1C: text with tabs'(people) {
    const rows = people.map(({ name, number, amount }) => [
      ...[name, `${number.slice(0, 4)}-${number.slice(4)}`, `${grouped(amount, '\u00a0')},00`],
    ]);
    return {
      file: '1c.txt',
      bytes: utf8([['Контрагент', 'Моб. телефон', 'Сумма'], ...rows], { mark: true, delimiter: '\t' }),
      text: '{Контрагент}: {Сумма}',
      expected: people.map(({ name, number, amount }) => ({
        to: number,
        text: `${name}: ${grouped(amount, '\u00a0')},00`,
      })),
    };
  },
  '1C: a workbook with a title, and columns between that have no name'(people) {
    const rows = [
      [null, 'Ведомость'],
      [null, 'Контрагент', null, 'Телефон', null, 'Сумма'],
      ...people.map(({ name, number, amount }) => [
        ...[null, name, null, number, null, { xml: `s="1"><v>${amount}</v>` }],
      ]),
    ];
    return {
      file: '1c.xlsx',
      bytes: workbook({ formats: [4], inline: true, sheets: [{ name: 'TDSheet', rows }] }),
      options: { headerRow: 2 },
      text: '{Контрагент}: {Сумма}',
      expected: people.map(({ name, number, amount }) => ({
        to: number,
        text: `${name}: ${grouped(amount, ',')}.00`,
      })),
    };
  },
  'pandas: to_csv with its index, and numbers that became floats'(people) {
    const rows = people.map(({ name, number, amount }, at) => [
      String(at),
      name,
      `${number}.0`,
      String(amount),
    ]);
    return {
      ...usual(people),
      file: 'pandas.csv',
      bytes: utf8([['', 'Нэр', 'Утасны дугаар', 'Дүн'], ...rows], { end: '\n' }),
    };
  },
  'pandas: to_excel with its index'(people) {
    const rows = people.map(({ name, number, amount }, at) => [at, name, Number(number), amount]);
    const bytes = workbook({ inline: true, sheets: [{ rows: [[null, 'Нэр', 'Тел', 'Дүн'], ...rows] }] });
    return { ...usual(people), file: 'pandas.xlsx', bytes };
  },
  'R: write.csv with row names'(people) {
    const { header, rows, ...list } = usual(people);
    const named = [['', ...header, 'note'], ...rows.map((row, at) => [`r${at + 1}`, ...row, 'NA'])];
    return { ...list, file: 'r.csv', bytes: utf8(named, { end: '\n', quotes: 'texts' }) };
  },
  'PostgreSQL: \\copy in CSV'(people) {
    const rows = people.map(({ name, number, amount }) => [name, number, String(amount), '']);
    return {
      file: 'people.csv',
      bytes: utf8([['full_name', 'mobile_no', 'amount', 'note'], ...rows], { end: '\n' }),
      text: '{full_name}: {amount}',
      expected: people.map(({ name, number, amount }) => ({ to: number, text: `${name}: ${amount}` })),
    };
  },
  'PostgreSQL and MySQL: text with tabs, and \\N for NULL'(people) {
    const rows = people.map(({ number, amount }) => [number, '\\N', String(amount)]);
    return {
      file: 'people.tsv',
      bytes: utf8([['msisdn', 'note', 'amount'], ...rows], { delimiter: '\t', end: '\n' }),
      text: 'Дүн: {amount}',
      expected: people.map(({ number, amount }) => ({ to: number, text: `Дүн: ${amount}` })),
    };
  },
  'phpMyAdmin: CSV with all fields in quotes'(people) {
    const { header, rows, ...list } = usual(people);
    return {
      ...list,
      file: 'people.csv',
      bytes: utf8([header, ...rows], { end: '\n', quotes: 'all', isEnded: false }),
    };
  },
  'a phone: contacts with invisible marks'(people) {
    const rows = people.map(({ name, number }) => [
      name,
      `\u202a+976\u00a0${number.slice(0, 4)}\u2011${number.slice(4)}\u202c`,
    ]);
    return {
      file: 'phone.csv',
      bytes: utf8([['Display Name', 'Phone (mobile)'], ...rows], { quotes: 'all' }),
      text: 'Hi {Display Name}',
      expected: people.map(({ name, number }) => ({ to: number, text: `Hi ${name}` })),
    };
  },
  'by hand: blanks before quotes, and quotes within fields'(people) {
    const line = ({ name, number }: Person) => `${number}, "${name.replaceAll('"', '""')}", 5" pipe`;
    return {
      file: 'hand.csv',
      bytes: Buffer.from(`\ufeff\ufeffphone, "name", what\n${people.map(line).join('\n')}\n`),
      text: '{name}: 5"',
      expected: people.map(({ name, number }) => ({ to: number, text: `${name}: 5"` })),
    };
  },
  'Excel: a workbook with numbers, dates and currencies'(people) {
    const styled = (style: number, value: number | string) => ({ xml: `s="${style}"><v>${value}</v>` });
    const rows = people.map((person) => [
      ...[
        person.name,
        styled(1, person.number),
        styled(2, person.amount),
        styled(3, person.amount),
        styled(4, serialOf(person)),
      ],
    ]);
    return {
      file: 'excel.xlsx',
      bytes: workbook({
        formats: ['yyyy-mm-dd', 44, '#,##0\\ "₮"', '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy'],
        sheets: [{ rows: [['Нэр', 'Гар утас', 'Дүн', 'Төлсөн', 'Огноо'], ...rows] }],
      }),
      text: '{Нэр}: {Дүн}, {Төлсөн}, {Огноо}',
      expected: people.map((person) => ({
        to: person.number,
        text: `${person.name}: ${grouped(person.amount, ',')}.00, ${grouped(person.amount, ',')} ₮, ${dayOf(person)}`,
      })),
    };
  },
  'Google Sheets: a workbook'(people) {
    const { header, rows, ...list } = usual(people);
    const cells = rows.map(([name = '', number = '', amount = '']) => [name, Number(number), Number(amount)]);
    return { ...list, file: 'sheets.xlsx', bytes: workbook({ sheets: [{ rows: [header, ...cells] }] }) };
  },
  'MySQL: quotes behind a backslash'(people) {
    const rows = people.map(({ number }) => `"${number}","Зочид \\"Чингис\\""\n`).join('');
    const refused = 'text after a closing quote';
    return {
      file: 'dump.csv',
      bytes: Buffer.from(`"phone","name"\n${rows}`),
      text: 'Hi',
      expected: { refused },
    };
  },
  'MySQL: a dump'(people) {
    const rows = people.map(({ number }) => `INSERT INTO people VALUES ('${number}');\n`).join('');
    const bytes = Buffer.from(`-- MySQL dump 10.13  Distrib 8.0\n${rows}`);
    return { file: 'dump.sql', bytes, text: 'Hi', expected: { refused: 'is an SQL dump' } };
  },
  'a phone: vCards'(people) {
    const cards = people.map(
      ({ number }) => `BEGIN:VCARD\r\nVERSION:3.0\r\nTEL;TYPE=CELL:${number}\r\nEND:VCARD\r\n`,
    );
    return {
      file: 'phone.vcf',
      bytes: Buffer.from(cards.join('')),
      text: 'Hi',
      expected: { refused: 'is a file of vCards' },
    };
  },
  'FoxPro: a table'(people) {
    const head = Buffer.from('\x30\x1a\x0b\x1c\x02\0\0\0\x61\0\x1f\0\0\0', 'latin1');
    const bytes = Buffer.concat([
      head,
      Buffer.alloc(18),
      Buffer.from(people.map(({ number }) => number).join(' ')),
    ]);
    return { file: 'list.dbf', bytes, text: 'Hi', expected: { refused: 'is a dBASE table' } };
  },
};

/** The lists of so many programs, with the same people in each. */
export const exportedLists = (people: Person[]): ExportedList[] =>
  Object.entries(makers).map(([name, make]) => ({ name, channel: 'sms', options: {}, ...make(people) }));
