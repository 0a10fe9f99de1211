import { posix } from 'node:path';
import { summaryMark } from '../../../xlsx/report-workbook.js';
import { saveAsSheet } from '../file-kind.js';
import { listed } from '../header.js';
import { type Archive, mostSmallBytes } from './archive.js';
import { HasRows } from './sheet-rows.js';
import { damaged, WorkbookError } from './workbook-error.js';
import { readXml } from './xml.js';

export interface Sheet {
  name: string;
  hidden: boolean;
  /** Whether it is the summary sheet of a report. */
  isSummary: boolean;
  /** Null for a module of macros, a chart or a dialog, which has no cells. */
  part: string | null;
}

/** A workbook's properties, and the paths of its parts. */
export interface Workbook {
  archive: Archive;
  /** In the order of the tabs. */
  sheets: Sheet[];
  /** Whether days are counted from 1904, as on old Macs. */
  from1904: boolean;
  strings: string | null;
  styles: string | null;
}

interface Relation {
  /** The last segment of the type, which is the same in the transitional and the strict namespaces. */
  type: string;
  target: string;
}

/** Opens the workbook in an archive. Throws WorkbookError if the archive contains something else. */
export async function openWorkbook(archive: Archive): Promise<Workbook> {
  const part = await workbookPart(archive);
  const relations = await readRelations(archive, part);
  const sheets: Sheet[] = [];
  let from1904 = false;
  await readXml(part, archive.read(part, mostSmallBytes), {
    open(name, attribute, parent) {
      if (name === 'workbookPr' && parent === 'workbook')
        from1904 = ['1', 'true', 'on'].includes(attribute('date1904') ?? '');
      if (name === 'definedName' && parent === 'definedNames' && attribute('name') === summaryMark) {
        const summary = sheets[Number(attribute('localSheetId'))];
        if (summary !== undefined) summary.isSummary = true;
      }
      if (name !== 'sheet' || parent !== 'sheets') return;
      const id = attribute('id') ?? '';
      const relation = relations.get(id);
      // A module of macros has an empty id.
      if (relation === undefined && id !== '') throw damaged(`its sheet ${attribute('name')} is missing`);
      const state = attribute('state');
      sheets.push({
        name: attribute('name') ?? '',
        hidden: state === 'hidden' || state === 'veryHidden',
        isSummary: false,
        part: relation?.type === 'worksheet' ? relation.target : null,
      });
    },
  });
  const target = (type: string) => [...relations.values()].find((each) => each.type === type)?.target ?? null;
  return { archive, sheets, from1904, strings: target('sharedStrings'), styles: target('styles') };
}

async function workbookPart(archive: Archive): Promise<string> {
  const root = '_rels/.rels';
  const relations = archive.has(root) ? await readRelations(archive, '') : new Map<string, Relation>();
  const main = [...relations.values()].find(({ type }) => type === 'officeDocument')?.target ?? '';
  const other = otherArchive(archive.names, main);
  if (other !== null) throw other;
  return main;
}

/** The relations of a part by id; `''` is the archive as a whole. */
async function readRelations(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const file = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  await readXml(file, archive.read(file, mostSmallBytes), {
    open(name, attribute, parent) {
      if (name !== 'Relationship' || parent !== 'Relationships' || attribute('TargetMode') === 'External')
        return;
      const target = attribute('Target') ?? '';
      relations.set(attribute('Id') ?? '', {
        type: attribute('Type')?.split('/').at(-1) ?? '',
        target: target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(part), target),
      });
    },
  });
  return relations;
}

/** Zip archives other than workbooks, recognized by a part that only they have. */
const kinds: readonly [part: RegExp, what: string, hint: string][] = [
  [/^xl\/workbook\.bin$/i, 'is a binary workbook (.xlsb)', saveAsSheet],
  [/^word\//i, 'is a Word document', 'Save its table as .xlsx or as CSV (UTF-8).'],
  [/^ppt\//i, 'is a PowerPoint file', 'Put the list into a sheet, and save it as .xlsx or as CSV (UTF-8).'],
  [
    /^(?:[^/]+\/)?Index(?:\/(?:Tables|Document|CalculationEngine)|\.zip$)/,
    'is a Numbers sheet',
    'Export it as .xlsx or as CSV (UTF-8).',
  ],
  [/^content\.xml$/, 'is an OpenDocument sheet', saveAsSheet],
];

/** The error for a zip archive of another kind; null for a workbook, whose main part is `main`. */
function otherArchive(names: readonly string[], main: string): WorkbookError | null {
  for (const [part, what, hint] of kinds) {
    if (names.some((name) => part.test(name))) return new WorkbookError(what, hint);
  }
  if (main !== '' && !/\.bin$/i.test(main)) return null;
  return new WorkbookError('is a zip archive without a workbook', 'Unpack it, and name the list in it.');
}

type SheetWithCells = Sheet & { part: string };

const withCells = ({ sheets }: Workbook) =>
  sheets.filter((sheet): sheet is SheetWithCells => sheet.part !== null);

/**
 * The sheet to read: the named one, or the only visible one with rows. Throws WorkbookError with the sheets to choose
 * from if there are several.
 */
export async function chooseSheet(workbook: Workbook, name: string | undefined): Promise<SheetWithCells> {
  if (name !== undefined) return namedSheet(workbook, name);
  const filled: SheetWithCells[] = [];
  for (const sheet of withCells(workbook)) {
    if (sheet.isSummary) continue;
    const rows = new HasRows();
    await readXml(sheet.part, workbook.archive.read(sheet.part), rows);
    if (rows.done) filled.push(sheet);
  }
  const shown = filled.filter(({ hidden }) => !hidden);
  const [first] = shown;
  if (first !== undefined && shown.length === 1) return first;
  const names = (shown.length > 0 ? shown : filled).map((sheet) => sheet.name);
  const hint = `Choose one with --sheet. Sheets: ${listed(names)}.`;
  if (first !== undefined) throw new WorkbookError('has several sheets with rows', hint, names);
  if (names.length > 0) throw new WorkbookError('has rows in hidden sheets only', hint);
  throw new WorkbookError('has no rows', 'Is it the right file?');
}

/** The sheet of that exact name, else the only one that differs just in case or surrounding space. */
function namedSheet(workbook: Workbook, name: string): SheetWithCells {
  const { sheets } = workbook;
  const plain = (written: string) => written.normalize('NFC').trim().toLowerCase();
  const exact = sheets.find((sheet) => sheet.name === name);
  const alike = sheets.filter((sheet) => plain(sheet.name) === plain(name));
  const found = exact ?? (alike.length === 1 ? alike[0] : undefined);
  const choices = withCells(workbook);
  const chosen = choices.find((sheet) => sheet === found);
  if (chosen !== undefined) return chosen;
  throw new WorkbookError(
    found === undefined ? `has no sheet named ${name}` : `has no cells in ${found.name}`,
    `Sheets: ${listed(choices.map((sheet) => sheet.name))}.`,
  );
}
