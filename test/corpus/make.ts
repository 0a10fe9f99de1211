/**
 * Makes CSV files as they arrive from spreadsheets, banks and old registers: every encoding, delimiter and
 * line end with every kind of damage. Each says what must come of it; nothing here is random.
 */

export interface CorpusFile {
  name: string;
  bytes: Buffer;
  /** What a person would give on the command line. */
  encoding?: string;
  /** The only right outcome. */
  expected:
    | { refused: 'encoding' | 'csv' }
    | { numbers: string[]; lines: number[]; texts: string[]; rejectedLines: number[] };
}

interface Encoding {
  name: string;
  encode(text: string): Buffer;
  option?: string;
  /** windows-1251 has no Ө and Ү, no full-width digits and no invisible marks. */
  narrow?: boolean;
  /** Not readable without being named, or not as what it is named. */
  unreadable?: boolean;
}

const wide = (text: string) => Buffer.from(text, 'utf16le');
const letters1251 = new TextDecoder('windows-1251').decode(
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
);
const narrow = (text: string) =>
  Buffer.from(
    [...text].map((letter) => {
      const byte = letters1251.indexOf(letter);
      if (byte === -1) throw new Error(`windows-1251 has no ${letter}`);
      return byte;
    }),
  );
/** How Mongolian was written in windows-1251: with letters that a font showed as others. */
const hacked = (text: string) => narrow(text.replace(/[бБ]/g, (letter) => (letter === 'б' ? 'є' : 'Є')));

const encodings: Encoding[] = [
  { name: 'utf-8', encode: (text) => Buffer.from(text) },
  { name: 'utf-8-mark', encode: (text) => Buffer.from(`\ufeff${text}`) },
  { name: 'utf-16le-mark', encode: (text) => wide(`\ufeff${text}`) },
  { name: 'utf-16be-mark', encode: (text) => wide(`\ufeff${text}`).swap16() },
  { name: 'utf-16le', encode: wide },
  { name: 'utf-16be', encode: (text) => wide(text).swap16() },
  { name: 'windows-1251', encode: narrow, option: 'windows-1251', narrow: true },
  { name: 'windows-1251-unnamed', encode: narrow, narrow: true, unreadable: true },
  { name: 'windows-1251-hacked', encode: hacked, option: 'windows-1251', narrow: true, unreadable: true },
  { name: 'utf-8-named-1251', encode: (text) => Buffer.from(text), option: 'windows-1251', unreadable: true },
];
const delimiters = { comma: ',', semicolon: ';', tab: '\t', bar: '|' };
const lineEnds = { lf: ['\n'], crlf: ['\r\n'], cr: ['\r'], mixed: ['\r\n', '\n', '\r'] };

/** A number as it was written, and the one that was meant; null where that is no longer certain. */
interface Cell {
  written: string;
  meant: string | null;
  wideOnly?: boolean;
}
const cells: Cell[] = [
  { written: '99110001', meant: '99110001' },
  { written: '8811 0002', meant: '88110002' },
  { written: '9511-0003', meant: '95110003' },
  { written: '+97680110004', meant: '80110004' },
  { written: '976 9011 0005', meant: '90110005' },
  { written: '0097683110006', meant: '83110006' },
  { written: '9911\u00a00007', meant: '99110007' },
  { written: "'99110008", meant: '99110008' },
  { written: '9.9110009E7', meant: '99110009' },
  { written: '9.911001E+07', meant: null },
  { written: '9.9110011E+07', meant: '99110011' },
  { written: '9.7699110012E+10', meant: '99110012' },
  { written: '9.91E+07', meant: null },
  { written: '9.76991E+10', meant: null },
  { written: '99110013.0', meant: '99110013' },
  { written: '="99110014"', meant: '99110014' },
  { written: '\u202a99110015\u202c', meant: '99110015', wideOnly: true },
  { written: '９９１１００１６', meant: '99110016', wideOnly: true },
  { written: '9911\u20110017', meant: '99110017', wideOnly: true },
  { written: '\u200e99110018', meant: '99110018', wideOnly: true },
  { written: '9911O019', meant: null },
  { written: '99110020 / 88110020', meant: null },
  { written: '9911002', meant: null },
  { written: '70110021', meant: null },
  { written: '+12025550123', meant: null },
  { written: '', meant: null },
  { written: '99110001', meant: '99110001' },
];

interface Row {
  fields: string[];
  /** How they are written, if not as they should be. */
  written?: string[];
  /** Empty for a blank row, which is nothing at all. */
  meant: string | null;
}

/** What may be wrong with the file around its numbers. */
type Damage =
  | 'none'
  | 'quoted-lines'
  | 'sep-line'
  | 'blank-rows'
  | 'ragged'
  | 'no-last-end'
  | 'open-quote'
  | 'closed-quote'
  | 'stray-quote';
const damages: Damage[] = [
  ...(['none', 'quoted-lines', 'sep-line', 'blank-rows', 'ragged'] as const),
  ...(['no-last-end', 'open-quote', 'closed-quote', 'stray-quote'] as const),
];

/** Behind the decoder all encodings are one: this has every combination, the others every pair of them. */
const whole = 'utf-8';

/** The files; with `all`, every combination for all encodings. */
export function* corpus(all = false): Generator<CorpusFile, void> {
  for (const encoding of encodings) {
    for (const [place, [delimiterName, delimiter]] of Object.entries(delimiters).entries()) {
      for (const [at, [endName, ends]] of Object.entries(lineEnds).entries()) {
        for (const [step, damage] of damages.entries()) {
          const isSpare = (place + step) % 4 !== at && encoding.name !== whole;
          if (isSpare && !all) continue;
          const name = `${encoding.name}_${delimiterName}_${endName}_${damage}.csv`;
          yield makeFile(name, encoding, delimiter, ends, damage);
        }
      }
    }
  }
}

const text = (index: number) => `Сайн байна уу, Бат-${index}`;

function makeFile(
  name: string,
  encoding: Encoding,
  delimiter: string,
  ends: string[],
  damage: Damage,
): CorpusFile {
  const chosen = cells.filter(({ wideOnly }) => !(wideOnly === true && encoding.narrow === true));
  const rows: Row[] = chosen.map(({ written, meant }, index) => ({
    fields: [written, text(Number(meant ?? index) % 3)],
    meant,
  }));
  if (damage === 'quoted-lines')
    rows.splice(1, 0, { fields: ['86110001', 'мөр\r\nмөр\nмөр\rмөр'], meant: '86110001' });
  if (damage === 'quoted-lines' && encoding.narrow === true)
    rows[1] = { fields: ['86110001', 'а\r\nб\nв\rг'], meant: '86110001' };
  if (damage === 'blank-rows') rows.splice(2, 0, ...blankRows);
  if (damage === 'ragged') {
    rows.splice(3, 0, { fields: ['86110002'], meant: null }, { fields: ['86110003', 'a', 'b'], meant: null });
    rows.splice(1, 0, { fields: ['86110004', text(0), '', ''], meant: '86110004' });
  }
  if (damage === 'stray-quote') rows.splice(1, 0, ...strayQuotes(delimiter));
  const written = write(rows, delimiter, ends, damage);
  const option = encoding.option === undefined ? {} : { encoding: encoding.option };
  const bytes = encoding.encode(written.text);
  if (encoding.unreadable === true) return { name, bytes, ...option, expected: { refused: 'encoding' } };
  if (damage === 'open-quote' || damage === 'closed-quote')
    return { name, bytes, ...option, expected: { refused: 'csv' } };
  return { name, bytes, ...option, expected: written.expected };
}

const blankRows: Row[] = [['', ''], [''], [' ', '\u00a0'], ['', '', '', '']].map((fields) => ({
  fields,
  meant: '',
}));

const strayQuotes = (delimiter: string): Row[] => [
  { fields: ['86110005', '5" pipe'], written: ['86110005', '5" pipe'], meant: '86110005' },
  {
    fields: ['86110006', `a${delimiter} "b"`],
    written: ['"86110006" ', ` "a${delimiter} ""b"""`],
    meant: '86110006',
  },
];

function write(rows: Row[], delimiter: string, ends: string[], damage: Damage) {
  let end = 0;
  const nextEnd = () => ends[end++ % ends.length] ?? '\n';
  let whole = damage === 'sep-line' ? `sep=${delimiter}${nextEnd()}` : '';
  whole += `утас${delimiter}text${nextEnd()}`;
  const seen = new Set<string>();
  const expected = {
    numbers: [] as string[],
    lines: [] as number[],
    texts: [] as string[],
    rejectedLines: [] as number[],
  };
  for (const { fields, meant, written = fields.map((field) => quoted(field, delimiter)) } of rows) {
    const line = whole.split(/\r\n|\r|\n/).length;
    whole += written.join(delimiter) + nextEnd();
    if (meant === null) expected.rejectedLines.push(line);
    else if (meant !== '' && !seen.has(meant)) {
      seen.add(meant);
      expected.numbers.push(meant);
      expected.lines.push(line);
      expected.texts.push((fields[1] ?? '').replaceAll(/\r\n?/g, '\n'));
    }
  }
  if (damage === 'open-quote') whole += `86110005${delimiter}"a${nextEnd()}86110006${delimiter}b${nextEnd()}`;
  if (damage === 'closed-quote')
    whole += `86110005${delimiter}"a" b${nextEnd()}86110006${delimiter}b${nextEnd()}`;
  return { text: damage === 'no-last-end' ? whole.replace(/(\r\n|\r|\n)$/, '') : whole, expected };
}

function quoted(field: string, delimiter: string): string {
  return /["\r\n]/.test(field) || field.includes(delimiter) ? `"${field.replaceAll('"', '""')}"` : field;
}
