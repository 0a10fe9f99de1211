import { comparedRecipient } from '../../../../contract/index.js';
import {
  longestRun,
  type PrunableMessage,
  type Pruning,
  portionOf,
  prunedText,
  pruneRows,
  receiptsWait,
  type StoredAnswer,
  scannedRows,
} from '../../pruning.js';
import { countedAs } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import type { Database } from '../database/database.js';
import { ofProject } from '../read/lookups.js';
import { spellings } from '../read/spellings.js';
import { tolerance } from '../schema/constants.js';

const columnsAt = (now: string) =>
  `m.seq, m.id, p.id AS "projectId", :s.time_1(${now}::bigint) - m.created_at AS "ageMs"`;
const ended = `m.status <> 'queued' AND m.content <> 0`;
/** Looks up the recipients of each project, rather than scanning all of its messages. */
const toRecipient = `:s.projects p CROSS JOIN LATERAL (
  SELECT m.* FROM ${spellings('p.seq')} r JOIN :s.messages m ON m.project = p.seq AND m.recipient = r.recipient OFFSET 0) m`;

/** Erases recipients and texts of old messages. */
export function createPruning(database: Database, pseudonymOf: PseudonymOf): Pruning {
  /** Returns the number of rows. */
  async function changed(statement: string, values: readonly unknown[]): Promise<number> {
    const [row] = await database.query<{ rows: number }>(
      `WITH changed AS (${statement} RETURNING 1) SELECT count(*) AS rows FROM changed`,
      values,
    );
    return row?.rows ?? 0;
  }

  return {
    async listPrunable({ olderMs, after }) {
      const messages = await database.query<PrunableMessage>(
        `SELECT ${columnsAt('$2')} FROM :s.messages m JOIN :s.projects p ON p.seq = m.project
         WHERE m.seq > $1 AND m.seq <= $1 + ${scannedRows} AND ${ended} AND m.created_at < :s.time_1($2::bigint) - $3
         ORDER BY m.seq LIMIT ${pruneRows}`,
        [after, database.now(), olderMs],
      );
      const [row] = await database.query<{ last: number | null }>('SELECT max(seq) AS last FROM :s.messages');
      return portionOf(messages, after, row?.last ?? 0);
    },
    listFinalTo: (to, olderMs) =>
      database.query<PrunableMessage>(
        `SELECT ${columnsAt('$2')} FROM ${toRecipient} WHERE ${ended}
           AND ($3::bigint IS NULL OR m.created_at < :s.time_1($2::bigint) - $3) LIMIT ${pruneRows}`,
        [comparedRecipient(to), database.now(), olderMs],
      ),
    async countMessagesTo(to) {
      const [row] = await database.query<{ messages: number }>(
        `SELECT count(*) AS messages FROM ${toRecipient}`,
        [comparedRecipient(to)],
      );
      return row?.messages ?? 0;
    },
    async pruneMessages(messages, erased) {
      await database.query('SELECT :s.prune_messages_2($1::bigint, $2::bigint[], $3::text[])', [
        database.now(),
        messages.map(({ seq }) => seq),
        erased === null ? null : countedAs(erased, pseudonymOf),
      ]);
    },
    async listPrunedAnswers(after) {
      const rows = await database.query<StoredAnswer & { is_pruned: boolean | null }>(
        `SELECT i.project, i.key, i.body, m.content = 0 AS is_pruned
         FROM (SELECT * FROM :s.idempotency WHERE (project, key) > ($1, $2) ORDER BY project, key LIMIT ${pruneRows}) i
         LEFT JOIN :s.messages m ON m.id = coalesce(i.body::json ->> 'id'::text, i.body::json -> 'error'::text ->> 'id'::text)
         ORDER BY i.project, i.key`,
        [after?.project ?? -1, after?.key ?? ''],
      );
      const last = rows.length === pruneRows ? rows.at(-1) : undefined;
      return {
        answers: rows
          .filter((row) => row.is_pruned)
          .map(({ project, key, body }) => ({ project, key, body })),
        next: last === undefined ? null : { project: last.project, key: last.key },
      };
    },
    async replaceAnswers(answers) {
      await database.query('SELECT :s.replace_answers_1($1::json)', [JSON.stringify(answers)]);
    },
    pruneInbox(which) {
      const [where, value] =
        'from' in which
          ? ['lower(sender COLLATE "C") = $1', comparedRecipient(which.from)]
          : [ofProject, which.projectId];
      return changed(
        `DELETE FROM :s.inbox WHERE seq IN (
           SELECT seq FROM :s.inbox WHERE ${where}
             AND ($3::bigint IS NULL OR received_at < :s.time_1($2::bigint) - $3) LIMIT ${pruneRows})`,
        [value, database.now(), which.olderMs],
      );
    },
    async eraseSuppressed(erased) {
      const to = comparedRecipient(erased);
      const given = [to, pseudonymOf(to)];
      // Some were suppressed again after they were erased.
      await database.query(
        `INSERT INTO :s.suppressions (project, recipient, reason, created_at)
         SELECT project, $2,
           CASE WHEN position(lower($1::text) in lower(reason)) > 0 THEN '${prunedText}' ELSE reason END, created_at
         FROM :s.suppressions WHERE recipient = $1 ON CONFLICT DO NOTHING`,
        given,
      );
      return changed('DELETE FROM :s.suppressions WHERE recipient = $1', [to]);
    },
    async pruneLeftovers(to) {
      await database.query('SELECT :s.prune_ended_1($1::bigint)', [database.now()]);
      const [where, ...values] =
        to === null
          ? ['received_at < :s.time_1($2::bigint) - $1', receiptsWait, database.now()]
          : ['recipient = $1', to];
      return changed(
        `DELETE FROM :s.receipts WHERE (route, carrier_id, recipient) IN (
           SELECT route, carrier_id, recipient FROM :s.receipts WHERE message IS NULL AND ${where} LIMIT ${pruneRows})`,
        values,
      );
    },
    async beginPruneRun(everyMs) {
      const [row] = await database.query<{ is_repeated: boolean; idle: number | null }>(
        `WITH before AS (SELECT coalesce(ended_at, begun_at) AS at FROM :s.prune_runs)
         INSERT INTO :s.prune_runs AS r (one, begun_at) VALUES (1, :s.time_1($1::bigint))
         ON CONFLICT (one) DO UPDATE SET begun_at = excluded.begun_at, ended_at = NULL,
           is_repeated = r.ended_at IS NULL
         WHERE CASE WHEN r.ended_at IS NULL
           THEN r.begun_at NOT BETWEEN excluded.begun_at - ${longestRun} AND excluded.begun_at + ${tolerance}
           ELSE r.ended_at NOT BETWEEN excluded.begun_at - $2::bigint AND excluded.begun_at + ${tolerance} END
         RETURNING is_repeated, r.begun_at - (SELECT at FROM before) AS idle`,
        [database.now(), everyMs],
      );
      return row === undefined ? null : { isRepeated: row.is_repeated, idleMs: row.idle };
    },
    async endPruneRun() {
      await database.query('UPDATE :s.prune_runs SET ended_at = :s.time_1($1::bigint)', [database.now()]);
    },
  };
}
