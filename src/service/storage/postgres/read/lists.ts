import { comparedRecipient } from '../../../../contract/index.js';
import type { BatchQuery, Listed, MessageQuery } from '../../lists.js';
import { hasSpellings } from '../../shared/recipients.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from '../../shared/rows.js';
import type { Store } from '../../store.js';
import type { Database } from '../database/database.js';
import { ofProject, selectBatches } from './lookups.js';
import { spellings } from './spellings.js';

/** Rows searched for one page; the next page continues after them. */
const rowsPerPage = 30_000;

interface Listing {
  table: 'messages' | 'batches';
  /** Selects the rows to search, and those of them to list. */
  rows: readonly Condition[];
  /** They are few, so the condition's index finds them faster than the order's. */
  areFew: boolean;
  filters: readonly Condition[];
}

/** A comparison of columns with a value; null matches every row. */
type Condition = readonly [comparison: string, value: string | number | boolean | null];

/** Lists of a project, newest first. */
export function createLists(database: Database): Pick<Store, 'listMessages' | 'listBatches'> {
  /** The numbers of a page's rows; null if `after` does not exist. */
  async function listed(
    { table, rows, areFew, filters }: Listing,
    projectId: string,
    { limit, after }: Parameters<Store['listBatches']>[2],
  ): Promise<{ seqs: number[]; next: string | null } | null> {
    const seq = areFew ? 'seq + 0' : 'seq';
    /** Rows of the project, newest first; only those at `place`. */
    const newest = (given: readonly Condition[], count: number, place = 0) => {
      const present = given.filter(([, value]) => value !== null);
      const conditions = present.map(
        ([comparison], index) => ` AND ${comparison.replace('?', `$${index + 2}`)}`,
      );
      const source = `FROM :s.${table} WHERE ${ofProject}${conditions.join('')}
        ORDER BY ${seq} DESC LIMIT ${count}`;
      return database.query<{ seq: number; id: string }>(
        // The index has the numbers of skipped rows, but not their ids.
        place === 0
          ? `SELECT seq, id ${source}`
          : `SELECT seq, id FROM :s.${table} WHERE seq = (SELECT seq ${source} OFFSET ${place})`,
        [projectId, ...present.map(([, value]) => value)],
      );
    };
    const [last] = after === null ? [] : await newest([['id = ?', after]], 1);
    if (after !== null && last === undefined) return null;
    const behind = [...rows, [`${seq} < ?`, last?.seq ?? null]] as const;
    const isFiltered = filters.some(([, value]) => value !== null);
    const [oldest] = isFiltered ? await newest(behind, 1, rowsPerPage - 1) : [];
    // With both bounds the plan is made for these rows, not for all.
    const found = await newest([...behind, [`${seq} >= ?`, oldest?.seq ?? null], ...filters], limit + 1);
    const page = found.slice(0, limit);
    const next = found.length > limit ? page.at(-1) : oldest;
    return { seqs: page.map((row) => row.seq), next: next?.id ?? null };
  }

  /** The ways in which an address was written, with blanks between. */
  async function spellingsOf(projectId: string, to: string): Promise<string> {
    const [row] = await database.query<{ all: string }>(
      `SELECT pg_catalog.string_agg(r.recipient, ' ') AS all FROM ${spellings('(SELECT seq FROM :s.projects WHERE id = $2)')} r`,
      [comparedRecipient(to), projectId],
    );
    return row?.all ?? '';
  }

  return {
    async listMessages(projectId, query, page): Promise<Listed<ReturnType<typeof toMessage>> | null> {
      const { to, batchId, delivery, status } = query;
      const listing: Listing = {
        table: 'messages',
        rows: [
          ['batch = (SELECT seq FROM :s.batches WHERE id = ?)', batchId],
          to === null || !hasSpellings(to)
            ? ['recipient = ?', to]
            : [`recipient = ANY (string_to_array(?, ' '))`, await spellingsOf(projectId, to)],
        ],
        areFew: to !== null,
        filters: [...common(query), ['status = ?', status], ['delivery = ?', delivery]],
      };
      const list = await listed(listing, projectId, page);
      if (list === null) return null;
      const rows = await database.query<MessageRow>(
        `${selectMessage(':s.')} WHERE m.seq = ANY ($1::bigint[]) ORDER BY m.seq DESC`,
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
        `${selectBatches} WHERE b.seq = ANY ($1::bigint[]) ORDER BY b.seq DESC`,
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
