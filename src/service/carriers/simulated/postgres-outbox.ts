import { comparedRecipient } from '../../../contract/index.js';
import type { Database } from '../../storage/postgres/database/database.js';
import { orUnavailable } from '../../storage/postgres/database/failure.js';
import { Groups } from '../../storage/postgres/database/groups.js';
import type { Migrations } from '../../storage/postgres/database/migrate.js';
import { everyAttempt, type Submission } from '../carrier.js';
import { type DeliveryRow, toRecord } from './delivery-row.js';
import { type DeliveryRecord, type Outbox, type OutboxFilter, outboxDepth, outboxPage } from './outbox.js';
import schema from './postgres-outbox.sql' with { type: 'text' };

export const outboxMigrations: Migrations = {
  table: 'operator_schema',
  steps: [schema],
};

/** In the database of the store, but committed separately, as another company's would be. */
export function postgresOutbox(database: Database, report: (error: unknown) => void): Outbox {
  const deliveries = new Groups<Submission, boolean>(
    async (submissions) => {
      const items = submissions.map(({ to, from, replyTo, ...rest }) => ({
        ...rest,
        recipient: to,
        sender: from,
        reply_to: replyTo,
      }));
      const rows = await database.attempt<{ deliver_1: number }>(
        'SELECT :s.deliver_1($1::bigint, $2::json)',
        [database.now(), JSON.stringify(items)],
      );
      const delivered = new Set(rows.map(({ deliver_1: place }) => place));
      return submissions.map((_, index) => delivered.has(index + 1));
    },
    { isPatient: true },
  );

  const inquiries = new Groups<{ reference: string; before: number }, number | null>(
    async (asked) => {
      const rows = await database.attempt<{ place: number; age: number }>(
        'SELECT * FROM :s.ages_or_fence_1($1::bigint, $2::json)',
        [database.now(), JSON.stringify(asked)],
      );
      const ages = new Map(rows.map(({ place, age }) => [place, age]));
      return asked.map((_, index) => ages.get(index + 1) ?? null);
    },
    { isPatient: true },
  );

  /** Numbers are given out before they are committed: it waits for those under way, so that none appears below it. */
  function newest(): Promise<number> {
    return database.transact(async (send) => {
      await send('LOCK TABLE :s.fences IN SHARE MODE', []);
      const [row] = await send('SELECT coalesce(max(seq), 0) AS newest FROM :s.deliveries', []);
      return (row as { newest: number }).newest;
    });
  }

  async function* read(given: OutboxFilter): AsyncGenerator<DeliveryRecord> {
    const { limit, after, isNewestFirst = false } = given;
    const to = given.to === undefined ? null : comparedRecipient(given.to);
    const filter = '($1::text IS NULL OR lower(recipient) = $1)';
    const end = await newest();
    const [beyond, order] = isNewestFirst ? ['<', 'DESC'] : ['>', 'ASC'];
    const floor = isNewestFirst ? end - outboxDepth : 0;
    let last = isNewestFirst ? end + 1 : 0;
    if (after !== undefined) {
      const [row] = await database.query<{ last: number | null }>(
        'SELECT min(seq) AS last FROM :s.deliveries WHERE reference = $1',
        [after],
      );
      last = row?.last ?? end;
    }
    if (limit !== undefined) {
      // The sequence number before the newest of them.
      const [row] = await database.query<{ last: number | null }>(
        `SELECT min(seq) - 1 AS last FROM (SELECT seq FROM :s.deliveries WHERE ${filter} ORDER BY seq DESC LIMIT $2) newest`,
        [to, limit],
      );
      if (row === undefined || row.last === null) return;
      last = row.last;
    }
    for (;;) {
      const rows = await database.query<DeliveryRow>(
        `SELECT * FROM :s.deliveries WHERE seq ${beyond} $2 AND seq > $3 AND seq <= $4 AND ${filter}
         ORDER BY seq ${order} LIMIT ${outboxPage}`,
        [to, last, floor, end],
      );
      for (const row of rows) {
        yield toRecord(row);
        last = row.seq;
      }
      if (rows.length < outboxPage) return;
    }
  }

  return {
    deliver: (submission) => orUnavailable(deliveries.add(submission), report),
    ageOrFence: (reference, before) => orUnavailable(inquiries.add({ reference, before }), report),
    read,
    async find(messageIds) {
      const rows = await database.query<DeliveryRow>(
        'SELECT * FROM :s.deliveries WHERE reference = ANY ($1) ORDER BY seq',
        [messageIds],
      );
      return rows.map(toRecord);
    },
    async forget(messageIds) {
      await database.query('DELETE FROM :s.deliveries WHERE reference = ANY ($1)', [messageIds]);
    },
    async repeats() {
      const [row] = await database.query<{ repeats: number }>(
        'SELECT count(*) - pg_catalog.count(DISTINCT reference) AS repeats FROM :s.deliveries',
      );
      return row?.repeats ?? 0;
    },
    async isFirst(name) {
      const rows = await database.query(
        'INSERT INTO :s.first_names (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name',
        [name],
      );
      return rows.length === 1;
    },
    async reset() {
      // Fences for all attempts remain: a paused process may still submit one.
      await database.query(
        `WITH gone AS (DELETE FROM :s.deliveries), names AS (DELETE FROM :s.first_names)
         DELETE FROM :s.fences WHERE before < ${everyAttempt}`,
      );
    },
    // Its connections are closed with the store's.
    close: async () => {},
  };
}
