import type { PageRequest } from '../lists.js';
import { ofProject } from './pages.js';
import type { Sql, Value, Values } from './sql.js';

/** Rows searched for one page, about 20 ms; the next page continues after them. */
export const rowsPerPage = 30_000;

/** A condition with a value; null matches every row. */
type Condition = readonly [condition: string, value: Value];

export interface Listing {
  /** With what stands behind it for its index. */
  table: string;
  /** Selects the rows to search, and those of them to list. */
  rows: readonly Condition[];
  filters: readonly Condition[];
  /** The rows are few, so the condition's index finds them faster than the order's. */
  areFew: boolean;
  values: Values;
}

/** The numbers of a page's rows of a project, newest first; null if `after` does not exist. */
export async function listed(
  sql: Sql,
  { table, rows, filters, areFew, values }: Listing,
  projectId: string,
  { limit, after }: PageRequest,
  scanned: number,
): Promise<{ seqs: number[]; next: string | null } | null> {
  const seq = areFew ? 'm.seq + 0' : 'm.seq';
  const [name = ''] = table.split(' ');
  const present = (conditions: readonly Condition[]) =>
    conditions.flatMap(([condition, value]) => (value === null ? [] : [condition]));
  const [last] =
    after === null
      ? [{ seq: null }]
      : await sql.read<{ seq: number }>(`SELECT seq FROM :s.${name} WHERE ${ofProject} AND id = :after`, {
          projectId,
          after,
        });
  if (last === undefined) return null;
  const before: Condition = [`${seq} < :before`, last.seq];
  const newest = (columns: string, conditions: readonly Condition[], end: string) =>
    `SELECT ${columns} FROM :s.${table} WHERE ${[ofProject, ...present([...rows, before, ...conditions])].join(' AND ')}
     ORDER BY ${seq} DESC LIMIT ${end}`;
  const given = { ...values, projectId, before: last.seq };
  // The index has the numbers of skipped rows, but not their ids.
  const [oldest] =
    present(filters).length === 0
      ? []
      : await sql.read<{ seq: number; id: string }>(
          `SELECT seq, id FROM :s.${name} WHERE seq = (${newest('m.seq', [], '1 OFFSET :skipped')})`,
          { ...given, skipped: scanned - 1 },
        );
  // With both bounds the plan is made for these rows, not for all. One that excludes nothing would look as if few met it.
  const found = await sql.read<{ seq: number; id: string }>(
    newest('m.seq, m.id', [[`${seq} >= :oldest`, oldest?.seq ?? null], ...filters], ':most'),
    { ...given, oldest: oldest?.seq ?? null, most: limit + 1 },
  );
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1) : oldest;
  return { seqs: page.map((row) => row.seq), next: next?.id ?? null };
}
