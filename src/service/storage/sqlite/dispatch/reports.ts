import type { Instant, MessageRecord } from '../../records.js';
import type { Database } from '../database/database.js';

/** A message that has just ended, of a project with a line. */
export interface Reported {
  line: number;
  seq: number;
  message: Pick<MessageRecord, 'status' | 'delivery' | 'batchId'>;
}

/** Records events of projects with a line. The functions write inside their caller's transaction. */
export function prepareReports(database: Database) {
  const add = 'INSERT INTO events (line, type, subject, at)';
  const insert = database.prepare(`${add} VALUES (?, ?, ?, ?)`);
  const complete = database.prepare(
    `${add} SELECT ?, 'batch.completed', seq, ? FROM batches WHERE id = ? AND completed_at IS NOT NULL`,
  );
  const deliver = database.prepare(
    `${add} SELECT p.line, 'message.delivery', m.seq, ? FROM messages m JOIN projects p ON p.seq = m.project
     WHERE m.seq = ? AND p.line IS NOT NULL`,
  );

  return {
    /** Also of batches that are complete with them. */
    ended(given: readonly Reported[], at: Instant): void {
      const reported = given.toSorted((one, other) => one.seq - other.seq);
      for (const { line, seq, message } of reported) insert.run(line, `message.${message.status}`, seq, at);
      for (const { line, seq, message } of reported)
        if (message.delivery !== null) insert.run(line, 'message.delivery', seq, at);
      const batches = new Map(reported.map(({ line, message }) => [message.batchId, line]));
      batches.delete(null);
      for (const [id, line] of batches) complete.run(line, at, id);
    },
    /** There is a new report about the delivery of a message. */
    delivered(seq: number, at: Instant): void {
      deliver.run(at, seq);
    },
  };
}

export type Reports = ReturnType<typeof prepareReports>;
