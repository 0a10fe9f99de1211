import { checksOf, outboxCheck } from '../checks/checks.js';
import type { Check, Mismatch } from '../checks/mismatches.js';
import { isSecretOf } from '../shared/secret.js';
import { destroy, newClient } from './database/connection.js';
import { checkSchema, type Migrations } from './database/migrate.js';
import { beginIn, type DatabasePlace } from './database/own-schema.js';
import { migrations } from './schema/migrations.js';

const checks: Check[] = [
  ...checksOf({
    inBatch: 'm.batch = b.seq',
    field: (...path) => `(body::json #>> '{${path.join(',')}}')`,
    firstMessage: '(SELECT min(f.seq) FROM messages f WHERE f.batch = b.seq)',
    used: 'message',
    isOfAnotherKey: 'used <> about',
  }),
  {
    check: 'batch',
    sql: `SELECT m.id AS subject, 'it is listed as unknown, and is not' AS problem
      FROM unknown_deliveries u LEFT JOIN messages m ON m.seq = u.message AND m.batch = u.batch
      WHERE m.delivery IS DISTINCT FROM 'unknown'
      UNION ALL
      SELECT m.id, 'its delivery is unknown, and is not listed' FROM messages m
      WHERE m.delivery = 'unknown' AND m.batch IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM unknown_deliveries u WHERE u.batch = m.batch AND u.message = m.seq)`,
  },
  {
    check: 'lease',
    sql: `SELECT m.id AS subject, 'it waits for nothing, and would never be sent' AS problem FROM messages m
      WHERE m.status = 'queued' AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.message = m.seq)
        AND NOT EXISTS (SELECT 1 FROM (SELECT unnest(messages) AS seq FROM leases) l WHERE l.seq = m.seq)`,
  },
  {
    check: 'lease',
    sql: `SELECT m.id AS subject, 'it has ended, and is still waiting' AS problem FROM queue q
      JOIN messages m ON m.seq = q.message WHERE m.status <> 'queued'`,
  },
  {
    check: 'lease',
    sql: `SELECT l.token AS subject, 'it has a message that is missing or has ended' AS problem FROM leases l
      WHERE l.messages = '{}' OR EXISTS (SELECT 1 FROM unnest(l.messages) AS s(seq)
        WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.seq = s.seq AND m.status = 'queued'))`,
  },
  outboxCheck,
];

const rowsAtOnce = 1_000;

/** Lists everything that is wrong with a database, in one snapshot, beside instances that use it. */
export async function* verifyDatabase(
  place: DatabasePlace,
  secret: Uint8Array,
  carrierMigrations: Migrations,
): AsyncGenerator<Mismatch> {
  const schema = await checkSchema(place, [migrations, carrierMigrations]);
  const client = newClient(place.url, false);
  client.on('error', () => {});
  await client.connect();
  try {
    await beginIn(client, schema);
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query<{ id: string; secret_fingerprint: Buffer }>(
      'SELECT * FROM installation',
    );
    const [installation] = rows;
    if (installation === undefined || !isSecretOf(installation.secret_fingerprint, secret)) {
      const subject = installation?.id ?? 'installation';
      yield { check: 'files', subject, problem: 'it belongs to another secret' };
    }
    for (const { check, sql } of checks) {
      await client.query(`DECLARE mismatches CURSOR FOR ${sql}`);
      for (;;) {
        const page = await client.query<Omit<Mismatch, 'check'>>(`FETCH ${rowsAtOnce} FROM mismatches`);
        for (const row of page.rows) yield { check, ...row };
        if (page.rows.length < rowsAtOnce) break;
      }
      await client.query('CLOSE mismatches');
    }
    await client.query('COMMIT');
  } finally {
    destroy(client);
  }
}
