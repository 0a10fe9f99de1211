import type { MessageStatus } from '../../../contract/index.js';
import {
  type CountedVerifications,
  countedAtOnce,
  countInParts,
  type Insights,
  lookedAt,
  type MessageHistory,
} from '../insights.js';
import { type ContentRow, type StoredTried, toContent, triedOf } from '../shared/rows.js';
import { ofProject } from './pages.js';
import type { Sql } from './sql.js';

interface CountRow {
  slot: number;
  status: MessageStatus;
  error_code: string | null;
  count: number;
  unknown: number;
  oldest: number;
  is_since: boolean | number;
}

interface HistoryRow extends ContentRow {
  seq: number;
  route: string | null;
  attempts: number;
  tried: StoredTried;
  content: number | null;
}

/** Reads for people. */
export function createInsights(sql: Sql): Insights {
  return {
    countMessages: (projectId, since, step) =>
      // Some rows, newest first, until they are older than `since`.
      countInParts(async (before) => {
        const rows = await sql.read<CountRow>(
          `SELECT created_at >= :since AS is_since,
             CAST(:greatest(0, (created_at - :since::bigint) / :step::bigint) AS bigint) AS slot, status, error_code,
             count(*) AS count, count(*) FILTER (WHERE delivery = 'unknown') AS unknown, min(seq) AS oldest
           FROM (SELECT seq, created_at, status, error_code, delivery FROM :s.messages :byProject
             WHERE ${ofProject} AND seq < :before AND seq >= :firstInTime
             ORDER BY seq DESC LIMIT ${countedAtOnce}) newest
           GROUP BY 1, 2, 3, 4`,
          { projectId, since, until: null, step, before: before ?? Number.MAX_SAFE_INTEGER },
        );
        const looked = rows.reduce((sum, { count }) => sum + count, 0);
        const counts = rows
          .filter((row) => row.is_since)
          .map(({ is_since: _, oldest: __, error_code: errorCode, ...row }) => ({ ...row, errorCode }));
        const isOver = looked < countedAtOnce || counts.length === 0;
        return { counts, next: isOver ? null : Math.min(...rows.map(({ oldest }) => oldest)) };
      }),
    async countWaiting(projectId) {
      const [row] = await sql.read<{ seen: number; waiting: number; age: number | null }>(
        `SELECT count(*) AS seen, count(*) FILTER (WHERE ${ofProject}) AS waiting,
           :now - min(created_at) FILTER (WHERE ${ofProject}) AS age
         FROM (SELECT project, created_at FROM :waiting) w`,
        { projectId, lookedAt },
      );
      const { seen = 0, waiting = 0, age = null } = row ?? {};
      return { count: waiting, oldestMs: age === null ? null : Math.max(0, age), isWhole: seen < lookedAt };
    },
    async countVerifications(projectId, since) {
      const [row] = await sql.read<CountedVerifications>(
        `SELECT count(*) AS created, count(*) FILTER (WHERE status = 'verified') AS verified
         FROM :s.verifications :byProjectOfVerification WHERE ${ofProject} AND created_at >= :since`,
        { projectId, since },
      );
      return row ?? { created: 0, verified: 0 };
    },
    async verificationWait(projectId, { most, windowMs, numbers }) {
      const [first, last] = numbers ?? [null, null];
      const from =
        numbers === null
          ? `:s.verifications :byProjectOfVerification WHERE ${ofProject}`
          : `:s.messages m :byRecipient WHERE ${ofProject} AND m.recipient BETWEEN :first AND :last
             AND EXISTS (SELECT 1 FROM :s.verifications v WHERE v.message = m.seq)`;
      const [row] = await sql.read<{ time: number; now: number }>(
        `SELECT created_at AS time, :now AS now FROM ${from} AND created_at > :now - :windowMs::bigint
         ORDER BY created_at DESC LIMIT 1 OFFSET :passed`,
        { projectId, first, last, windowMs, passed: most - 1 },
      );
      return row === undefined ? null : Math.min(row.time, row.now) + windowMs - row.now;
    },
    async getHistory(projectId, messageId) {
      const [row] = await sql.read<HistoryRow>(
        `SELECT m.seq, m.route, :attempts AS attempts, m.tried, c.seq AS content, c.text, c.html, c.subject, c.sender,
           c.reply_to, :encrypted AS encrypted, c.is_bulk
         FROM :s.messages m LEFT JOIN :s.contents c ON c.seq = m.content WHERE m.${ofProject} AND m.id = :messageId`,
        { projectId, messageId },
      );
      if (row === undefined) return null;
      const { seq, route, attempts, tried } = row;
      const receipts = await sql.read<MessageHistory['receipts'][0]>(
        `SELECT carrier_id AS "carrierId", state, code, received_at AS "receivedAt" FROM :s.receipts
         WHERE message = :seq AND state IS NOT NULL ORDER BY received_at, carrier_id`,
        { seq },
      );
      const [refund] = await sql.read<{ amount: number; createdAt: number }>(
        `SELECT amount, created_at AS "createdAt" FROM :s.ledger WHERE reason = 'refund' AND subject_id = :messageId`,
        { messageId },
      );
      return {
        content: row.content === null ? null : toContent(row),
        ...{ route, attempts, receipts },
        tried: triedOf(tried),
        refund: refund ?? null,
      };
    },
    async isKeyedBetween(projectId, id, [first, last]) {
      const found = await sql.read(
        `SELECT 1 FROM :s.idempotency WHERE ${ofProject} AND key >= :first AND key <= :last
         AND replace(body, :answer, '') <> body LIMIT 1`,
        { projectId, first, last, answer: `"id":"${id}"` },
      );
      return found.length > 0;
    },
  };
}
