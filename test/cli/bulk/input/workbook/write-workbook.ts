import { deflateRawSync, gzipSync } from 'node:zlib';

/** A cell as its XML without the reference, or a text or number in the usual form. */
export type TestCell = string | number | null | { xml: string };

export interface TestSheet {
  name?: string;
  state?: 'hidden' | 'veryHidden';
  /** Rows from the first on; null for a row that is not written. */
  rows?: (TestCell[] | null)[];
  /** The whole of `sheetData` instead of rows. */
  data?: string;
  /** What stands behind `sheetData`. */
  rest?: string;
}

export interface TestWorkbook {
  sheets: TestSheet[];
  /** Items of the shared strings, as XML: `<t>text</t>`. Texts of cells are put behind them. */
  strings?: string[];
  inline?: boolean;
  /** Format codes of the styles 1, 2, 3 ...; a number is the id of a built-in one. */
  formats?: (string | number)[];
  from1904?: boolean;
  strict?: boolean;
  /** Prefix of all elements, as the Open XML SDK writes them. */
  prefix?: string;
  /** Cells and rows without references, as some writers leave them out. */
  bare?: boolean;
}

export type Parts = Map<string, Buffer>;

const escaped = (text: string) =>
  text
    .replace(/[&<>"\r]/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');

const letters = (column: number): string =>
  (column < 26 ? '' : letters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

/** The parts of a workbook as Excel lays them out. */
export function workbookParts(book: TestWorkbook): Parts {
  const { sheets, formats = [], inline = false, strict = false, prefix = '', bare = false } = book;
  const strings = [...(book.strings ?? [])];
  const [main, relations] = strict
    ? [
        'http://purl.oclc.org/ooxml/spreadsheetml/main',
        'http://purl.oclc.org/ooxml/officeDocument/relationships',
      ]
    : [
        'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
        'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
      ];
  const packaged = 'http://schemas.openxmlformats.org/package/2006/relationships';
  const parts: Parts = new Map();
  const put = (name: string, xml: string) => {
    const prefixed =
      prefix === ''
        ? xml
        : xml.replace(/<(\/?)(?=[a-z])/gi, `<$1${prefix}:`).replace(' xmlns="', ` xmlns:${prefix}="`);
    parts.set(name, Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n${prefixed}`));
  };
  const text = (value: string) => {
    if (inline) return `t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is>`;
    return `t="s"><v>${strings.push(`<t xml:space="preserve">${escaped(value)}</t>`) - 1}</v>`;
  };
  const cell = (value: TestCell, reference: string) => {
    if (value === null) return '';
    const place = bare ? '<c ' : `<c r="${reference}" `;
    if (typeof value === 'number') return `${place}><v>${value}</v></c>`;
    return typeof value === 'string' ? `${place}${text(value)}</c>` : `${place}${value.xml}</c>`;
  };
  const dataOf = (rows: (TestCell[] | null)[]) =>
    rows
      .map((cells, index) => {
        if (cells === null) return '';
        const inside = cells.map((value, column) => cell(value, letters(column) + (index + 1))).join('');
        return bare ? `<row>${inside}</row>` : `<row r="${index + 1}" spans="1:9">${inside}</row>`;
      })
      .join('');
  put(
    '_rels/.rels',
    `<Relationships xmlns="${packaged}"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  );
  const names = sheets.map(({ name }, index) => name ?? `Sheet${index + 1}`);
  put(
    'xl/workbook.xml',
    `<workbook xmlns="${main}" xmlns:r="${relations}"><workbookPr${book.from1904 ? ' date1904="1"' : ''}/><sheets>${sheets
      .map(
        ({ state }, index) =>
          `<sheet name="${escaped(names[index] ?? '')}" sheetId="${index + 5}"${state ? ` state="${state}"` : ''} r:id="rId${index + 1}"/>`,
      )
      .join('')}</sheets></workbook>`,
  );
  sheets.forEach(({ rows, data, rest = '' }, index) => {
    put(
      `xl/worksheets/sheet${index + 1}.xml`,
      `<worksheet xmlns="${main}"><dimension ref="A1"/><sheetData>${data ?? dataOf(rows ?? [])}</sheetData>${rest}</worksheet>`,
    );
  });
  put(
    'xl/styles.xml',
    `<styleSheet xmlns="${main}"><numFmts>${formats
      .map((code, index) =>
        typeof code === 'string' ? `<numFmt numFmtId="${170 + index}" formatCode="${escaped(code)}"/>` : '',
      )
      .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
      .map((code, index) => `<xf numFmtId="${typeof code === 'string' ? 170 + index : code}"/>`)
      .join('')}</cellXfs></styleSheet>`,
  );
  if (strings.length > 0) {
    put(
      'xl/sharedStrings.xml',
      `<sst xmlns="${main}">${strings.map((item) => `<si>${item}</si>`).join('')}</sst>`,
    );
  }
  const related = [
    ...sheets.map((_, index) => [`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`]),
    ['rIdStyles', 'styles', '/xl/styles.xml'],
    ...(strings.length > 0 ? [['rIdStrings', 'sharedStrings', 'sharedStrings.xml']] : []),
  ];
  put(
    'xl/_rels/workbook.xml.rels',
    `<Relationships xmlns="${packaged}">${related
      .map(
        ([id, type, target]) => `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`,
      )
      .join('')}</Relationships>`,
  );
  return parts;
}

export const workbook = (book: TestWorkbook): Buffer => zipOf(workbookParts(book));

/** What an entry says of itself in the archive, where that differs from the truth. */
export interface ZipLies {
  flags?: number;
  unpacked?: number;
  checksum?: number;
}

/** A zip archive of the parts; `stored` ones are not compressed. */
export function zipOf(
  parts: ReadonlyMap<string, Buffer> | readonly (readonly [string, Buffer])[],
  { stored = false, lies = {} }: { stored?: boolean; lies?: Readonly<Record<string, ZipLies>> } = {},
): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const entries = [...parts];
  for (const [name, content] of entries) {
    const packed = stored ? content : deflateRawSync(content);
    const { flags = 0, unpacked = content.length, checksum = checksumOf(content) } = lies[name] ?? {};
    const bytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags | 0x800, 2);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(checksum, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(unpacked, 18);
    common.writeUInt16LE(bytes.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, bytes, packed]);
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, place, bytes);
    bodies.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listed, end]);
}

/** The checksum that gzip writes behind the same bytes. */
function checksumOf(content: Buffer): number {
  const packed = gzipSync(content, { level: 0 });
  return packed.readUInt32LE(packed.length - 8);
}
