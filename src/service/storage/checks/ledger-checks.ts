import type { Check } from './mismatches.js';

const linesOf = (...reasons: string[]) => `(SELECT project, subject_id, sum(amount) AS amount FROM ledger
  WHERE reason IN (${reasons.map((reason) => `'${reason}'`).join(', ')}) GROUP BY project, subject_id)`;

/** Entries of a reason whose subject is missing in `table`. */
const missing = (reason: string, problem: string, table: string): Check => ({
  check: 'ledger',
  sql: `SELECT l.subject_id AS subject, '${problem}, which is missing' AS problem FROM ledger l
    WHERE l.reason = '${reason}'
      AND NOT EXISTS (SELECT 1 FROM ${table} s WHERE s.id = l.subject_id AND s.project = l.project)`,
});

/** Checks each ledger entry against what it paid for. A failed message costs nothing: its refund equals its charge. */
export const ledgerChecks: readonly Check[] = [
  missing('message', 'it paid for a message', 'messages'),
  missing('verification', 'it paid for a verification', 'verifications'),
  missing('batch', 'it paid for a batch', 'batches'),
  missing('refund', 'it refunded a message', 'messages'),
  {
    check: 'ledger',
    sql: `SELECT m.id AS subject, 'it costs ' || m.credits || ', its ledger says '
        || (0 - coalesce(p.amount, 0) - coalesce(r.amount, 0)) AS problem
      FROM messages m LEFT JOIN verifications v ON v.message = m.seq
        LEFT JOIN ${linesOf('message', 'verification')} p ON p.project = m.project AND p.subject_id = coalesce(v.id, m.id)
        LEFT JOIN ${linesOf('refund')} r ON r.project = m.project AND r.subject_id = m.id
      WHERE m.batch IS NULL AND coalesce(p.amount, 0) + coalesce(r.amount, 0) <> 0 - m.credits`,
  },
  {
    check: 'ledger',
    sql: `SELECT b.id AS subject, 'it costs ' || b.credits || ', its ledger says ' || (0 - coalesce(p.amount, 0)) AS problem
      FROM batches b LEFT JOIN ${linesOf('batch')} p ON p.project = b.project AND p.subject_id = b.id
      WHERE coalesce(p.amount, 0) <> 0 - b.credits`,
  },
  {
    check: 'ledger',
    sql: `SELECT m.id AS subject, CASE
          WHEN m.credits <> CASE WHEN m.status = 'failed' THEN 0 ELSE b.credits / b.total END
            THEN 'it costs ' || m.credits || ', each of its batch ' || (b.credits / b.total)
          ELSE 'it costs ' || m.credits || ', and ' || coalesce(r.amount, 0) || ' was refunded' END AS problem
      FROM messages m JOIN batches b ON b.seq = m.batch
        LEFT JOIN ${linesOf('refund')} r ON r.project = m.project AND r.subject_id = m.id
      WHERE m.credits <> CASE WHEN m.status = 'failed' THEN 0 ELSE b.credits / b.total END
        OR coalesce(r.amount, 0) <> CASE WHEN m.status = 'failed' THEN b.credits / b.total ELSE 0 END`,
  },
];
