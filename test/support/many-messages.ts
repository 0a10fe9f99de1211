import { join } from 'node:path';
import { openOutboxDatabase } from '../../src/service/carriers/simulated/sqlite-outbox.js';
import { openDatabase } from '../../src/service/storage/sqlite/database/open.js';
import { migrations } from '../../src/service/storage/sqlite/schema/schema.js';
import { query } from './postgres.js';

/** Messages of one batch, of one content, and of each tenth group that are single ones. */
const perBatch = 1_000;

export interface Many {
  messages: number;
  /** When the day began, and now: nearly half of them are of today. Milliseconds since 1970. */
  day: number;
  now: number;
}

/** What the engines spell differently. */
interface Spelling {
  /** An id of the table with this number, made of a row number. */
  id(table: number, row: string): string;
  /** Columns that it alone has, with their values. */
  batches: Readonly<Record<string, string>>;
  messages: Readonly<Record<string, string>>;
}

const isWaiting = ({ messages }: Many) => `i > ${Math.ceil(messages * 0.97)}`;

/** Of the first project. A bounce is the rarest, and far behind; the newest wait, and are not due. */
function statements(many: Many, spelling: Spelling): { store: string[]; outbox: string } {
  const { messages, day, now } = many;
  const older = Math.floor(messages * 0.55);
  const month = day - 30 * 86_400_000;
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const insert = (table: string, columns: Readonly<Record<string, string>>, from: string) =>
    `INSERT INTO ${table} (${Object.keys(columns)}) ${from.replace('*', Object.values(columns).join(', '))};`;
  const createdAt = `CASE WHEN i <= ${older} THEN ${month} + i * ${day - month} / ${older}
    ELSE ${day} + (i - ${older}) * ${now - day} / ${messages - older} END`;
  const isEmail = 'i % 100 = 7';
  const isOpen = isWaiting(many);
  const isFailed = `i % 200 = 13 AND NOT ${isOpen}`;
  const group = `(i - 1) / ${perBatch} + 1`;
  const isSingle = (number: string) => `(${number}) % 10 = 0`;
  const groups = messages / perBatch;
  const firstOf = `(i - 1) * ${perBatch} + 1`;
  const createdOf = createdAt.replaceAll(/\bi\b/g, `(${firstOf})`);
  return {
    store: [
      insert(
        'contents',
        { seq: 'i', text: `'Таны захиалга № ' || i || ' бэлэн боллоо.'` },
        `${numbers(groups)} SELECT * FROM n`,
      ),
      insert(
        'batches',
        {
          ...{ seq: 'i', id: spelling.id(1, 'i'), project: '1', channel: `'sms'`, total: `${perBatch}` },
          ...{ sent: '995', failed: '5', credits: '10000', created_at: createdOf, completed_at: createdOf },
          ...spelling.batches,
        },
        `${numbers(groups)} SELECT * FROM n WHERE NOT ${isSingle('i')}`,
      ),
      insert(
        'messages',
        {
          ...{
            seq: 'i',
            id: spelling.id(0, 'i'),
            project: '1',
            content: group,
            parts: '1',
            rate_multiplier: '1',
          },
          batch: `CASE WHEN NOT ${isSingle(group)} THEN ${group} END`,
          channel: `CASE WHEN ${isEmail} THEN 'email' ELSE 'sms' END`,
          recipient: `CASE WHEN ${isEmail} THEN 'person' || i || '@example.mn'
            ELSE CAST(99000000 + i * 7919 % 900000 AS text) END`,
          operator: `CASE WHEN ${isEmail} THEN NULL ELSE 'Mobicom' END`,
          status: `CASE WHEN ${isOpen} THEN 'queued' WHEN ${isFailed} THEN 'failed' ELSE 'sent' END`,
          credits: `CASE WHEN ${isFailed} THEN 0 ELSE 10 END`,
          error_code: `CASE WHEN ${isFailed} THEN 'provider_failed' END`,
          error_message: `CASE WHEN ${isFailed} THEN 'The carrier refused the message' END`,
          created_at: createdAt,
          sent_at: `CASE WHEN NOT (${isOpen} OR ${isFailed}) THEN ${createdAt} END`,
          refunded: isFailed,
          lane: `CASE WHEN ${isEmail} THEN 'email' ELSE 'sms' END`,
          route: `CASE WHEN NOT (${isOpen} OR ${isFailed}) THEN 'Mobicom' END`,
          attempts: '1',
          delivery: `CASE WHEN ${isOpen} OR ${isFailed} THEN NULL
            WHEN ${isEmail} AND i % 1000 = 7 AND i < ${messages / 50} THEN 'bounced'
            WHEN i % ${messages / 4} = 1 THEN 'unknown' WHEN i % 5000 = 11 THEN 'undelivered'
            WHEN i % 3 = 0 THEN 'delivered' END`,
          ...spelling.messages,
        },
        `${numbers(messages)} SELECT * FROM n ORDER BY i`,
      ),
      insert(
        'ledger',
        {
          ...{ project: '1', amount: '-10000', reason: `'batch'` },
          ...{ subject_id: spelling.id(1, 'i'), created_at: createdOf },
        },
        `${numbers(groups)} SELECT * FROM n WHERE NOT ${isSingle('i')}`,
      ),
      insert(
        'ledger',
        {
          ...{ project: '1', amount: '-10', reason: `'message'` },
          ...{ subject_id: spelling.id(0, 'i'), created_at: createdAt },
        },
        `${numbers(messages)} SELECT * FROM n WHERE ${isSingle(group)} ORDER BY i`,
      ),
    ],
    outbox: insert(
      'deliveries',
      {
        ...{ reference: spelling.id(0, 'i'), channel: `'sms'`, recipient: `'99112233'`, route: `'Mobicom'` },
        ...{ text: `'Таны захиалга бэлэн боллоо.'`, delivered_at: createdAt },
      },
      `${numbers(messages)} SELECT * FROM n WHERE NOT ${isOpen} AND NOT ${isFailed} AND i > ${messages * 0.8}`,
    ),
  };
}

/** Into the folder of a service that is closed. */
export async function fillSqlite(folder: string, many: Many): Promise<void> {
  const later = many.now + 86_400_000;
  const { store, outbox } = statements(many, {
    id: (table, row) => `printf('%08x-000${table}-7000-8000-%012x', ${row}, ${row})`,
    batches: { first_message: `(i - 1) * ${perBatch} + 1` },
    messages: { due_at: `CASE WHEN ${isWaiting(many)} THEN ${later} END` },
  });
  const blocks = `INSERT INTO message_blocks SELECT (seq - 1) / 1024 AS block, min(created_at), max(created_at)
    FROM messages GROUP BY block HAVING block < (SELECT max(seq) FROM messages) / 1024;`;
  const main = await openDatabase(join(folder, 'service.db'), { synchronous: 'off', migrations });
  main.exec(['BEGIN;', ...store, blocks, 'COMMIT;'].join('\n'));
  main.close();
  const operator = await openOutboxDatabase(join(folder, 'operator.db'));
  operator.exec(outbox);
  operator.close();
}

/** Into the database of a service that is closed. */
export async function fillPostgres(database: string, many: Many): Promise<void> {
  const hex = (row: string, length: number) => `lpad(to_hex(${row}), ${length}, '0')`;
  const { store, outbox } = statements(many, {
    id: (table, row) => `${hex(row, 8)} || '-000${table}-7000-8000-' || ${hex(row, 12)}`,
    batches: {},
    messages: { counts_at: '0', bound_at: '9000000000000' },
  });
  const later = many.now + 86_400_000;
  await query(
    database,
    [
      'SET statement_timeout = 0;',
      ...store,
      outbox,
      `INSERT INTO queue (lane, class, due_at, message, queued_at, bound_at)
       SELECT lane, CASE WHEN batch IS NULL THEN 0 ELSE 1 END, ${later}, seq, created_at, bound_at
       FROM (SELECT *, seq AS i FROM messages) m WHERE ${isWaiting(many)};`,
      ...['messages', 'batches', 'contents'].map(
        (table) => `SELECT setval('${table}_seq_seq', (SELECT max(seq) FROM ${table}));`,
      ),
    ].join('\n'),
  );
  // What its own vacuum does a minute later.
  await query(database, 'VACUUM ANALYZE');
}
