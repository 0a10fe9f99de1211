import { unguard } from '../../../../contract/csv.js';
import {
  normalizeAnyAddress,
  normalNumber,
  type SuppressionReason,
  suppressionReasons,
} from '../../../../contract/index.js';
import type { CellError } from '../../../bulk/input/cell-error.js';
import { columnNamed, columnsHint, plainName } from '../../../bulk/input/header.js';
import { fileName, InputError, located } from '../../../bulk/input/input-error.js';
import { readTable } from '../../../bulk/input/read-table.js';
import { AddressReader, PhoneNumberReader } from '../../../bulk/input/recipient-reader.js';
import type { Context } from '../../../context.js';
import { inputError } from '../../../errors.js';

/** What a file says of a recipient. */
interface Row {
  reason?: SuppressionReason | undefined;
  /** Why the cell has no value. */
  fault?: string | undefined;
  /** Completes an error. */
  place?(error: string): string;
}

const mostErrors = 20;
/** The columns of `service suppressions list -o csv`. */
const exported = ['to', 'reason', 'created_at'];

/** Numbers and addresses from words and files, as a bulk list has them. */
export class RecipientList {
  /** Valid recipients, also repeated ones; first what holds for most, since whoever is there keeps the reason. */
  readonly byReason: ReadonlyMap<SuppressionReason, string[]> = new Map(
    suppressionReasons.map((reason): [SuppressionReason, string[]] => [reason, []]).reverse(),
  );
  valid = 0;
  invalid = 0;
  /** Why the first of the invalid ones are, with the cell that is quoted. */
  readonly errors: { error: string; cell: string }[] = [];
  readonly #reason: SuppressionReason | undefined;
  readonly #numbers = new PhoneNumberReader();
  readonly #addresses = new AddressReader();

  /** Without a reason, a row's own counts, or `manual`. */
  constructor(reason: SuppressionReason | undefined) {
    this.#reason = reason;
  }

  add(written: string, { reason = 'manual', fault, place = String }: Row = {}): void {
    const reader = written.includes('@') ? this.#addresses : this.#numbers;
    const error = fault ?? reader.read(written);
    // The list may have a number of another service's operators, or an address of an earlier release.
    const stored = fault === undefined ? (normalNumber(written) ?? normalizeAnyAddress(written)) : null;
    const to = error === null ? reader.normalized : stored;
    if (to === null) {
      this.invalid += 1;
      if (this.errors.length < mostErrors) this.errors.push({ error: place(error ?? ''), cell: written });
      return;
    }
    this.byReason.get(this.#reason ?? reason)?.push(to);
    this.valid += 1;
  }

  /** Adds a column of a file: the named one, the only one, or `to`. Throws CliError for a file that is not a list. */
  async addFile(
    files: Pick<Context['io']['files'], 'bytes'>,
    file: string,
    column: string | undefined,
  ): Promise<void> {
    try {
      const { consumer } = await readTable(
        { bytes: files.bytes(file), source: file },
        {},
        {
          copy: () => {},
          onHeader: (columns, line, source) => this.#rowsOf(columns, { column, line, source }),
        },
      );
      if (consumer === null) throw inputError(`${fileName(file)} is empty`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw inputError(error.message, hints[error.kind] ?? 'Save it as a CSV file with a header.');
    }
  }

  #rowsOf(
    columns: readonly string[],
    { column, line, source }: { column: string | undefined; line: number; source: string },
  ) {
    const at = columnOf(columns, column);
    const name = columns[at] ?? '';
    const reasonAt = columns.findIndex((each) => plainName(each) === 'reason');
    const isExport = exported.every((each) => columns.includes(each));
    const take = (record: readonly string[], line: number, errors: readonly CellError[] = []) => {
      const cell = record[at] ?? '';
      const reason = suppressionReasons.find((each) => each === record[reasonAt]);
      const fault = errors.find(({ field }) => field === at)?.error;
      const place = (error: string) => located(source, `${name}: ${error}`, { line });
      this.add(isExport ? unguard(cell) : cell, { reason, fault, place });
    };
    // A bare list has no header.
    if (columns.length === 1 && isRecipient(name)) take([name], line);
    return { recipientColumn: at, take };
  }
}

const hints: Readonly<Record<string, string>> = {
  encoding: 'Save it as UTF-8.',
  sheet: 'Save the sheet with the recipients as a CSV file.',
};

const isRecipient = (name: string) =>
  new (name.includes('@') ? AddressReader : PhoneNumberReader)().read(name) === null;

function columnOf(columns: readonly string[], column: string | undefined): number {
  const index = column === undefined ? columns.indexOf('to') : columnNamed(columns, column);
  if (index !== -1) return index;
  if (column !== undefined) throw inputError(`unknown column ${column}`, columnsHint(columns));
  if (columns.length === 1) return 0;
  throw inputError(
    'the column of the recipients is not known',
    `Name it with --column. ${columnsHint(columns)}`,
  );
}
