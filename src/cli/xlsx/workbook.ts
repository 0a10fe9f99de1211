import { mostSheetRows, summaryMark } from './report-workbook.js';
import { afterRows, beforeRows, headerXml, rowXml, type SheetCell, stylesXml } from './sheet-xml.js';
import { type ZipPart, zipOf } from './zip.js';

export interface Sheet {
  name: string;
  columns: readonly string[];
  rows: AsyncIterable<readonly SheetCell[]>;
}

export interface SheetLimits {
  rows: number;
  /** Bytes of its XML: our own reader refuses more than 2 GB. */
  bytes: number;
}

const mostOfSheet: SheetLimits = { rows: mostSheetRows, bytes: 1_900_000_000 };
const blockLength = 65_536;

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaged = 'http://schemas.openxmlformats.org/package/2006';
const typeOf = (part: string) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${part}+xml`;
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/**
 * A workbook in blocks, in constant memory. A sheet with too many rows continues in `Report 2`, `Report 3`; the last
 * sheet summarizes them. Throws UnfitRow.
 */
export function workbookOf(sheet: Sheet, summary: Sheet, limits = mostOfSheet): AsyncGenerator<Buffer, void> {
  return zipOf(partsOf(sheet, summary, limits));
}

async function* partsOf(sheet: Sheet, summary: Sheet, limits: SheetLimits): AsyncGenerator<ZipPart, void> {
  const names: string[] = [];
  for (const { name, columns, rows } of [sheet, summary]) {
    const begun = names.length;
    const source = new RowSource(rows);
    try {
      do {
        names.push(names.length === begun ? name : `${name} ${names.length - begun + 1}`);
        const content = sheetXml(columns, source, limits);
        yield { name: `xl/worksheets/sheet${names.length}.xml`, content };
      } while (!(await source.isOver()));
    } finally {
      await source.close();
    }
  }
  yield* framesOf(names).map(([name, xml]) => ({ name, content: once(declaration + xml) }));
}

/** Rows that several sheets share. */
class RowSource {
  readonly #rows: AsyncIterator<readonly SheetCell[]>;
  #ahead: Promise<IteratorResult<readonly SheetCell[]>> | null = null;

  constructor(rows: AsyncIterable<readonly SheetCell[]>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  async isOver(): Promise<boolean> {
    this.#ahead ??= this.#rows.next();
    return (await this.#ahead).done === true;
  }

  close(): Promise<unknown> | undefined {
    return this.#rows.return?.();
  }

  /** Null at the end. */
  async next(): Promise<readonly SheetCell[] | null> {
    const { done, value } = await (this.#ahead ?? this.#rows.next());
    this.#ahead = null;
    return done ? null : value;
  }
}

async function* sheetXml(
  columns: readonly string[],
  rows: RowSource,
  limits: SheetLimits,
): AsyncGenerator<string, void> {
  let block = `${declaration}<worksheet xmlns="${main}">${beforeRows}${headerXml(columns)}`;
  let length = 0;
  for (let count = 0; count < limits.rows && length < limits.bytes; count += 1) {
    const cells = await rows.next();
    if (cells === null) break;
    block += rowXml(count + 2, cells);
    if (block.length < blockLength) continue;
    length += Buffer.byteLength(block);
    yield block;
    block = '';
  }
  yield `${block}${afterRows}</worksheet>`;
}

/** The parts that connect the sheets; the last sheet gets the mark of a summary. */
function framesOf(names: readonly string[]): [name: string, xml: string][] {
  const last = names.length - 1;
  const numbered = names.map((name, index) => ({ name, number: index + 1 }));
  const sheets = numbered.map(
    ({ name, number }) => `<sheet name="${name}" sheetId="${number}" r:id="r${number}"/>`,
  );
  const mark = `<definedName name="${summaryMark}" localSheetId="${last}" hidden="1">'${names[last]}'!$A$1</definedName>`;
  const related = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  const overrides = [
    ['xl/workbook.xml', 'sheet.main'],
    ['xl/styles.xml', 'styles'],
    ...numbered.map(({ number }) => [`xl/worksheets/sheet${number}.xml`, 'worksheet']),
  ].map(([part, type = '']) => `<Override PartName="/${part}" ContentType="${typeOf(type)}"/>`);
  const relationsOf = (list: string) =>
    `<Relationships xmlns="${packaged}/relationships">${list}</Relationships>`;
  return [
    ['xl/styles.xml', `<styleSheet xmlns="${main}">${stylesXml}</styleSheet>`],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${relations}"><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets><definedNames>${mark}</definedNames></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationsOf(
        numbered
          .map(({ number }) => related(`r${number}`, 'worksheet', `worksheets/sheet${number}.xml`))
          .join('') + related('styles', 'styles', 'styles.xml'),
      ),
    ],
    ['_rels/.rels', relationsOf(related('r1', 'officeDocument', 'xl/workbook.xml'))],
    [
      '[Content_Types].xml',
      `<Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${overrides.join('')}</Types>`,
    ],
  ];
}

async function* once(text: string): AsyncGenerator<string, void> {
  yield text;
}
