import type { BatchQuery, Listed, MessageQuery, PageRequest } from '../../lists.js';
import type { BatchRecord, MessageRecord } from '../../records.js';
import { hasSpellings } from '../../shared/recipients.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from '../../shared/rows.js';
import { selectBatches } from '../accept/batch-rows.js';
import type { MessageBlocks, Span } from '../accept/message-blocks.js';
import type { Database } from '../database/database.js';
import { prepareOnce } from '../database/prepare-once.js';
import type { Projects } from '../projects.js';
import { spelled, spellings } from './spellings.js';

/** Rows searched for one page, about 20 ms; the next page continues after them. */
const rowsPerPage = 30_000;

type Conditions = readonly (readonly [sql: string, value: string | number | null])[];

const none: Span = { first: 0, last: -1 };

/** Lists of a project, newest first. */
export function prepareLists(
  database: Database,
  projects: Projects,
  blocks: MessageBlocks,
  scanned = rowsPerPage,
) {
  const prepared = prepareOnce(database);
  const selectBatch = database.prepare(
    'SELECT first_message AS first, first_message + total - 1 AS last FROM batches WHERE project = ? AND id = ?',
  );

  function spanOfBatch(project: number, id: string): Span {
    return (selectBatch.get(project, id) as Span | undefined) ?? none;
  }

  /** The newest rows that match `filters`, of those that `rows` selects; null if `after` does not exist. */
  function listed(
    [table, index]: readonly [table: string, index: string],
    project: number,
    { rows, spans, filters }: { rows: Conditions; spans: readonly Span[]; filters: Conditions },
    { limit, after }: PageRequest,
  ): { seqs: number[]; next: string | null } | null {
    const last =
      after === null
        ? null
        : prepared(`SELECT seq FROM ${table} WHERE project = ? AND id = ?`).get(project, after);
    if (last === undefined) return null;
    const before = (last as { seq: number } | null)?.seq ?? Number.MAX_SAFE_INTEGER;
    const range = [
      Math.max(0, ...spans.map((span) => span.first)),
      Math.min(before - 1, ...spans.map((span) => span.last)),
    ];
    const given = present(rows);
    const wanted = present(filters);
    const newest = `FROM ${table} INDEXED BY ${index}
      WHERE ${['project = ?', 'seq BETWEEN ? AND ?', ...given.sql].join(' AND ')} ORDER BY seq DESC`;
    const values = [project, ...range, ...given.values];
    const found = prepared(
      `SELECT seq, id FROM (SELECT * ${newest} LIMIT ${scanned})
       ${wanted.sql.length > 0 ? `WHERE ${wanted.sql.join(' AND ')}` : ''} LIMIT ?`,
    ).all(...values, ...wanted.values, limit + 1) as { seq: number; id: string }[];
    const page = found.slice(0, limit);
    const seqs = page.map(({ seq }) => seq);
    if (found.length > limit) return { seqs, next: page.at(-1)?.id ?? null };
    const oldest = prepared(`SELECT id ${newest} LIMIT 1 OFFSET ${scanned - 1}`).get(...values);
    return { seqs, next: (oldest as { id: string } | undefined)?.id ?? null };
  }

  function spellingsOf(project: number, to: string): string[] {
    const rows = prepared(spellings(':project')).all({ ...spelled(to), project }) as { to: string }[];
    return rows.map((row) => row.to);
  }

  function listMessages(
    projectId: string,
    query: MessageQuery,
    page: PageRequest,
  ): Listed<MessageRecord> | null {
    const project = projects.numberOf(projectId);
    const { to, batchId, since, until, delivery } = query;
    const spans = [
      ...(batchId === null ? [] : [spanOfBatch(project, batchId)]),
      ...(since === null && until === null ? [] : [blocks.spanOf(since, until) ?? none]),
    ];
    const filters: Conditions = [...common(query), ['delivery = ?', delivery]];
    const index = to === null ? 'messages_project' : 'messages_recent';
    const rows: Conditions =
      to === null || !hasSpellings(to)
        ? [['recipient = ?', to]]
        : [['recipient IN (SELECT value FROM json_each(?))', JSON.stringify(spellingsOf(project, to))]];
    const list = listed(['messages', index], project, { rows, spans, filters }, page);
    if (list === null) return null;
    const found = prepared(
      `${selectMessage()} WHERE m.seq IN (SELECT value FROM json_each(?)) ORDER BY m.seq DESC`,
    ).all(JSON.stringify(list.seqs)) as MessageRow[];
    return { records: found.map((row) => toMessage(row, projectId)), next: list.next };
  }

  function listBatches(projectId: string, query: BatchQuery, page: PageRequest): Listed<BatchRecord> | null {
    const completed = query.status === null ? null : Number(query.status === 'completed');
    const filters: Conditions = [
      ...common({ ...query, status: null }),
      ['(completed_at IS NOT NULL) = ?', completed],
    ];
    const project = projects.numberOf(projectId);
    const list = listed(['batches', 'batches_project'], project, { rows: [], spans: [], filters }, page);
    if (list === null) return null;
    const found = prepared(
      `${selectBatches} WHERE b.seq IN (SELECT value FROM json_each(?)) ORDER BY b.seq DESC`,
    ).all(JSON.stringify(list.seqs)) as BatchRow[];
    return { records: found.map(toBatch), next: list.next };
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
