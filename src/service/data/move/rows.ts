import { createHash } from 'node:crypto';
import type { MovedTable } from './mapping.js';

/** The values of a row, in the order of the columns, as in JSON; bytes are \x and hex digits. */
export type Row = unknown[];

/** Limits how much is in memory at a time. */
export const mostAtOnce = { rows: 2_000, bytes: 1_000_000 };

/** The columns of a table, always in the same order. */
export const columnsOf = ({ columns }: MovedTable): string[] => Object.keys(columns).sort();

/** Converts rows of SQLite to rows of the database. */
export function converterOf({ booleans = [], json = [], ...table }: MovedTable): (row: Row) => Row {
  const convert = columnsOf(table).map((column) => {
    if (booleans.includes(column)) return (value: unknown) => value === 1;
    if (json.includes(column))
      return (value: unknown) => (value === null ? null : ordered(JSON.parse(value as string)));
    return plain;
  });
  return (row) => row.map((value, index) => (convert[index] ?? plain)(value));
}

/** Converts what the database's driver returns. */
export const fromDatabase = (row: Row): Row => row.map((value) => ordered(plain(value)));

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;
}

/** Fields of objects have no order in the database. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, ordered(each)]),
  );
}

/** What must be equal on both sides. */
export interface Summary {
  rows: number;
  digest: string;
}

export function summing() {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(row: Row): void {
      rows += 1;
      hash.update(`${JSON.stringify(row)}\n`);
    },
    end: (): Summary => ({ rows, digest: hash.digest('hex') }),
  };
}
