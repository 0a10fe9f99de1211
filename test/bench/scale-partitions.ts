import { systemClock } from '../../src/service/clock.js';
import { openPostgresStorage } from '../../src/service/storage/postgres/postgres-storage.js';
import { query } from '../support/postgres.js';
import type { Row } from './pairs.js';
import { secret } from './postgres-callers.js';

const messages = 1_200_000;
const months = 12;
const added = 100_000;
const lookUps = 20_000;
const month = 30 * 86_400_000;

/** The time of an id stands in its first 12 digits: ids of a month are neighbours, and find their partition. */
const idAt = (ms: string, tail: string) =>
  `regexp_replace(lpad(to_hex(${ms}), 12, '0'), '^(.{8})', '\\1-') || '-7000-8000-' || lpad(to_hex(${tail}), 12, '0')`;
const bound = (ms: number) => {
  const digits = ms.toString(16).padStart(12, '0');
  return `'${digits.slice(0, 8)}-${digits.slice(8)}'`;
};

/** The indexes of `messages`, on each partition; what is unique is the id. */
const indexes = [
  '(seq)',
  '(project, recipient, counts_at)',
  '(project, seq DESC)',
  '(batch, seq) WHERE batch IS NOT NULL',
];

const rowsFrom = (first: number, count: number, start: number, length: number) =>
  `SELECT i, ${idAt(`${start}::bigint + (i - ${first}) * ${length}::bigint / ${count}`, 'i')}, 1, 0, 'sms',
     (88000000 + i * 7919993 % 10900000)::text, 'Mobicom', 'sent', 1, 1, 1, 0, 0, 'sms', 0
   FROM generate_series(${first}::bigint, ${first + count - 1}) i`;
const columns =
  'seq, id, project, content, channel, recipient, operator, status, parts, rate_multiplier, credits, created_at, counts_at, lane, bound_at';

/** A copy of a year's messages in one table for each month, against the table as it is. */
export async function partitions(database: string): Promise<Row[]> {
  const storage = await openPostgresStorage({ url: database, secret, clock: systemClock, report() {} });
  await storage.close();
  const start = 1_700_000_000_000;
  const run = (text: string) => query(database, `SET statement_timeout = 0; ${text}`);
  const timed = async (text: string) => {
    await query(database, 'CHECKPOINT');
    const began = performance.now();
    await run(text);
    return performance.now() - began;
  };
  await run(`INSERT INTO messages (${columns}) ${rowsFrom(1, messages, start, months * month)}`);
  await run(
    `CREATE TABLE parted (LIKE messages INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY RANGE (id);
     ${Array.from(
       { length: months + 1 },
       (_, index) =>
         `CREATE TABLE parted_${index} PARTITION OF parted
          FOR VALUES FROM (${bound(start + index * month)}) TO (${bound(start + (index + 1) * month)}) WITH (fillfactor = 45);`,
     ).join('')}
     ALTER TABLE parted ADD UNIQUE (id);
     ${indexes.map((index) => `CREATE INDEX ON parted ${index};`).join('')}
     INSERT INTO parted (${columns}) SELECT ${columns} FROM messages;
     ANALYZE messages, parted`,
  );
  const lookUp = (table: string) =>
    `DO $$ DECLARE one text; BEGIN
       FOR one IN SELECT ${idAt(`${start}::bigint + (i - 1) * ${months * month}::bigint / ${messages}`, 'i')}
         FROM (SELECT 1 + n * 7919::bigint % ${messages} AS i FROM generate_series(1, ${lookUps}) n) AS wanted LOOP
         PERFORM 1 FROM ${table} WHERE id = one;
         IF NOT FOUND THEN RAISE 'it is not there: %', one; END IF;
       END LOOP; END $$`;
  const both = async (textOf: (table: string) => string, count: number) => {
    const [parted, whole] = [await timed(textOf('parted')), await timed(textOf('messages'))];
    const each = (ms: number) => `${((ms * 1_000) / count).toFixed(1)} us`;
    return `${(parted / whole).toFixed(2)} (${each(parted)} to ${each(whole)})`;
  };
  const more = rowsFrom(messages + 1, added, start + months * month, month);
  const inserted = await both((table) => `INSERT INTO ${table} (${columns}) ${more}`, added);
  const found = await both(lookUp, lookUps);
  const dropped = await timed('ALTER TABLE parted DETACH PARTITION parted_0; DROP TABLE parted_0');
  const deleted = await timed(`DELETE FROM messages WHERE id < ${bound(start + month)}`);
  const row = (what: string, measured: string): Row => ({
    ...{
      what: `messages by month: ${what}`,
      against: `one table of ${messages}`,
      goal: 'none set',
      measured,
    },
    met: true,
  });
  return [
    row('a row more', inserted),
    row('a message by its id', found),
    row(`erasing a month of ${messages / months}`, `${dropped.toFixed(0)} ms to ${deleted.toFixed(0)} ms`),
  ];
}
