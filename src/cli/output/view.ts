export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  /** In `--columns`, csv and tsv; in capitals in a table. */
  name: string;
  value: (row: Row) => Cell;
  /** What people see in its place. */
  words?: (row: Row) => string;
  /** People see a `time`, an ISO text, in local time and a whole `number` as 1,250,000; a `recipient` can be masked. */
  kind?: 'time' | 'recipient' | 'status' | 'number';
  /** Left out of a table unless `--columns` names it. */
  detail?: boolean;
  /** Left out of a table where no row has a value. */
  ifAny?: boolean;
  /** Left out of a table that is too wide. */
  spare?: boolean;
}

/** The columns and JSON of one kind of rows, for every format. */
export interface View<Row> {
  columns: readonly Column<Row>[];
  /** The columns of a table for people, unless `--columns` names some; all but details when absent. */
  table?: readonly Column<Row>[];
  /** The columns of a single row for people, unless `--columns` names some; all when absent. */
  card?: readonly Column<Row>[];
  /** The JSON form. Fields that share a `recipient` column's name can be masked. */
  record: (row: Row) => object;
  /** Printed in place of an empty table. */
  empty?: string;
}

/** Numbers of which zero is left out. */
export function counts<Row>(...names: readonly (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({ name, kind: 'number', value: (row) => Number(row[name]) || null }));
}

/** The column of the row's field of the same name. */
export function field<Row>(
  name: keyof Row & string,
  extra: Pick<Column<Row>, 'kind' | 'detail' | 'ifAny' | 'spare'> = {},
): Column<Row> {
  return { name, value: (row) => row[name] as Cell, ...extra };
}

/** Adds `sandbox` to the JSON of a send that nobody received. */
export function sandboxView<Row>({ record, ...view }: View<Row>): View<Row> {
  return { ...view, record: (row) => ({ ...record(row), sandbox: true }) };
}
