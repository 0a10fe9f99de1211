import type { SignIns } from '../store.js';
import type { Database } from './database/database.js';

/** Sign-ins to the dashboard, for all instances. */
export function createSignIns(database: Database): SignIns {
  const first = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row | undefined> =>
    (await database.query<Row>(text, values))[0];

  return {
    async addSignInLink({ hash, projectId, lifeMs }) {
      await database.query(
        'SELECT add_sign_in_1($1, $2, (SELECT seq FROM projects WHERE id = $3), true, $4)',
        [database.now(), Buffer.from(hash), projectId, lifeMs],
      );
    },
    async openSession(link, { hash, lifeMs }) {
      const row = await first<{ project: string | null }>(
        'SELECT open_session_1($1, $2, $3, $4) AS project',
        [database.now(), Buffer.from(link), Buffer.from(hash), lifeMs],
      );
      return row?.project ?? null;
    },
    async findSession(hash) {
      const row = await first<{ project: string | null }>('SELECT find_session_1($1, $2) AS project', [
        database.now(),
        Buffer.from(hash),
      ]);
      return row?.project ?? null;
    },
    async endSession(hash) {
      await database.query('DELETE FROM sign_ins WHERE hash = $1 AND NOT is_link', [Buffer.from(hash)]);
    },
    async recordDashboard(url) {
      await database.query(
        `INSERT INTO dashboard (one, url) VALUES (1, $1)
        ON CONFLICT (one) DO UPDATE SET url = excluded.url, place = excluded.place, written = excluded.written`,
        [url],
      );
    },
    dashboardUrl: async () =>
      (await first<{ url: string | null }>('SELECT dashboard_url_1() AS url'))?.url ?? null,
  };
}
