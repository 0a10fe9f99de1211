import { parse } from 'csv-parse/sync';
import { inputError } from '../errors.js';

/** A small CSV text as rows of cells; the delimiter is the one of `, ; tab` that the header has most of. */
export function parseCsv(text: string): string[][] {
  const header = text.split(/[\r\n]/, 1)[0] ?? '';
  const count = (delimiter: string) => header.split(delimiter).length;
  const delimiter = [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
  try {
    return parse(text, { delimiter, relax_column_count: true, skip_empty_lines: true });
  } catch (error) {
    throw inputError(
      `the file is not CSV: ${(error as Error).message}`,
      'Mend it, or give the ids one a line without --column.',
    );
  }
}
