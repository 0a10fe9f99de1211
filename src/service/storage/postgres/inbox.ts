import { comparedRecipient } from '../../../contract/index.js';
import { type Inbox, seriesOf } from '../inbox.js';
import type { PageRequest } from '../lists.js';
import { type InboxRow, type SuppressionRow, toInboxRecord, toSuppression } from '../shared/inbox-rows.js';
import { suppressedAs } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { SuppressionRecord, Suppressions } from '../suppressions.js';
import type { Database } from './database/database.js';
import { orUnavailable } from './database/failure.js';
import { Groups } from './database/groups.js';
import { ofProject } from './read/lookups.js';

/** Incoming messages, and suppressed recipients. */
export function createInbox(
  database: Database,
  pseudonymOf: PseudonymOf,
  report: (error: unknown) => void,
): Inbox & Suppressions {
  /** Null if `after` does not exist. */
  async function newest<Row extends { seq: number }>(
    [table, name]: readonly [table: string, name: keyof Row & string],
    projectId: string,
    { limit, after }: PageRequest,
  ): Promise<{ rows: Row[]; next: string | null } | null> {
    let before = Number.MAX_SAFE_INTEGER;
    if (after !== null) {
      const [row] = await database.query<{ seq: number }>(
        `SELECT seq FROM :s.${table} WHERE ${ofProject} AND ${name} = $2`,
        [projectId, after],
      );
      if (row === undefined) return null;
      before = row.seq;
    }
    const found = await database.query<Row>(
      `SELECT *, :s.time_1($4::bigint) AS now FROM :s.${table} WHERE ${ofProject} AND seq < $2 ORDER BY seq DESC LIMIT $3`,
      [projectId, before, limit + 1, database.now()],
    );
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    return { rows, next: last === undefined ? null : String(last[name]) };
  }

  const suppressions = new Groups<{ project: string; to: string }, SuppressionRecord | null>(
    async (wanted) => {
      const rows = await database.attempt<SuppressionRow & { ord: number }>(
        `SELECT w.ord::int, s.recipient, s.reason, s.created_at
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS w(project, recipient, pseudonym, earlier, ord)
         JOIN :s.projects p ON p.id = w.project
         JOIN :s.suppressions s ON s.project = p.seq AND s.recipient IN (w.recipient, w.pseudonym, w.earlier)`,
        [
          wanted.map(({ project }) => project),
          ...[0, 1, 2].map((form) => wanted.map(({ to }) => suppressedAs(to, pseudonymOf)[form])),
        ],
      );
      const found = new Map(rows.map((row) => [row.ord - 1, toSuppression(row)]));
      return wanted.map((_, index) => found.get(index) ?? null);
    },
  );

  return {
    async keepIncoming(message) {
      const { projectId, id, channel, from, to, subject, text, fingerprint, part } = message;
      await database.query(
        'SELECT :s.keep_incoming_1($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::int, $12::int)',
        [
          database.now(),
          projectId,
          id,
          channel,
          from,
          to,
          subject,
          text,
          fingerprint,
          seriesOf(message),
          part?.number ?? null,
          part?.total ?? null,
        ],
      );
    },
    async listInbox(projectId, page) {
      const listed = await newest<InboxRow & { now: number }>(['inbox', 'id'], projectId, page);
      return (
        listed && {
          records: listed.rows.map((row) => toInboxRecord(row, projectId, row.now)),
          next: listed.next,
        }
      );
    },
    async suppress(projectId, to, reason) {
      await database.query('SELECT :s.suppress_1($1::bigint, $2::text, $3::text, $4::text)', [
        database.now(),
        projectId,
        comparedRecipient(to),
        reason,
      ]);
    },
    getSuppression: (project, to) => orUnavailable(suppressions.add({ project, to }), report),
    async listSuppressions(projectId, page) {
      const listed = await newest<SuppressionRow>(['suppressions', 'recipient'], projectId, page);
      return listed && { records: listed.rows.map(toSuppression), next: listed.next };
    },
    async removeSuppression(projectId, to) {
      const [row] = await database.query<{ is_done: boolean }>(
        'SELECT :s.unsuppress_1($1::text, $2::text[]) AS is_done',
        [projectId, suppressedAs(to, pseudonymOf)],
      );
      return row?.is_done === true;
    },
  };
}
