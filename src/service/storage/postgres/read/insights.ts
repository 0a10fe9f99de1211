import type { MessageStatus } from '../../../../contract/index.js';
import {
  type CountedSome,
  type CountedVerifications,
  countedAtOnce,
  countInParts,
  type Insights,
  lookedAt,
  type MessageHistory,
} from '../../insights.js';
import type { Instant } from '../../records.js';
import type { TriedRun } from '../../tried.js';
import type { Database } from '../database/database.js';
import { type ContentRow, toContent } from '../dispatch/claimed-rows.js';
import { attemptsARelease } from '../schema/constants.js';
import { ofProject } from './lookups.js';

interface CountRow {
  slot: number;
  status: MessageStatus;
  error_code: string | null;
  count: number;
  unknown: number;
  oldest: number;
  is_since: boolean;
}

interface HistoryRow extends ContentRow {
  seq: number;
  route: string | null;
  attempts: number;
  tried: TriedRun[] | null;
  content: number | null;
}

/** Reads for people. */
export function createInsights(database: Database): Insights {
  /** Counts some rows, newest first, until they are older than `since`. */
  async function countSome(
    projectId: string,
    since: Instant,
    stepMs: number,
    before: number | null,
  ): Promise<CountedSome> {
    const rows = await database.query<CountRow>(
      `SELECT created_at >= $2 AS is_since, greatest(0, (created_at - $2) / $3) AS slot, status, error_code,
         count(*)::int AS count, (count(*) FILTER (WHERE delivery = 'unknown'))::int AS unknown, min(seq) AS oldest
       FROM (SELECT seq, created_at, status, error_code, delivery FROM :s.messages WHERE ${ofProject} AND seq < $4
         ORDER BY seq DESC LIMIT ${countedAtOnce}) newest
       GROUP BY 1, 2, 3, 4`,
      [projectId, since, stepMs, before ?? Number.MAX_SAFE_INTEGER],
    );
    const looked = rows.reduce((sum, { count }) => sum + count, 0);
    const counts = rows
      .filter((row) => row.is_since)
      .map(({ is_since: _, oldest: __, error_code: errorCode, ...row }) => ({ ...row, errorCode }));
    const isOver = looked < countedAtOnce || counts.length === 0;
    return { counts, next: isOver ? null : Math.min(...rows.map(({ oldest }) => oldest)) };
  }

  return {
    countMessages: (projectId, since, stepMs) =>
      countInParts((before) => countSome(projectId, since, stepMs, before)),
    async countWaiting(projectId) {
      const [row] = await database.query<{ seen: number; waiting: number; age: number | null }>(
        // A join would search all messages for them.
        `SELECT count(*)::int AS seen, (count(*) FILTER (WHERE ${ofProject}))::int AS waiting,
           :s.time_1($2::bigint) - min(created_at) FILTER (WHERE ${ofProject}) AS age
         FROM :s.messages WHERE seq = ANY (ARRAY(SELECT message FROM :s.queue WHERE class < 2 LIMIT ${lookedAt}))`,
        [projectId, database.now()],
      );
      const { seen = 0, waiting = 0, age = null } = row ?? {};
      return { count: waiting, oldestMs: age === null ? null : Math.max(0, age), isWhole: seen < lookedAt };
    },
    async countVerifications(projectId, since) {
      const [row] = await database.query<CountedVerifications>(
        `SELECT count(*)::int AS created, (count(*) FILTER (WHERE status = 'verified'))::int AS verified
         FROM :s.verifications WHERE ${ofProject} AND created_at >= $2`,
        [projectId, since],
      );
      return row ?? { created: 0, verified: 0 };
    },
    async verificationWait(projectId, { most, windowMs, numbers }) {
      const [from, values] =
        numbers === null
          ? [':s.verifications m', []]
          : [
              `(SELECT m.* FROM :s.messages m WHERE m.recipient BETWEEN $5 AND $6 AND ${ofProject}
                 AND EXISTS (SELECT FROM :s.verifications v WHERE v.message = m.seq)) m`,
              numbers,
            ];
      const [row] = await database.query<{ wait: number }>(
        `SELECT (least(m.created_at, at) + $3::bigint - at) AS wait FROM ${from}, :s.time_1($2::bigint) AS at
         WHERE ${ofProject} AND m.created_at > at - $3::bigint
         ORDER BY m.created_at DESC LIMIT 1 OFFSET $4::int`,
        [projectId, database.now(), windowMs, most - 1, ...values],
      );
      return row?.wait ?? null;
    },
    async getHistory(projectId, messageId): Promise<MessageHistory | null> {
      const [row] = await database.query<HistoryRow>(
        `SELECT m.seq, m.route, m.attempts % ${attemptsARelease} AS attempts, m.tried, c.seq AS content, c.text, c.html, c.subject, c.sender, c.reply_to, c.encrypted, c.is_bulk
         FROM :s.messages m LEFT JOIN :s.contents c ON c.seq = m.content WHERE m.${ofProject} AND m.id = $2`,
        [projectId, messageId],
      );
      if (row === undefined) return null;
      const { seq, route, attempts } = row;
      const receipts = await database.query<MessageHistory['receipts'][0]>(
        `SELECT carrier_id AS "carrierId", state, received_at AS "receivedAt" FROM :s.receipts
         WHERE message = $1 AND state IS NOT NULL ORDER BY received_at, carrier_id`,
        [seq],
      );
      const [refund] = await database.query<{ amount: number; createdAt: number }>(
        `SELECT amount, created_at AS "createdAt" FROM :s.ledger WHERE reason = 'refund' AND subject_id = $1`,
        [messageId],
      );
      const content = row.content === null ? null : toContent(row);
      return { content, route, attempts, tried: row.tried ?? [], receipts, refund: refund ?? null };
    },
  };
}
