import type { Channel } from '../../../contract/index.js';
import type { CellError } from '../input/cell-error.js';
import { listed } from '../input/header.js';
import { fileName, InputError, located } from '../input/input-error.js';
import { readTable } from '../input/read-table.js';
import { findRecipientColumn } from '../input/recipient-column.js';
import type { TableInput } from '../input/table.js';
import type { PlanFolder } from './files/plan-folder.js';
import { recipientStore } from './recipient-store.js';

/** The list of `--exclude`. */
export interface ExcludeList extends TableInput {
  /** The value of `--exclude-column`. */
  column?: string | undefined;
}

/** A list that cannot be read whole excludes nobody: nothing is sent. */
class ExcludeError extends InputError {
  constructor(message: string, hint: string) {
    super('exclude', '', '', hint);
    this.message = message;
  }
}

/**
 * Reads the recipients of a list, in constant memory but 100,000,000 bits for numbers, and 12 to 24 bytes for an address.
 * Returns whether a cell of another list has one of them. Throws InputError for a list without any, or with a bad row.
 */
export async function readExcluded(
  { column, ...input }: ExcludeList,
  { channel, signal }: { channel: Channel; signal?: AbortSignal | undefined },
  files: PlanFolder,
): Promise<(cell: string) => boolean> {
  const store = recipientStore(channel, () => files.temporaryFile('excluded'));
  const isRecipient = (cell: string) => store.read(cell) === null;
  let recipients = 0;
  const add = () => {
    store.cameBefore(store.add());
    recipients += 1;
  };
  let first = '';
  let bad = 0;
  const others: string[] = [];
  const { consumer } = await readTable(
    input,
    { signal },
    {
      copy: () => {},
      store: (name) => files.temporaryFile(`excluded-${name}`),
      onHeader(names, line, source) {
        // A bare list has no header.
        const isBare = names.length === 1 && column === undefined && isRecipient(names[0] ?? '');
        if (isBare) add();
        const search = { channel, columns: names, toColumn: column, source, line, isRecipient };
        const recipientColumn = isBare ? 0 : findRecipientColumn({ ...search, headerless: false });
        return {
          recipientColumn,
          take(record: readonly string[], line: number, errors: readonly CellError[] = []) {
            const fault = errors.find(({ field }) => field === null || field === recipientColumn)?.error;
            const isWhole = record.length === names.length;
            const form = isWhole
              ? null
              : `the row has ${record.length} fields, the header has ${names.length}`;
            const error = fault ?? form ?? store.read(record[recipientColumn] ?? '');
            if (error === null) return add();
            if (bad === 0) first = located(source, `${names[recipientColumn]}: ${error}`, { line });
            else if (others.length <= mostNamed) others.push(String(line));
            bad += 1;
          },
        };
      },
    },
  ).catch(refuse);
  const name = fileName(input.source);
  if (bad > 0) {
    const more = bad === 1 ? '' : `; ${bad - 1} more in ${bad === 2 ? 'line' : 'lines'} ${listed(others)}`;
    throw new ExcludeError(`${first}${more}`, `Correct ${name}: a row that cannot be read excludes nobody.`);
  }
  if (consumer === null || recipients === 0)
    throw new ExcludeError(`${name} has no recipients`, 'To exclude nobody, leave out --exclude.');
  return (cell) => isRecipient(cell) && store.isKnown();
}

/** `listed` counts those beyond. */
const mostNamed = 20;

const formHint =
  'No option changes how it is read: save it as CSV in UTF-8 with a header, or as a workbook with one sheet.';

function refuse(error: unknown): never {
  if (!(error instanceof InputError)) throw error;
  const hint = error.hint.replace('--to-column', '--exclude-column').replace(', or use --headerless', '');
  throw new ExcludeError(error.message, /--(?!exclude)/.test(hint) ? formHint : hint);
}
