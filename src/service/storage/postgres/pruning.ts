import { type Pruning, pruneRows, type StoredAnswer } from '../pruning.js';
import type { Database } from './database/database.js';

/** Erasing recipients and texts of old messages. */
export function createPruning(database: Database): Pruning {
  return {
    async listPrunable({ olderMs, to, after }) {
      const messages = await database.query<{ seq: number; id: string }>(
        `SELECT seq, id FROM messages
         WHERE seq > $1 AND seq <= $1 + ${pruneRows} AND content <> 0
           AND ($3::bigint IS NULL OR (status <> 'queued' AND created_at < time_1($2) - $3)) AND ($4::text IS NULL OR recipient = $4) ORDER BY seq`,
        [after, database.now(), olderMs, to],
      );
      const [row] = await database.query<{ last: number | null }>('SELECT max(seq) AS last FROM messages');
      return { messages, next: after + pruneRows < (row?.last ?? 0) ? after + pruneRows : null };
    },
    async pruneMessages(seqs) {
      await database.query('SELECT prune_messages_1($1, $2)', [database.now(), seqs]);
    },
    async listPrunedAnswers(after) {
      const rows = await database.query<StoredAnswer & { is_pruned: boolean | null }>(
        `SELECT i.project, i.key, i.body, m.content = 0 AS is_pruned
         FROM (SELECT * FROM idempotency WHERE (project, key) > ($1, $2) ORDER BY project, key LIMIT ${pruneRows}) i
         LEFT JOIN messages m ON m.id = coalesce(i.body::json ->> 'id', i.body::json -> 'error' ->> 'id')
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
      await database.query('SELECT replace_answers_1($1)', [JSON.stringify(answers)]);
    },
  };
}
