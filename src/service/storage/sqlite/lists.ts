import type { BatchQuery, Listed, MessageQuery, PageRequest } from '../lists.js';
import type { BatchRecord, MessageRecord } from '../records.js';
import type { Database, Statement } from './database/open.js';
import type { Projects } from './projects.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from './rows.js';

/** Rows that one page looks at, some 20 ms; an older page goes on behind them. */
const rowsPerPage = 30_000;

type Conditions = readonly (readonly [sql: string, value: string | number | null])[];

/** Lists of a project, newest first. */
export function prepareLists(database: Database, projects: Projects, scanned = rowsPerPage) {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const seqOf = (table: string, project: number, id: string) =>
    (
      prepared(`SELECT seq FROM ${table} WHERE project = ? AND id = ?`).get(project, id) as
        | { seq: number }
        | undefined
    )?.seq;
  const selectBatch = database.prepare(
    'SELECT first_message AS first, first_message + total - 1 AS last FROM batches WHERE project = ? AND id = ?',
  );

  /** The numbers of the rows that `rows` gives and `filters` take; null when `after` is not there. */
  function listed(
    [table, index]: readonly [table: string, index: string],
    project: number,
    rows: Conditions,
    filters: Conditions,
    { limit, after }: PageRequest,
  ): { seqs: number[]; next: string | null } | null {
    const before = after === null ? Number.MAX_SAFE_INTEGER : seqOf(table, project, after);
    if (before === undefined) return null;
    const given = present(rows);
    const wanted = present(filters);
    const newest = `FROM ${table} INDEXED BY ${index}
      WHERE ${['project = ?', 'seq < ?', ...given.sql].join(' AND ')} ORDER BY seq DESC`;
    const values = [project, before, ...given.values];
    const found = prepared(
      `SELECT seq, id FROM (SELECT * ${newest} LIMIT ${scanned})
       ${wanted.sql.length > 0 ? `WHERE ${wanted.sql.join(' AND ')}` : ''} LIMIT ?`,
    ).all(...values, ...wanted.values, limit + 1) as { seq: number; id: string }[];
    const page = found.slice(0, limit);
    const seqs = page.map(({ seq }) => seq);
    if (found.length > limit) return { seqs, next: page.at(-1)?.id ?? null };
    const last = prepared(`SELECT id ${newest} LIMIT 1 OFFSET ${scanned - 1}`).get(...values);
    return { seqs, next: (last as { id: string } | undefined)?.id ?? null };
  }

  function listMessages(
    projectId: string,
    filter: MessageQuery,
    page: PageRequest,
  ): Listed<MessageRecord> | null {
    const project = projects.numberOf(projectId);
    const batch =
      filter.batchId === null
        ? { first: null, last: null }
        : ((selectBatch.get(project, filter.batchId) as { first: number; last: number } | undefined) ?? {
            first: 0,
            last: -1,
          });
    const list = listed(
      ['messages', filter.to === null ? 'messages_project' : 'messages_recent'],
      project,
      [
        ['recipient = ?', filter.to],
        ['seq >= ?', batch.first],
        ['seq <= ?', batch.last],
      ],
      [...common(filter), ['delivery = ?', filter.delivery]],
      page,
    );
    if (list === null) return null;
    const rows = prepared(
      `${selectMessage} WHERE m.seq IN (SELECT value FROM json_each(?)) ORDER BY m.seq DESC`,
    ).all(JSON.stringify(list.seqs)) as MessageRow[];
    return { records: rows.map((row) => toMessage(row, projectId)), next: list.next };
  }

  function listBatches(
    projectId: string,
    { status, ...filter }: BatchQuery,
    page: PageRequest,
  ): Listed<BatchRecord> | null {
    const completed = status === null ? null : Number(status === 'completed');
    const list = listed(
      ['batches', 'batches_project'],
      projects.numberOf(projectId),
      [],
      [...common({ ...filter, status: null }), ['(completed_at IS NOT NULL) = ?', completed]],
      page,
    );
    if (list === null) return null;
    const rows = prepared(
      'SELECT * FROM batches WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC',
    ).all(JSON.stringify(list.seqs)) as BatchRow[];
    return { records: rows.map(toBatch), next: list.next };
  }

  return { listMessages, listBatches };
}

const common = ({
  channel,
  status,
  since,
  until,
}: Pick<MessageQuery, 'channel' | 'status' | 'since' | 'until'>) =>
  [
    ['channel = ?', channel],
    ['status = ?', status],
    ['created_at >= ?', since],
    ['created_at < ?', until],
  ] as const;

function present(conditions: Conditions): { sql: string[]; values: (string | number)[] } {
  const all = conditions.flatMap(([sql, value]) => (value === null ? [] : [{ sql, value }]));
  return { sql: all.map(({ sql }) => sql), values: all.map(({ value }) => value) };
}
