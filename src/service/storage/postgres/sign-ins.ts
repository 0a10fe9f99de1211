import type { SignInRecord, SignIns } from '../store.js';
import type { Database } from './database/database.js';
import { tolerance } from './schema/constants.js';

const idOfHash = "left(pg_catalog.encode(s.hash, 'hex'), 12)";
const isOpen = `s.until > at AND s.until <= at + s.length + ${tolerance} AND :s.is_of_home_1(s.home, s.written, s.xmin)`;

/** Sign-ins to the dashboard, for all instances. */
export function createSignIns(database: Database): SignIns {
  const first = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row | undefined> =>
    (await database.query<Row>(text, values))[0];

  return {
    async addSignInLink({ hash, projectId, lifeMs }) {
      await database.query(
        'SELECT :s.add_sign_in_1($1::bigint, $2::bytea, (SELECT seq FROM :s.projects WHERE id = $3), true, $4::bigint)',
        [database.now(), Buffer.from(hash), projectId, lifeMs],
      );
    },
    async openSession(link, { hash, lifeMs }) {
      const row = await first<{ project: string | null }>(
        'SELECT :s.open_session_1($1::bigint, $2::bytea, $3::bytea, $4::bigint) AS project',
        [database.now(), Buffer.from(link), Buffer.from(hash), lifeMs],
      );
      return row?.project ?? null;
    },
    async findSession(hash) {
      const row = await first<{ project: string | null }>(
        'SELECT :s.find_session_1($1::bigint, $2::bytea) AS project',
        [database.now(), Buffer.from(hash)],
      );
      return row?.project ?? null;
    },
    async endSession(hash) {
      await database.query('DELETE FROM :s.sign_ins WHERE hash = $1 AND NOT is_link', [Buffer.from(hash)]);
    },
    listSignIns: () =>
      database.query<SignInRecord>(
        `SELECT ${idOfHash} AS id, p.id AS "projectId", s.is_link AS "isLink", s.until - s.length AS "createdAt",
           s.until AS "expiresAt"
         FROM :s.sign_ins s JOIN :s.projects p ON p.seq = s.project, :s.time_1($1::bigint) AS at
         WHERE ${isOpen} ORDER BY 4 DESC, 1`,
        [database.now()],
      ),
    async endSignIns(id) {
      const ended = await database.query(
        `DELETE FROM :s.sign_ins s USING :s.time_1($1::bigint) AS at
         WHERE ($2::text IS NULL OR ${idOfHash} = $2::text) AND ${isOpen} RETURNING 1`,
        [database.now(), id],
      );
      return ended.length;
    },
    async recordDashboard(url) {
      await database.query(
        `INSERT INTO :s.dashboard (one, url) VALUES (1, $1)
        ON CONFLICT (one) DO UPDATE SET url = excluded.url, place = excluded.place, written = excluded.written`,
        [url],
      );
    },
    dashboardUrl: async () =>
      (await first<{ url: string | null }>('SELECT :s.dashboard_url_1() AS url'))?.url ?? null,
  };
}
