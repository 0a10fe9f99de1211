import type { PageRequest } from '../../lists.js';
import type { Database } from '../database/database.js';

/** Pages of a project's rows in a table, newest first; `name` is the column of `after` and `next`. */
export function newestFirst<Row extends { seq: number }>(database: Database, table: string, name: string) {
  const selectAfter = database.prepare(`SELECT seq FROM ${table} WHERE project = ? AND ${name} = ?`);
  const selectPage = database.prepare(
    `SELECT * FROM ${table} WHERE project = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  /** Null if `after` does not exist. */
  return (project: number, { limit, after }: PageRequest): { rows: Row[]; next: string | null } | null => {
    const last = after === null ? null : (selectAfter.get(project, after) as { seq: number } | undefined);
    if (last === undefined) return null;
    const found = selectPage.all(project, last?.seq ?? Number.MAX_SAFE_INTEGER, limit + 1) as Row[];
    const rows = found.slice(0, limit);
    const next = found.length > limit ? (rows.at(-1) as Record<string, unknown> | undefined)?.[name] : null;
    return { rows, next: (next as string | undefined) ?? null };
  };
}
