import { type AnswerDialect, answerCheck } from './answer-checks.js';
import { ledgerChecks } from './ledger-checks.js';
import type { Check } from './mismatches.js';

interface Dialect extends AnswerDialect {
  /** The condition that finds the messages of a batch. */
  inBatch: string;
}

/** The sums that hold on every engine. A pruned message has content 0 and no recipient. */
export const checksOf = ({ inBatch, ...answers }: Dialect): Check[] => [
  {
    check: 'ledger',
    sql: `SELECT p.id AS subject,
        'the balance is ' || p.balance || ', its ledger adds up to ' || coalesce(l.total, 0) AS problem
      FROM projects p LEFT JOIN (SELECT project, sum(amount) AS total FROM ledger GROUP BY project) l
        ON l.project = p.seq
      WHERE p.balance <> coalesce(l.total, 0)`,
  },
  ...ledgerChecks,
  {
    check: 'batch',
    sql: `SELECT b.id AS subject, 'it counts ' || b.sent || ' sent and ' || b.failed || ' failed of ' || b.total
        || ', its messages are ' || count(*) FILTER (WHERE m.status = 'sent') || ' and '
        || count(*) FILTER (WHERE m.status = 'failed') || ' of ' || count(m.seq) AS problem
      FROM batches b LEFT JOIN messages m ON ${inBatch}
      GROUP BY b.seq, b.id, b.sent, b.failed, b.total
      HAVING count(m.seq) <> b.total OR count(*) FILTER (WHERE m.status = 'sent') <> b.sent
        OR count(*) FILTER (WHERE m.status = 'failed') <> b.failed`,
  },
  {
    check: 'batch',
    sql: `SELECT m.id AS subject, 'its batch is missing' AS problem FROM messages m
      WHERE m.batch IS NOT NULL AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.seq = m.batch)`,
  },
  {
    check: 'content',
    sql: `SELECT m.id AS subject, 'its content is missing' AS problem FROM messages m
      WHERE CASE WHEN m.content = 0 THEN m.recipient <> '' OR m.status = 'queued'
        ELSE NOT EXISTS (SELECT 1 FROM contents c WHERE c.seq = m.content) END`,
  },
  answerCheck(answers),
  {
    check: 'answer',
    sql: `SELECT key AS subject, 'it waits for a message that is missing' AS problem FROM idempotency
      WHERE body IS NULL AND (project, key) NOT IN
        (SELECT project, pending_key FROM messages WHERE status = 'queued' AND pending_key IS NOT NULL)`,
  },
  {
    check: 'answer',
    sql: `SELECT v.id AS subject, 'its message is missing' AS problem FROM verifications v
      WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.seq = v.message)`,
  },
];

export const outboxCheck: Check = {
  check: 'outbox',
  sql: `SELECT reference AS subject, 'it was delivered ' || count(*) || ' times' AS problem
    FROM deliveries GROUP BY reference HAVING count(*) > 1`,
};
