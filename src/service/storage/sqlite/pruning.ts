import {
  type AnswerPortion,
  type PrunablePortion,
  type Pruning,
  prunedText,
  pruneRows,
  type StoredAnswer,
} from '../pruning.js';
import type { Instant } from '../records.js';
import type { Database } from './database/open.js';

/** Erasing recipients and texts. The functions run inside the transaction of their caller. */
export function preparePruning(database: Database, now: () => Instant) {
  const selectPrunable = database.prepare(
    `SELECT seq, id FROM messages
     WHERE seq > :after AND seq <= :after + ${pruneRows} AND content <> 0
       AND (:before IS NULL OR (status <> 'queued' AND created_at < :before)) AND (:to IS NULL OR recipient = :to) ORDER BY seq`,
  );
  const selectLast = database.prepare('SELECT coalesce(max(seq), 0) AS last FROM messages');
  const selectOne = database.prepare(
    "SELECT content, batch FROM messages WHERE seq = ? AND status <> 'queued'",
  );
  const prune = database.prepare(
    `UPDATE messages SET recipient = '', content = 0, doubt_until = NULL,
       error_message = CASE WHEN error_message IS NOT NULL THEN '${prunedText}' END
     WHERE seq = ?`,
  );
  const removeReceipts = database.prepare('DELETE FROM receipts WHERE message = ?');
  const removeContent = database.prepare('DELETE FROM contents WHERE seq = ?');
  const selectUnpruned = database.prepare(
    `SELECT 1 FROM batches b JOIN messages m
       ON m.seq BETWEEN b.first_message AND b.first_message + b.total - 1 AND m.batch = b.seq
     WHERE b.seq = ? AND m.content <> 0 LIMIT 1`,
  );
  const pruneBatch = database.prepare('UPDATE batches SET pruned_at = ? WHERE seq = ?');
  const selectPlace = database.prepare('SELECT seq FROM idempotency WHERE project = ? AND key = ?');
  const selectPage = database.prepare(
    `SELECT i.project, i.key, i.body, i.seq, m.content = 0 AS isPruned
     FROM idempotency i LEFT JOIN messages m
       ON m.id = coalesce(json_extract(i.body, '$.id'), json_extract(i.body, '$.error.id'))
     WHERE i.seq > ? ORDER BY i.seq LIMIT ${pruneRows}`,
  );
  const replace = database.prepare(
    'UPDATE idempotency SET body = :body WHERE project = :project AND key = :key',
  );

  return {
    listPrunable({ olderMs, to, after }: Parameters<Pruning['listPrunable']>[0]): PrunablePortion {
      const messages = selectPrunable.all({ after, before: olderMs === null ? null : now() - olderMs, to });
      const { last } = selectLast.get() as { last: number };
      const next = after + pruneRows < last ? after + pruneRows : null;
      return { messages: messages as PrunablePortion['messages'], next };
    },
    pruneMessages(seqs: readonly number[]): void {
      const batches = new Map<number, number>();
      for (const seq of seqs) {
        const row = selectOne.get(seq) as { content: number; batch: number | null } | undefined;
        if (row === undefined || row.content === 0) continue;
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
    },
    listPrunedAnswers(after: { project: number; key: string } | null): AnswerPortion {
      const place = after === null ? undefined : selectPlace.get(after.project, after.key);
      const rows = selectPage.all((place as { seq: number } | undefined)?.seq ?? 0) as (StoredAnswer & {
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
      for (const { project, key, body } of answers) replace.run({ project, key, body });
    },
  };
}
