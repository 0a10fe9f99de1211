import { saveAsSheet } from '../file-kind.js';
import { WorkbookError } from './workbook-error.js';

/** Zip archives other than workbooks, recognized by a part that only they have. */
const kinds: readonly [part: RegExp, what: string, hint: string][] = [
  [/^xl\/workbook\.bin$/i, 'is a binary workbook (.xlsb)', saveAsSheet],
  [/^word\//i, 'is a Word document', 'Save its table as .xlsx or as CSV (UTF-8).'],
  [/^ppt\//i, 'is a PowerPoint file', 'Put the list into a sheet, and save it as .xlsx or as CSV (UTF-8).'],
  [
    /^Index\/(?:Tables|Document|CalculationEngine)|^Index\.zip$/,
    'is a Numbers sheet',
    'Export it as .xlsx or as CSV (UTF-8).',
  ],
  [/^content\.xml$/, 'is an OpenDocument sheet', saveAsSheet],
];

/** The error for a zip archive of another kind; null for a workbook, whose main part is `main`. */
export function otherArchive(names: readonly string[], main: string): WorkbookError | null {
  for (const [part, what, hint] of kinds) {
    if (names.some((name) => part.test(name))) return new WorkbookError(what, hint);
  }
  if (main !== '' && !/\.bin$/i.test(main)) return null;
  return new WorkbookError('is a zip archive without a workbook', 'Unpack it, and name the list in it.');
}
