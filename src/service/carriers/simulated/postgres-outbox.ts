import type { Database } from '../../storage/postgres/database/database.js';
import { orUnavailable } from '../../storage/postgres/database/failure.js';
import { Groups } from '../../storage/postgres/database/groups.js';
import type { Migrations } from '../../storage/postgres/database/migrate.js';
import { postgresSql } from '../../storage/postgres/database/sql.js';
import { createLost } from '../../storage/postgres/lost-commits.js';
import type { Submission } from '../carrier.js';
import type { Outbox } from './outbox.js';
import schema from './postgres-outbox.sql' with { type: 'text' };
import { sqlOutbox } from './sql-outbox.js';

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

  const own = {
    deliver: (submission: Submission) => orUnavailable(deliveries.add(submission), report),
    ageOrFence: (reference: string, before: number) =>
      orUnavailable(inquiries.add({ reference, before }), report),
    newest,
    // Its connections are closed with the store's.
    close: async () => {},
  };
  const names = { fences: 'fences', firsts: 'first_names', name: 'name' };
  return sqlOutbox(postgresSql(database, createLost(database, report)), names, own);
}
