import type { BoundAnswer, MessageRecord } from '../../records.js';
import { boundOf, type MessageRow, toMessage } from '../../shared/rows.js';
import type { Store } from '../../store.js';
import type { Database } from '../database/database.js';
import { orUnavailable } from '../database/failure.js';
import { Groups } from '../database/groups.js';

/** The rows of the project whose id is the first parameter. */
export const ofProject = 'project = (SELECT seq FROM :s.projects WHERE id = $1)';

/** Batches with the number of their messages whose delivery is unknown. */
export const selectBatches = `SELECT b.*,
    (SELECT count(*)::int FROM :s.unknown_deliveries u WHERE u.batch = b.seq) AS unknown
  FROM :s.batches b`;

interface AnswerRow {
  ord: number;
  status: number | null;
  body: string | null;
}

/** The frequent look-ups of requests, combined if they arrive together: a burst needs few connections. */
export function createLookups(
  database: Database,
  report: (error: unknown) => void,
): Pick<Store, 'findAnswer' | 'getMessage' | 'findMessage'> {
  const answers = new Groups<{ project: string; key: string }, BoundAnswer | null | undefined>(
    async (wanted) => {
      const rows = await database.attempt<AnswerRow>(
        `SELECT w.ord::int, k.status, k.body FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(project, key, ord)
         JOIN :s.projects p ON p.id = w.project JOIN :s.idempotency k ON k.project = p.seq AND k.key = w.key`,
        [wanted.map(({ project }) => project), wanted.map(({ key }) => key)],
      );
      const found = new Map(rows.map((row) => [row.ord - 1, boundOf(row.status, row.body)]));
      return wanted.map((_, index) => found.get(index));
    },
  );
  const messages = new Groups<{ project: string | null; id: string }, MessageRecord | null>(
    async (wanted) => {
      const rows = await database.attempt<MessageRow & { project_id: string }>(
        `SELECT m.*, b.id AS batch_id, p.id AS project_id FROM :s.messages m JOIN :s.projects p ON p.seq = m.project
         LEFT JOIN :s.batches b ON b.seq = m.batch WHERE m.id = ANY ($1)`,
        [wanted.map(({ id }) => id)],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      return wanted.map(({ project, id }) => {
        const row = found.get(id);
        const isThere = row !== undefined && (project === null || row.project_id === project);
        return isThere ? toMessage(row, row.project_id) : null;
      });
    },
  );

  return {
    findAnswer: (project, key) => orUnavailable(answers.add({ project, key }), report),
    getMessage: (project, id) => orUnavailable(messages.add({ project, id }), report),
    findMessage: (id) => orUnavailable(messages.add({ project: null, id }), report),
  };
}
