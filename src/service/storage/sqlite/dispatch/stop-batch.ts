import type { Channel, MessageError } from '../../../../contract/index.js';
import type { StopCounts } from '../../lanes.js';
import type { Instant } from '../../records.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';
import type { Leases } from './leases.js';
import type { Reports } from './reports.js';

/** SQL: whether a message may be marked. */
export const isInOpenLane = 'lane NOT IN (SELECT lane FROM lane_pauses)';

/** Stops batches, inside the caller's transaction. */
export function prepareStopBatch(
  database: Database,
  { projects, leases, requests, reports }: StopParts,
  now: () => Instant,
) {
  const selectBatch = database.prepare('SELECT * FROM batches WHERE id = ?');
  const inBatch = `seq BETWEEN :first AND :first + :total - 1 AND batch = :batch AND status = 'queued' AND route IS NULL`;
  const selectUnmarked = database.prepare(
    `SELECT seq, id, lease, lane, credits FROM messages WHERE ${inBatch}`,
  );
  const fail = database.prepare(
    `UPDATE messages SET status = 'failed', error_code = :code, error_message = :message, credits = 0, refunded = 1,
       lease = NULL, due_at = NULL WHERE ${inBatch}`,
  );
  const stop = database.prepare(
    `UPDATE batches SET stopped_at = coalesce(stopped_at, :at), failed = failed + :stopped,
       completed_at = CASE WHEN sent + failed + :stopped = total THEN coalesce(completed_at, :at) END
     WHERE seq = :seq`,
  );

  return (id: string, error: MessageError): StopCounts | null => {
    const batch = selectBatch.get(id) as BatchRow | undefined;
    if (batch === undefined) return null;
    const given = { first: batch.first_message, total: batch.total, batch: batch.seq };
    const messages = selectUnmarked.all(given) as UnmarkedRow[];
    fail.run({ ...given, ...error });
    const departures = leases.departures();
    const counts = new Map<string, number>();
    let refunded = 0;
    for (const { id: subject, lease, lane, credits } of messages) {
      counts.set(lane, (counts.get(lane) ?? 0) + 1);
      if (lease !== null) departures.add(lease, 1);
      projects.move(batch.project, credits, 'refund', subject);
      refunded += credits;
    }
    departures.write();
    for (const { seq } of messages) requests.forget(seq);
    const stopped = messages.length;
    stop.run({ seq: batch.seq, stopped, at: now() });
    const { line } = projects.standingOf(batch.project);
    const failed = messages.map(
      (message) => ({ ...message, status: 'failed', delivery: null, batchId: id }) as const,
    );
    if (line !== null)
      reports.ended(
        failed.map((message) => ({ line, seq: message.seq, message })),
        now(),
      );
    const { channel, total, sent } = batch;
    const lanes = [...counts].map(([lane, count]) => ({ lane, count }));
    return { channel, total, sent, failed: batch.failed + stopped, stopped, refunded, lanes };
  };
}

interface StopParts {
  projects: Projects;
  leases: Leases;
  requests: { forget(message: number): void };
  reports: Reports;
}

interface BatchRow {
  seq: number;
  channel: Channel;
  project: number;
  total: number;
  sent: number;
  failed: number;
  first_message: number;
}

interface UnmarkedRow {
  seq: number;
  id: string;
  lease: string | null;
  lane: string;
  credits: number;
}
