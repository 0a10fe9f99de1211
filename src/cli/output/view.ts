import { grouped } from '../wording.js';

export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  /** The name in `--columns`, csv and tsv; the table writes it in capitals. */
  name: string;
  value: (row: Row) => Cell;
  /** `time` is an ISO text, shown in local time to people; `recipient` can be masked. */
  kind?: 'time' | 'recipient' | 'status' | 'number';
  /** Left out of a table of many rows unless `--columns` names it. */
  detail?: boolean;
}

/** How rows of one kind look; it serves every format. */
export interface View<Row> {
  columns: readonly Column<Row>[];
  /** What a person reads of a single row, unless `--columns` names some; all columns when absent. */
  card?: readonly Column<Row>[];
  /** The JSON form. Fields that share a `recipient` column's name can be masked. */
  record: (row: Row) => object;
  /** What a person reads in place of an empty table. */
  empty?: string;
}

/** Numbers as a person reads them, 1,250,000; what there is none of is left out. */
export function counts<Row>(...names: readonly (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({ name, value: (row) => (row[name] ? grouped(Number(row[name])) : null) }));
}

/** A column that shows the row's field of the same name. */
export function field<Row>(
  name: keyof Row & string,
  extra: Pick<Column<Row>, 'kind' | 'detail'> = {},
): Column<Row> {
  return { name, value: (row) => row[name] as Cell, ...extra };
}

/** The view of a send that nobody received: its JSON says so. */
export function sentToSandbox<Row>({ record, ...view }: View<Row>): View<Row> {
  return { ...view, record: (row) => ({ ...record(row), sandbox: true }) };
}
