import type { BatchQuery, Listed, MessageQuery } from '../lists.js';
import { type BatchRow, type MessageRow, toBatch, toMessage } from '../rows.js';
import type { Store } from '../store.js';
import type { Database } from './database/database.js';

/** Rows that one page looks at; an older page goes on behind them. */
const rowsPerPage = 30_000;

interface Listing {
  table: 'messages' | 'batches';
  /** Chooses the rows that are looked at, and of these the ones that are listed. */
  rows: readonly Condition[];
  /** They are few: the index of the condition finds them, and not the one of the order. */
  areFew: boolean;
  filters: readonly Condition[];
}

/** A comparison of columns with a value; null takes every row. */
type Condition = readonly [comparison: string, value: string | number | boolean | null];

/** Lists of a project, newest first. */
export function createLists(database: Database): Pick<Store, 'listMessages' | 'listBatches'> {
  /** The numbers of a page's rows; null when `after` is not there. */
  async function listed(
    { table, rows, areFew, filters }: Listing,
    projectId: string,
    { limit, after }: Parameters<Store['listBatches']>[2],
  ): Promise<{ seqs: number[]; next: string | null } | null> {
    const seq = areFew ? 'seq + 0' : 'seq';
    const ofProject = 'project = (SELECT seq FROM projects WHERE id = $1)';
    let before = Number.MAX_SAFE_INTEGER;
    if (after !== null) {
      const [row] = await database.query<{ seq: number }>(
        `SELECT seq FROM ${table} WHERE ${ofProject} AND id = $2`,
        [projectId, after],
      );
      if (row === undefined) return null;
      before = row.seq;
    }
    const values: unknown[] = [projectId, before];
    const all = (conditions: readonly Condition[]) =>
      conditions.flatMap(([comparison, value]) => {
        if (value === null) return [];
        values.push(value);
        return ` AND ${comparison.replace('?', `$${values.length}`)}`;
      });
    const found = await database.query<{ seq: number; id: string; is_listed: boolean }>(
      `WITH scanned AS MATERIALIZED (
         SELECT * FROM ${table} WHERE ${ofProject} AND ${seq} < $2${all(rows).join('')}
         ORDER BY ${seq} DESC LIMIT ${rowsPerPage})
       (SELECT seq, id, true AS is_listed FROM scanned WHERE true${all(filters).join('')}
         ORDER BY seq DESC LIMIT ${limit + 1})
       UNION ALL
       (SELECT seq, id, false FROM scanned ORDER BY seq DESC OFFSET ${rowsPerPage - 1})`,
      values,
    );
    const matches = found.filter((row) => row.is_listed).sort((one, other) => other.seq - one.seq);
    const page = matches.slice(0, limit);
    const oldest = found.find((row) => !row.is_listed);
    const last = matches.length > limit ? page.at(-1) : oldest;
    return { seqs: page.map(({ seq }) => seq), next: last?.id ?? null };
  }

  return {
    async listMessages(projectId, query, page): Promise<Listed<ReturnType<typeof toMessage>> | null> {
      const { to, batchId, delivery, status } = query;
      const listing: Listing = {
        table: 'messages',
        rows: [
          ['batch = (SELECT seq FROM batches WHERE id = ?)', batchId],
          ['recipient = ?', to],
        ],
        areFew: to !== null,
        filters: [...common(query), ['status = ?', status], ['delivery = ?', delivery]],
      };
      const list = await listed(listing, projectId, page);
      if (list === null) return null;
      const rows = await database.query<MessageRow>(
        `SELECT m.*, b.id AS batch_id FROM messages m LEFT JOIN batches b ON b.seq = m.batch
         WHERE m.seq = ANY ($1::bigint[]) ORDER BY m.seq DESC`,
        [list.seqs],
      );
      return { records: rows.map((row) => toMessage(row, projectId)), next: list.next };
    },
    async listBatches(projectId, query, page) {
      const isCompleted = query.status === null ? null : query.status === 'completed';
      const filters = [...common(query), ['(completed_at IS NOT NULL) = ?', isCompleted] as const];
      const list = await listed({ table: 'batches', rows: [], areFew: false, filters }, projectId, page);
      if (list === null) return null;
      const rows = await database.query<BatchRow>(
        'SELECT * FROM batches WHERE seq = ANY ($1::bigint[]) ORDER BY seq DESC',
        [list.seqs],
      );
      return { records: rows.map(toBatch), next: list.next };
    },
  };
}

const common = ({ channel, since, until }: Pick<BatchQuery | MessageQuery, 'channel' | 'since' | 'until'>) =>
  [
    ['channel = ?', channel],
    ['created_at >= ?', since],
    ['created_at < ?', until],
  ] as const;
