import { comparedRecipient } from '../../../contract/index.js';
import {
  countedFor,
  longestRun,
  type PrunableMessage,
  type Pruning,
  portionOf,
  pruneRows,
  receiptsWait,
  type StoredAnswer,
  scannedRows,
} from '../pruning.js';
import { clockTolerance } from '../shared/clock-tolerance.js';
import { erasedKeyOf, keyOf } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import { ofProject } from './pages.js';
import { isGood } from './sign-ins.js';
import { query, type Sql } from './sql.js';

const columns = 'm.seq, m.id, p.id AS "projectId", :now - m.created_at AS "ageMs"';
const isPrunable = `m.status <> 'queued' AND m.content <> 0`;

/** Erases recipients and texts; `pruneMessages` is the engine's own, because it locks what a send locks. */
export function createPruning(sql: Sql, pseudonymOf: PseudonymOf): Omit<Pruning, 'pruneMessages'> {
  return {
    async listPrunable({ olderMs, after }) {
      const messages = await sql.read<PrunableMessage>(
        `SELECT ${columns} FROM :s.messages m CROSS JOIN :s.projects p
         WHERE p.seq = m.project AND m.seq > :after AND m.seq <= :after::bigint + ${scannedRows} AND ${isPrunable}
           AND m.created_at < :now - :olderMs::bigint
         ORDER BY m.seq LIMIT ${pruneRows}`,
        { after, olderMs },
      );
      const [row] = await sql.read<{ last: number | null }>('SELECT max(seq) AS last FROM :s.messages');
      return portionOf(messages, after, row?.last ?? 0);
    },
    listFinalTo: (to, olderMs) =>
      sql.read<PrunableMessage>(
        `SELECT ${columns} FROM :ofRecipient WHERE ${isPrunable}
           AND (:olderMs::bigint IS NULL OR m.created_at < :now - :olderMs::bigint) LIMIT ${pruneRows}`,
        { to: comparedRecipient(to), olderMs },
      ),
    async countMessagesTo(to) {
      const [row] = await sql.read<{ messages: number }>('SELECT count(*) AS messages FROM :ofRecipient', {
        to: comparedRecipient(to),
      });
      return row?.messages ?? 0;
    },
    async listPrunedAnswers(after) {
      const rows = await sql.read<StoredAnswer & { is_pruned: boolean | number | null }>(
        `SELECT i.project, i.key, i.body, m.content = 0 AS is_pruned
         FROM (SELECT project, key, body FROM :s.idempotency WHERE (project, key) > (:project, :key)
           ORDER BY project, key LIMIT ${pruneRows}) i
         LEFT JOIN :s.messages m
           ON m.id = coalesce(i.body::json ->> 'id'::text, i.body::json -> 'error'::text ->> 'id'::text)
         ORDER BY i.project, i.key`,
        after ?? { project: -1, key: '' },
      );
      const last = rows.length === pruneRows ? rows.at(-1) : undefined;
      return {
        answers: rows
          .filter((row) => row.is_pruned)
          .map(({ project, key, body }) => ({ project, key, body })),
        next: last === undefined ? null : { project: last.project, key: last.key },
      };
    },
    replaceAnswers: (answers) =>
      sql.erase(function* () {
        for (const { project, key, body } of answers) {
          yield* query('UPDATE :s.idempotency SET body = :body WHERE project = :project AND key = :key', {
            ...{ project, key, body },
          });
        }
      }),
    pruneInbox: (which) =>
      sql.erase(function* () {
        const [where, values] =
          'from' in which
            ? ['lower(sender COLLATE "C") = :from', { from: comparedRecipient(which.from) }]
            : [ofProject, { projectId: which.projectId }];
        const erased = yield* query(
          `DELETE FROM :s.inbox WHERE seq IN (
             SELECT seq FROM :s.inbox WHERE ${where}
               AND (:olderMs::bigint IS NULL OR received_at < :now - :olderMs::bigint) LIMIT ${pruneRows})
           RETURNING seq`,
          { olderMs: which.olderMs, ...values },
        );
        return erased.length;
      }),
    eraseSuppressed: (given) =>
      sql.erase(function* () {
        let rows = 0;
        for (const isOptOut of [true, false]) {
          const reason = isOptOut ? 'opt_out' : 'unknown_recipient';
          const found = {
            ...{ isOptOut, to: keyOf(given, reason) },
            pseudonym: erasedKeyOf(given, reason, pseudonymOf),
          };
          // An opt-out may be that of a tag alone.
          const isIt = "recipient = :to AND (reason = 'opt_out') >= :isOptOut";
          const erased = yield* query(
            `UPDATE :s.suppressions SET recipient = :pseudonym
             WHERE ${isIt} AND NOT EXISTS (SELECT 1 FROM :s.suppressions e
               WHERE e.project = suppressions.project AND e.recipient = :pseudonym) RETURNING seq`,
            found,
          );
          // Suppressed again after it was erased.
          const again = yield* query(`DELETE FROM :s.suppressions WHERE ${isIt} RETURNING seq`, found);
          rows += erased.length + again.length;
        }
        return rows;
      }),
    async pruneLeftovers(to) {
      await sql.transact(function* () {
        yield* query(`DELETE FROM :s.sign_ins WHERE NOT (${isGood})`);
        // The clock was set back since.
        yield* query(`UPDATE :s.erasures SET :erasedAt = :now WHERE :erasedAt > :now + ${clockTolerance}`);
        yield* query(`DELETE FROM :s.erasures WHERE :erasedAt <= :now - ${countedFor}`);
      });
      return await sql.erase(function* () {
        const erased = yield* query(
          `DELETE FROM :s.receipts WHERE (route, carrier_id, recipient) IN (
             SELECT route, carrier_id, recipient FROM :s.receipts WHERE message IS NULL
               AND ${to === null ? `received_at < :now - ${receiptsWait}` : 'recipient = :to'}
             LIMIT ${pruneRows} :skipLocked) RETURNING route`,
          to === null ? {} : { to },
        );
        return erased.length;
      });
    },
    async beginPruneRun(everyMs) {
      const [before] = await sql.read<{ at: number }>(
        'SELECT coalesce(ended_at, begun_at) AS at FROM :s.prune_runs',
      );
      const [begun] = await sql.write<{ begun_at: number; is_repeated: boolean | number }>(
        `INSERT INTO :s.prune_runs AS r (one, begun_at) VALUES (1, :now)
         ON CONFLICT (one) DO UPDATE SET begun_at = excluded.begun_at, ended_at = NULL,
           is_repeated = r.ended_at IS NULL
         WHERE CASE WHEN r.ended_at IS NULL
           THEN r.begun_at NOT BETWEEN excluded.begun_at - ${longestRun} AND excluded.begun_at + ${clockTolerance}
           ELSE r.ended_at NOT BETWEEN excluded.begun_at - :everyMs::bigint AND excluded.begun_at + ${clockTolerance} END
         RETURNING begun_at, is_repeated`,
        { everyMs },
      );
      if (begun === undefined) return null;
      const idleMs = before === undefined ? null : begun.begun_at - before.at;
      return { isRepeated: Boolean(begun.is_repeated), idleMs };
    },
    async endPruneRun() {
      await sql.write('UPDATE :s.prune_runs SET ended_at = :now');
    },
  };
}
