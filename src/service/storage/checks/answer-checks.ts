import type { Check } from './mismatches.js';

/** What engines write differently in the checks of answers. */
export interface AnswerDialect {
  /** A field of the column `body` as text; null if it is missing. */
  field(...path: string[]): string;
  /** The first message of the batch `b`. */
  firstMessage: string;
  /** A column of the table of keys, and whether it shows that a key was used for a message other than `about`. */
  used: string;
  isOfAnotherKey: string;
}

/** Why the answer of `a` does not match its message `m`. A pruned message and its answer have no recipient. */
const ofMessage = `CASE
  WHEN a.project <> m.project THEN 'it answers for a message of another project'
  WHEN a.error IS NULL AND (a.status = 502 OR a.status <> CASE a.outcome WHEN 'sent' THEN 200 ELSE 202 END)
    OR a.error IS NOT NULL AND a.status < 400
    THEN 'it does not fit its message: ' || a.status || ' ' || coalesce(a.outcome, a.error)
  WHEN a.error IS NOT NULL AND (m.status <> 'failed' OR m.error_code <> a.error)
    THEN 'it does not fit its message: ' || a.error || ', which is ' || coalesce(m.error_code, m.status)
  WHEN a.outcome = 'sent' AND m.status <> 'sent' THEN 'it does not fit its message: sent, which is ' || m.status
  WHEN a.recipient NOT IN ('', m.recipient) AND m.recipient <> ''
    THEN 'it does not fit its message: another recipient'
  WHEN a.channel <> m.channel THEN 'it does not fit its message: ' || a.channel
  WHEN m.status <> 'failed' AND a.credits <> CAST(m.credits AS text)
    THEN 'it does not fit its message: ' || a.credits || ' credits, not ' || m.credits END`;

/** Why the answer of `a` does not match its batch `b`. */
const ofBatch = `CASE
  WHEN a.project <> b.project THEN 'it answers for a batch of another project'
  WHEN a.total <> CAST(b.total AS text)
    THEN 'it does not fit its batch: ' || a.total || ' messages, not ' || b.total
  WHEN a.credits <> CAST(b.credits AS text)
    THEN 'it does not fit its batch: ' || a.credits || ' credits, not ' || b.credits
  WHEN a.channel <> b.channel OR a.status <> 202
    THEN 'it does not fit its batch: ' || a.status || ' ' || a.channel END`;

/** Checks each bound answer against what it is about, in one pass: there are as many answers as messages. */
export const answerCheck = ({ field, firstMessage, used, isOfAnotherKey }: AnswerDialect): Check => ({
  check: 'answer',
  sql: `SELECT subject, problem FROM (
    SELECT subject, CASE WHEN ${isOfAnotherKey} THEN 'it answers for a message of another key' ELSE problem END AS problem
    FROM (
      SELECT a.key AS subject, a.used, coalesce(m.seq, ${firstMessage}) AS about, CASE
        WHEN m.seq IS NOT NULL THEN ${ofMessage}
        WHEN b.seq IS NOT NULL THEN ${ofBatch}
        WHEN NOT EXISTS (SELECT 1 FROM verifications v WHERE v.id = a.id)
          THEN 'it answers with ' || a.id || ', which is missing' END AS problem
      FROM (
        SELECT key, project, ${used} AS used, status, coalesce(${field('id')}, ${field('error', 'id')}) AS id,
          ${field('status')} AS outcome, ${field('to')} AS recipient, ${field('channel')} AS channel,
          ${field('credits')} AS credits, ${field('error', 'code')} AS error, ${field('total')} AS total
        FROM idempotency WHERE body IS NOT NULL) a
      LEFT JOIN messages m ON m.id = a.id LEFT JOIN batches b ON m.seq IS NULL AND b.id = a.id
      WHERE a.id IS NOT NULL) compared) found
  WHERE problem IS NOT NULL`,
});
