import { countedFor, type Pruning, prunedText } from '../../pruning.js';
import type { Instant } from '../../records.js';
import { countedAs } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { acceptedAt } from '../clock-corrections.js';
import type { Database } from '../database/database.js';
import { overwriting } from '../database/overwriting.js';

/** Erases recipients and texts. The functions run inside their caller's transaction. */
export function preparePruneMessages(database: Database, pseudonymOf: PseudonymOf, now: () => Instant) {
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

  return (...[messages, erased]: Parameters<Pruning['pruneMessages']>): void => {
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
  };
}
