import type { EventType } from '../../../contract/index.js';
import type { PageRequest } from '../lists.js';
import type { Sql } from './sql.js';

/** The rows of a project. */
export const ofProject = 'project = (SELECT seq FROM :s.projects WHERE id = :projectId)';

/** Records an event of each of some rows, `seq` and `project`, if anybody asks for those of their project. */
export const reported = (type: EventType, rows: string) =>
  `INSERT INTO :s.events (line, type, subject, at)
   SELECT p.line, '${type}', r.seq, :now FROM ${rows} r JOIN :s.projects p ON p.seq = r.project
   WHERE p.line IS NOT NULL ORDER BY r.seq`;

/** A page of a project's rows, newest first; `name` is the column of `after` and `next`. Null if `after` does not exist. */
export async function newestFirst<Row extends { seq: number }>(
  sql: Sql,
  [table, name]: readonly [table: string, name: keyof Row & string],
  projectId: string,
  { limit, after }: PageRequest,
): Promise<{ rows: (Row & { now: number })[]; next: string | null } | null> {
  const [last] =
    after === null
      ? [{ seq: Number.MAX_SAFE_INTEGER }]
      : await sql.read<{ seq: number }>(
          `SELECT seq FROM :s.${table} WHERE ${ofProject} AND ${name} = :after`,
          { projectId, after },
        );
  if (last === undefined) return null;
  const found = await sql.read<Row & { now: number }>(
    `SELECT *, :now AS now FROM :s.${table} WHERE ${ofProject} AND seq < :before ORDER BY seq DESC LIMIT :most`,
    { projectId, before: last.seq, most: limit + 1 },
  );
  const rows = found.slice(0, limit);
  const end = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: end === undefined ? null : String(end[name]) };
}
