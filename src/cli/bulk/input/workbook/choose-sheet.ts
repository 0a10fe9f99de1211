import { listed } from '../header.js';
import { HasRows } from './sheet-rows.js';
import type { Sheet, Workbook } from './workbook.js';
import { WorkbookError } from './workbook-error.js';
import { readXml } from './xml.js';

/**
 * The sheet to read: the named one, or the only visible one with rows. Throws WorkbookError with the sheets to choose
 * from if there are several.
 */
export async function chooseSheet(workbook: Workbook, name: string | undefined): Promise<Sheet> {
  if (name !== undefined) return namedSheet(workbook, name);
  const filled: Sheet[] = [];
  for (const sheet of workbook.sheets) {
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
function namedSheet({ sheets }: Workbook, name: string): Sheet {
  const plain = (written: string) => written.normalize('NFC').trim().toLowerCase();
  const exact = sheets.find((sheet) => sheet.name === name);
  const alike = sheets.filter((sheet) => plain(sheet.name) === plain(name));
  const found = exact ?? (alike.length === 1 ? alike[0] : undefined);
  if (found !== undefined) return found;
  throw new WorkbookError(
    `has no sheet named ${name}`,
    `Sheets: ${listed(sheets.map((sheet) => sheet.name))}.`,
  );
}
