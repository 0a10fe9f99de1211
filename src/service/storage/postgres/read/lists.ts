import type { BatchQuery, MessageQuery, PageRequest } from '../../lists.js';
import type { Listings, Numbers } from '../../sql/messages.js';
import type { Database } from '../database/database.js';

/** The rows of the project whose id is the first parameter. */
export const ofProject = 'project = (SELECT seq FROM :s.projects WHERE id = $1)';

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
export function createLists(database: Database): Listings {
  /** The numbers of a page's rows; null if `after` does not exist. */
  async function listed(
    { table, rows, areFew, filters }: Listing,
    projectId: string,
    { limit, after }: PageRequest,
  ): Promise<Numbers | null> {
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

  return {
    messages(projectId, query, page) {
      const { to, batchId, delivery, status } = query;
      const listing: Listing = {
        table: 'messages',
        rows: [
          ['batch = (SELECT seq FROM :s.batches WHERE id = ?)', batchId],
          ['recipient = ?', to],
        ],
        areFew: to !== null,
        filters: [...common(query), ['status = ?', status], ['delivery = ?', delivery]],
      };
      return listed(listing, projectId, page);
    },
    batches(projectId, query, page) {
      const isCompleted = query.status === null ? null : query.status === 'completed';
      const filters = [...common(query), ['(completed_at IS NOT NULL) = ?', isCompleted] as const];
      return listed({ table: 'batches', rows: [], areFew: false, filters }, projectId, page);
    },
  };
}

const common = ({ channel, since, until }: Pick<BatchQuery | MessageQuery, 'channel' | 'since' | 'until'>) =>
  [
    ['channel = ?', channel],
    ['created_at >= ?', since],
    ['created_at < ?', until],
  ] as const;
