import type { Check } from './mismatches.js';

/** SQL of an engine: a field of the column `body`, as text; null where there is none. */
export type BodyField = (...path: string[]) => string;

/** The id that an answer is about. */
export const answeredId = (field: BodyField) => `coalesce(${field('id')}, ${field('error', 'id')})`;

/** Each bound answer against what it is about. A message that was pruned has no recipient, nor has its answer. */
export function answerChecks(field: BodyField): Check[] {
  const answers = (id: string, fields: Record<string, string>) => `SELECT k.*, ${id} AS id,
    ${Object.entries(fields)
      .map(([name, value]) => `${value} AS said_${name}`)
      .join(', ')} FROM idempotency k WHERE body IS NOT NULL`;
  const single = answers(answeredId(field), {
    status: field('status'),
    recipient: field('to'),
    channel: field('channel'),
    credits: field('credits'),
    code: field('error', 'code'),
  });
  const batch = answers(field('id'), {
    channel: field('channel'),
    total: field('total'),
    credits: field('credits'),
  });
  return [
    {
      check: 'answer',
      sql: `SELECT * FROM (SELECT a.key AS subject, CASE
          WHEN a.project <> m.project THEN 'it answers for a message of another project'
          WHEN a.said_code IS NULL AND (a.status = 502 OR a.status <> CASE a.said_status WHEN 'sent' THEN 200 ELSE 202 END)
            OR a.said_code IS NOT NULL AND a.status < 400
            THEN 'it does not fit its message: ' || a.status || ' ' || coalesce(a.said_status, a.said_code)
          WHEN a.said_code IS NOT NULL AND (m.status <> 'failed' OR m.error_code <> a.said_code)
            THEN 'it does not fit its message: ' || a.said_code || ', which is ' || coalesce(m.error_code, m.status)
          WHEN a.said_status = 'sent' AND m.status <> 'sent'
            THEN 'it does not fit its message: sent, which is ' || m.status
          WHEN a.said_recipient NOT IN ('', m.recipient) AND m.recipient <> ''
            THEN 'it does not fit its message: another recipient'
          WHEN a.said_channel <> m.channel THEN 'it does not fit its message: ' || a.said_channel
          WHEN m.status <> 'failed' AND a.said_credits <> CAST(m.credits AS text)
            THEN 'it does not fit its message: ' || a.said_credits || ' credits, not ' || m.credits
        END AS problem
        FROM (${single}) a JOIN messages m ON m.id = a.id) found WHERE problem IS NOT NULL`,
    },
    {
      check: 'answer',
      sql: `SELECT * FROM (SELECT a.key AS subject, CASE
          WHEN a.project <> b.project THEN 'it answers for a batch of another project'
          WHEN a.said_total <> CAST(b.total AS text)
            THEN 'it does not fit its batch: ' || a.said_total || ' messages, not ' || b.total
          WHEN a.said_credits <> CAST(b.credits AS text)
            THEN 'it does not fit its batch: ' || a.said_credits || ' credits, not ' || b.credits
          WHEN a.said_channel <> b.channel OR a.status <> 202
            THEN 'it does not fit its batch: ' || a.status || ' ' || a.said_channel
        END AS problem
        FROM (${batch}) a JOIN batches b ON b.id = a.id) found WHERE problem IS NOT NULL`,
    },
  ];
}
