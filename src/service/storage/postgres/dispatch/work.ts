import { overdueBefore } from '../../dispatching.js';
import type { Store } from '../../store.js';
import type { Database } from '../database/database.js';
import type { Quiet, QuietRow } from './quiet.js';

interface WorkRow {
  /** Null in the row of leases. */
  class: number | null;
  wait: number | null;
  overdue: number | null;
  leases: number | null;
  paused: string[];
  quiet: QuietRow[] | null;
}

const doubtClass = 2;

/** Finds work for a dispatcher, and handles resets. */
export function createWork(
  database: Database,
  quiet: Quiet,
): Pick<Store, 'nextWork' | 'hasDue' | 'findWaiting' | 'beginReset' | 'reset'> {
  async function workOf(lanes: readonly string[]): Promise<WorkRow[]> {
    for (;;) {
      const rows = await database.query<WorkRow>(
        `SELECT *, ARRAY(SELECT lane FROM :s.lane_pauses) AS paused, (SELECT :s.quiet_projects_1()) AS quiet
         FROM :s.work_2($1::bigint, $2::text[], $3::bigint, $4::json)`,
        [database.now(), lanes, Math.floor(database.connectedMs()), quiet.openings()],
      );
      // Until a process speaks of a project, it is quiet.
      if (!quiet.learn(rows[0]?.quiet ?? null) || !rows[0]?.quiet) return rows;
    }
  }

  return {
    async nextWork(lanes) {
      const rows = await workOf(lanes);
      const least = (waits: (number | null)[]) => {
        const known = waits.filter((wait) => wait !== null);
        return known.length === 0 ? null : Math.min(...known);
      };
      const queued = rows.filter((row) => row.class !== null);
      return {
        messages: least(queued.filter((row) => row.class !== doubtClass).map(({ wait }) => wait)),
        overdue: least(
          queued.map((row) =>
            row.class === 0 && row.overdue !== null ? row.overdue - overdueBefore.single : row.overdue,
          ),
        ),
        doubts: least(queued.filter((row) => row.class === doubtClass).map(({ wait }) => wait)),
        leases: least(rows.map(({ leases }) => leases)),
        paused: rows[0]?.paused ?? [],
      };
    },
    async hasDue() {
      await quiet.ready();
      const [row] = await database.query<{ is_due: boolean }>(
        'SELECT :s.has_due_2($1::bigint, $2::json) AS is_due',
        [database.now(), quiet.openings()],
      );
      return row?.is_due === true;
    },
    async findWaiting(lane, projectIds) {
      const rows = await database.query<{ project: string }>(
        'SELECT :s.find_waiting_1($1::text, $2::text[]) AS project',
        [lane, projectIds],
      );
      return rows.map(({ project }) => project);
    },
    async beginReset(owner, holdMs) {
      const [row] = await database.query<{ is_mine: boolean }>(
        'SELECT :s.begin_reset_1($1::bigint, $2::text, $3::bigint) AS is_mine',
        [database.now(), owner, holdMs],
      );
      return row?.is_mine === true;
    },
    async reset(balance, holdMs) {
      const rows = await database.query<{ id: string; recipient: string }>(
        'SELECT * FROM :s.reset_2($1::bigint, $2::bigint, $3::bigint)',
        [database.now(), balance, holdMs],
      );
      return rows.map(({ id, recipient }) => ({ id, to: recipient }));
    },
  };
}
