export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  /** The name in `--columns`, csv and tsv; in capitals in a table. */
  name: string;
  value: (row: Row) => Cell;
  /** What people see instead. */
  words?: (row: Row) => string;
  /** What a table on a terminal has room for. */
  short?: (row: Row) => string;
  /**
   * How people see it: a `time`, in ISO form, in local time; a whole `number` as 1,250,000; a `recipient` may be
   * masked.
   */
  kind?: 'time' | 'recipient' | 'status' | 'number';
  /** Omitted from a table unless `--columns` names it. */
  detail?: boolean;
  /** Omitted from a table if no row has a value. */
  ifAny?: boolean;
  /** Omitted from a table that is too wide. */
  spare?: boolean;
}

/** The columns and JSON of one kind of rows, for every format. */
export interface View<Row> {
  columns: readonly Column<Row>[];
  /** The columns of a table for people, unless `--columns` names some. Default: all but details. */
  table?: readonly Column<Row>[];
  /** The columns of a single row for people, unless `--columns` names some. Default: all. */
  card?: readonly Column<Row>[];
  /** The JSON form. Fields with the name of a `recipient` column can be masked. */
  record: (row: Row) => object;
  /** Printed instead of an empty table. */
  empty?: string;
}

/** Columns of numbers in which zero is omitted. */
export function counts<Row>(...names: readonly (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({ name, kind: 'number', value: (row) => Number(row[name]) || null }));
}

/** The column for the row's field of the same name. */
export function field<Row>(
  name: keyof Row & string,
  extra: Pick<Column<Row>, 'kind' | 'detail' | 'ifAny' | 'spare'> = {},
): Column<Row> {
  return { name, value: (row) => row[name] as Cell, ...extra };
}

/** Adds `sandbox` to the JSON of a send that reached nobody. */
export function sandboxView<Row>({ record, ...view }: View<Row>): View<Row> {
  return { ...view, record: (row) => ({ ...record(row), sandbox: true }) };
}
