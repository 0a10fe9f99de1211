import { comparedRecipient } from '../../../contract/index.js';
import { cleanValue } from '../../text/clean.js';
import { didYouMean } from '../../text/suggest.js';
import { type CellError, isDamaged, isErrorValue } from './cell-error.js';
import { columnsHint } from './header.js';
import { InputError } from './input-error.js';
import { columnGiven } from './recipient-column.js';
import type { RecipientReader } from './recipient-reader.js';

/** A condition on the cells of a column: `city=УБ`, `debt!=`. */
interface Condition {
  column: number;
  isNot: boolean;
  /** As it is compared. */
  value: string;
}

interface Header {
  names: readonly string[];
  line: number;
  source: string;
  /** Index of the recipient column. */
  recipient: number;
}

/** The rows that `--where` takes: all of its conditions hold. */
export class Where {
  /** Indexes of the columns that it reads. */
  readonly columns: readonly number[];
  readonly #conditions: readonly Condition[];
  readonly #valueOf: (cell: string, column: number) => string;

  /** Throws InputError for a condition without a column of the header. `reader` counts no repairs that are shown. */
  constructor(
    written: readonly string[],
    { names, line, source, recipient }: Header,
    reader: RecipientReader,
  ) {
    this.#valueOf = (cell, column) =>
      column === recipient && reader.read(cell) === null ? comparedRecipient(reader.normalized) : plain(cell);
    this.#conditions = written.map((each) => {
      const found = readCondition(each, names);
      if (found !== null) return { ...found, value: this.#valueOf(found.value, found.column) };
      const name = (each.split(/!?=/)[0] ?? '').trim();
      const hint = `${didYouMean(name, names)}${columnsHint(names)} --where takes = and !=.`;
      throw new InputError('columns', source, `unknown column ${name} in --where`, hint, { line });
    });
    this.columns = [...new Set(this.#conditions.map(({ column }) => column))];
  }

  /** Whether a row is left out: some condition does not hold, and its cell can be read. */
  leavesOut(record: readonly string[], errors: readonly CellError[]): boolean {
    return this.#conditions.some(({ column, isNot, value }) => {
      const cell = record[column] ?? '';
      if (errors.some(({ field }) => field === column) || isErrorValue(cell) || isDamaged(cell)) return false;
      return (this.#valueOf(cell, column) === value) === isNot;
    });
  }
}

/** As people compare cells: without what nobody sees, in any letter case, and with one blank for another. */
const plain = (cell: string): string => cleanValue(cell).replace(/\s+/g, ' ').toLowerCase();

/** The longest name that a column has: both names and values may contain the mark. */
function readCondition(written: string, names: readonly string[]): Condition | null {
  for (let at = written.lastIndexOf('='); at > 0; at = written.lastIndexOf('=', at - 1)) {
    const name = written.slice(0, at);
    const value = written.slice(at + 1);
    const equal = columnGiven(names, name);
    if (equal !== -1) return { column: equal, isNot: false, value };
    const unequal = name.endsWith('!') ? columnGiven(names, name.slice(0, -1)) : -1;
    if (unequal !== -1) return { column: unequal, isNot: true, value };
  }
  return null;
}
