import { comparedRecipient } from '../../../../contract/index.js';
import {
  type AnswerPortion,
  countedFor,
  longestRun,
  type PrunablePortion,
  type Pruning,
  portionOf,
  prunedText,
  pruneRows,
  receiptsWait,
  type StoredAnswer,
  scannedRows,
} from '../../pruning.js';
import type { Instant } from '../../records.js';
import { countedAs } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { acceptedAt } from '../clock-corrections.js';
import { clockTolerance } from '../clock-tolerance.js';
import type { Database } from '../database/database.js';
import { overwriting } from '../database/overwriting.js';
import { prepareOnce } from '../database/prepare-once.js';
import type { Projects } from '../projects.js';
import { spelled, spellings } from '../read/spellings.js';
import { removeEndedSignIns } from '../sign-ins.js';

const toRecipient = `FROM messages m INDEXED BY messages_recent
  WHERE m.project IN (SELECT seq FROM projects) AND m.recipient IN (${spellings('m.project')})`;
const columns = 'm.seq, m.id, m.project, :now - m.created_at AS ageMs';

type Row = { seq: number; id: string; project: number; ageMs: number };

/** Erases recipients and texts. The functions run inside their caller's transaction. */
export function preparePruning(
  database: Database,
  projects: Projects,
  pseudonymOf: PseudonymOf,
  now: () => Instant,
) {
  const prepared = prepareOnce(database);
  // Includes the id, because numbers are reused after a reset.
  const selectOne = database.prepare(
    "SELECT content, batch FROM messages WHERE seq = ? AND id = ? AND status <> 'queued' AND content <> 0",
  );
  const prune = database.prepare(
    `UPDATE messages SET recipient = '', mailbox = NULL, content = 0, doubt_until = NULL,
       error_message = CASE WHEN error_message IS NOT NULL THEN '${prunedText}' END
     WHERE seq = ?`,
  );
  const count = database.prepare(
    `INSERT INTO erasures (project, pseudonym, message, accepted_at)
     SELECT project, :pseudonym, seq, ${acceptedAt('m.seq', 'm.created_at')} FROM messages m
     WHERE seq = :seq AND refunded = 0 AND created_at > :after`,
  );
  const removeReceipts = database.prepare('DELETE FROM receipts WHERE message = ?');
  const removeContent = database.prepare('DELETE FROM contents WHERE seq = ?');
  const selectUnpruned = database.prepare(
    `SELECT 1 FROM batches b JOIN messages m
       ON m.seq BETWEEN b.first_message AND b.first_message + b.total - 1 AND m.batch = b.seq
     WHERE b.seq = ? AND m.content <> 0 LIMIT 1`,
  );
  const pruneBatch = database.prepare('UPDATE batches SET pruned_at = ? WHERE seq = ?');

  const named = (rows: unknown[]) =>
    (rows as Row[]).map(({ project, ...row }) => ({ ...row, projectId: projects.idOf(project) }));

  const changed = (sql: string, values: Record<string, string | number | null>) =>
    Number(overwriting(database, () => prepared(sql).run(values).changes));

  return {
    listPrunable({ olderMs, after }: { olderMs: number; after: number }): PrunablePortion {
      const messages = prepared(
        `SELECT ${columns} FROM messages m WHERE m.seq > :after AND m.seq <= :after + ${scannedRows}
           AND m.content <> 0 AND m.status <> 'queued' AND m.created_at < :now - :olderMs
         ORDER BY m.seq LIMIT ${pruneRows}`,
      ).all({ after, olderMs, now: now() });
      const { last } = prepared('SELECT coalesce(max(seq), 0) AS last FROM messages').get() as {
        last: number;
      };
      return portionOf(named(messages), after, last);
    },
    listFinalTo: (to: string, olderMs: number | null) =>
      named(
        prepared(
          `SELECT ${columns} ${toRecipient} AND m.status <> 'queued' AND m.content <> 0
             AND (:olderMs IS NULL OR m.created_at < :now - :olderMs) LIMIT ${pruneRows}`,
        ).all({ ...spelled(to), olderMs, now: now() }),
      ),
    countMessagesTo: (to: string): number =>
      (prepared(`SELECT count(*) AS messages ${toRecipient}`).get(spelled(to)) as { messages: number })
        .messages,
    pruneMessages(...[messages, erased]: Parameters<Pruning['pruneMessages']>): void {
      const pseudonyms = erased === null ? [] : countedAs(erased, pseudonymOf);
      const batches = new Map<number, number>();
      overwriting(database, () => {
        for (const { seq, id } of messages) {
          const row = selectOne.get(seq, id) as { content: number; batch: number | null } | undefined;
          if (row === undefined) continue;
          for (const pseudonym of pseudonyms) count.run({ pseudonym, seq, after: now() - countedFor });
          prune.run(seq);
          removeReceipts.run(seq);
          if (row.batch === null) removeContent.run(row.content);
          else batches.set(row.batch, row.content);
        }
        for (const [batch, content] of batches) {
          if (selectUnpruned.get(batch) !== undefined) continue;
          removeContent.run(content);
          pruneBatch.run(now(), batch);
        }
      });
    },
    listPrunedAnswers(after: { project: number; key: string } | null): AnswerPortion {
      const place =
        after === null
          ? undefined
          : prepared('SELECT seq FROM idempotency WHERE project = ? AND key = ?').get(
              after.project,
              after.key,
            );
      const rows = prepared(
        `SELECT i.project, i.key, i.body, i.seq, m.content = 0 AS isPruned
         FROM idempotency i LEFT JOIN messages m
           ON m.id = coalesce(json_extract(i.body, '$.id'), json_extract(i.body, '$.error.id'))
         WHERE i.seq > ? ORDER BY i.seq LIMIT ${pruneRows}`,
      ).all((place as { seq: number } | undefined)?.seq ?? 0) as (StoredAnswer & {
        isPruned: number | null;
      })[];
      const last = rows.length === pruneRows ? rows.at(-1) : undefined;
      return {
        answers: rows
          .filter(({ isPruned }) => isPruned === 1)
          .map(({ project, key, body }) => ({ project, key, body })),
        next: last === undefined ? null : { project: last.project, key: last.key },
      };
    },
    replaceAnswers(answers: readonly StoredAnswer[]): void {
      const replace = prepared('UPDATE idempotency SET body = :body WHERE project = :project AND key = :key');
      overwriting(database, () => {
        for (const { project, key, body } of answers) replace.run({ project, key, body });
      });
    },
    pruneInbox(which: Parameters<Pruning['pruneInbox']>[0]): number {
      const [column, value] =
        'from' in which
          ? ['lower(sender)', comparedRecipient(which.from)]
          : ['project', projects.numberOf(which.projectId)];
      return changed(
        `DELETE FROM inbox WHERE seq IN (
           SELECT seq FROM inbox WHERE ${column} = :value AND (:olderMs IS NULL OR received_at < :now - :olderMs) LIMIT ${pruneRows})`,
        { value, olderMs: which.olderMs, now: now() },
      );
    },
    eraseSuppressed(given: string): number {
      const to = comparedRecipient(given);
      const erased = changed(
        `UPDATE OR IGNORE suppressions SET recipient = :pseudonym,
           reason = CASE WHEN instr(lower(reason), lower(:to)) > 0 THEN '${prunedText}' ELSE reason END
         WHERE recipient = :to`,
        { to, pseudonym: pseudonymOf(to) },
      );
      // Suppressed again after it was erased.
      return erased + changed('DELETE FROM suppressions WHERE recipient = :to', { to });
    },
    pruneLeftovers(to: string | null): number {
      const at = now();
      removeEndedSignIns(database, at);
      // The clock was set back since.
      prepared(`UPDATE erasures SET accepted_at = :at WHERE accepted_at > :at + ${clockTolerance}`).run({
        at,
      });
      prepared('DELETE FROM erasures WHERE accepted_at <= ?').run(at - countedFor);
      return changed(
        `DELETE FROM receipts WHERE (route, carrier_id, recipient) IN (
           SELECT route, carrier_id, recipient FROM receipts
           WHERE message IS NULL AND ${to === null ? 'received_at < :limit' : 'recipient = :limit'} LIMIT ${pruneRows})`,
        { limit: to ?? at - receiptsWait },
      );
    },
    beginPruneRun(everyMs: number): Awaited<ReturnType<Pruning['beginPruneRun']>> {
      const at = now();
      const before = prepared('SELECT coalesce(ended_at, begun_at) AS at FROM prune_runs').get() as
        | { at: number }
        | undefined;
      const row = prepared(
        `INSERT INTO prune_runs (one, begun_at) VALUES (1, :at)
         ON CONFLICT DO UPDATE SET begun_at = :at, ended_at = NULL, is_repeated = prune_runs.ended_at IS NULL
         WHERE CASE WHEN prune_runs.ended_at IS NULL
           THEN prune_runs.begun_at NOT BETWEEN :at - ${longestRun} AND :at + ${clockTolerance}
           ELSE prune_runs.ended_at NOT BETWEEN :at - :every AND :at + ${clockTolerance} END
         RETURNING is_repeated`,
      ).get({ at, every: everyMs }) as { is_repeated: number } | undefined;
      if (row === undefined) return null;
      return { isRepeated: row.is_repeated === 1, idleMs: before === undefined ? null : at - before.at };
    },
    endPruneRun(): void {
      prepared('UPDATE prune_runs SET ended_at = ?').run(now());
    },
  };
}
