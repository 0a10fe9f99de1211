import type { MessageStatus } from '../../../../contract/index.js';
import {
  type CountedSome,
  type CountedVerifications,
  countedAtOnce,
  lookedAt,
  type MessageHistory,
  type VerificationLimit,
  type Waiting,
} from '../../insights.js';
import type { Instant } from '../../records.js';
import type { MessageBlocks } from '../accept/message-blocks.js';
import type { Database } from '../database/database.js';
import { prepareOnce } from '../database/prepare-once.js';
import { type ContentRow, toContent } from '../dispatch/claimed-rows.js';
import { triedOf } from '../dispatch/tries.js';
import type { Projects } from '../projects.js';

interface CountRow {
  slot: number;
  status: MessageStatus;
  error_code: string | null;
  count: number;
  unknown: number;
  oldest: number;
}

interface HistoryRow extends ContentRow {
  seq: number;
  route: string | null;
  attempts: number;
  tried: string | null;
  content: number | null;
}

/** Reads for people. */
export function prepareInsights(
  database: Database,
  projects: Projects,
  blocks: MessageBlocks,
  now: () => Instant,
) {
  const prepared = prepareOnce(database);

  /** Counts some rows, newest first; returns where to continue, null at the end. */
  function countSome(projectId: string, since: Instant, step: number, before: number | null): CountedSome {
    const span = blocks.spanOf(since, null);
    const last = Math.min(span?.last ?? -1, (before ?? Number.MAX_SAFE_INTEGER) - 1);
    const rows = prepared(
      `SELECT slot, status, error_code, count(*) AS count, sum(delivery IS 'unknown') AS unknown, min(seq) AS oldest FROM (
         SELECT CAST(max(0, created_at - :since) / :step AS INTEGER) AS slot, status, error_code, delivery, seq
         FROM messages INDEXED BY messages_project
         WHERE project = :project AND seq BETWEEN :first AND :last AND created_at >= :since
         ORDER BY seq DESC LIMIT ${countedAtOnce})
       GROUP BY slot, status, error_code`,
    ).all({
      project: projects.numberOf(projectId),
      since,
      step,
      first: span?.first ?? 0,
      last,
    }) as CountRow[];
    const looked = rows.reduce((sum, { count }) => sum + count, 0);
    return {
      counts: rows.map(({ oldest: _, error_code: errorCode, ...row }) => ({ ...row, errorCode })),
      next: looked < countedAtOnce ? null : Math.min(...rows.map(({ oldest }) => oldest)),
    };
  }

  function countWaiting(projectId: string): Waiting {
    const row = prepared(
      `SELECT count(*) AS seen, coalesce(sum(project = :project), 0) AS waiting,
         min(CASE WHEN project = :project THEN created_at END) AS oldest
       FROM (SELECT project, created_at FROM messages INDEXED BY messages_waiting
         WHERE due_at IS NOT NULL AND route IS NULL LIMIT ${lookedAt})`,
    ).get({ project: projects.numberOf(projectId) }) as {
      seen: number;
      waiting: number;
      oldest: number | null;
    };
    return {
      count: row.waiting,
      oldestMs: row.oldest === null ? null : Math.max(0, now() - row.oldest),
      isWhole: row.seen < lookedAt,
    };
  }

  function getHistory(projectId: string, messageId: string): MessageHistory | null {
    const row = prepared(
      `SELECT m.seq, m.route, m.attempts, m.tried, c.seq AS content, c.text, c.html, c.subject, c.sender, c.reply_to, c.sealed, c.is_bulk
       FROM messages m LEFT JOIN contents c ON c.seq = m.content WHERE m.project = ? AND m.id = ?`,
    ).get(projects.numberOf(projectId), messageId) as HistoryRow | undefined;
    if (row === undefined) return null;
    const content = row.content === null ? null : toContent(row);
    const receipts = prepared(
      `SELECT carrier_id AS carrierId, state, received_at AS receivedAt FROM receipts
       WHERE message = ? AND state IS NOT NULL ORDER BY received_at, carrier_id`,
    ).all(row.seq) as MessageHistory['receipts'];
    const refund = prepared(
      `SELECT amount, created_at AS createdAt FROM ledger WHERE reason = 'refund' AND subject_id = ?`,
    ).get(messageId) as MessageHistory['refund'] | undefined;
    const { route, attempts } = row;
    return { content, route, attempts, tried: triedOf(row.tried), receipts, refund: refund ?? null };
  }

  function countVerifications(projectId: string, since: Instant): CountedVerifications {
    return prepared(
      `SELECT count(*) AS created, coalesce(sum(status = 'verified'), 0) AS verified
       FROM verifications INDEXED BY verifications_project WHERE project = ? AND created_at >= ?`,
    ).get(projects.numberOf(projectId), since) as unknown as CountedVerifications;
  }

  function verificationWait(
    projectId: string,
    { most, windowMs, numbers }: VerificationLimit,
  ): number | null {
    const at = now();
    const project = projects.numberOf(projectId);
    const since = at - windowMs;
    const row =
      numbers === null
        ? prepared(
            `SELECT created_at AS time FROM verifications INDEXED BY verifications_project
             WHERE project = ? AND created_at > ? ORDER BY created_at DESC LIMIT 1 OFFSET ?`,
          ).get(project, since, most - 1)
        : prepared(
            `SELECT m.created_at AS time FROM messages m INDEXED BY messages_recent JOIN verifications v ON v.message = m.seq
             WHERE m.project = ? AND m.recipient BETWEEN ? AND ? AND m.created_at > ?
             ORDER BY m.created_at DESC LIMIT 1 OFFSET ?`,
          ).get(project, ...numbers, since, most - 1);
    return row === undefined ? null : Math.min((row as { time: number }).time, at) + windowMs - at;
  }

  return { countSome, countWaiting, getHistory, countVerifications, verificationWait };
}
