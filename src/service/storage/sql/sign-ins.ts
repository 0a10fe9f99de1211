import { clockTolerance } from '../shared/clock-tolerance.js';
import type { SignInRecord, SignIns } from '../store.js';
import { query, type Sql, type Transaction } from './sql.js';

/** A sign-in that lasts longer than allowed has expired: the clock was set back. */
export const isGood = `until > :now AND until <= :now + length + ${clockTolerance}`;

/** Sign-ins to the dashboard, for all processes. None is of use in a copy: a link may have been used since. */
export function createSignIns(sql: Sql): SignIns {
  function* add(
    projectId: string,
    isLink: boolean,
    { hash, lifeMs }: { hash: Uint8Array; lifeMs: number },
  ): Transaction<void> {
    yield* query(`DELETE FROM :s.sign_ins WHERE NOT (${isGood})`);
    yield* query(
      `INSERT INTO :s.sign_ins (hash, project, is_link, length, until)
       SELECT :hash::bytea, seq, :isLink::boolean, :lifeMs::bigint, :now + :lifeMs::bigint
       FROM :s.projects WHERE id = :projectId`,
      { hash, projectId, isLink, lifeMs },
    );
  }

  return {
    addSignInLink: (link) => sql.transact(() => add(link.projectId, true, link)),
    openSession: (link, session) =>
      sql.transact(function* () {
        const [used] = yield* query<{ project: string }>(
          `DELETE FROM :s.sign_ins WHERE hash = :link AND is_link AND ${isGood} AND :isAtHome
           RETURNING (SELECT id FROM :s.projects p WHERE p.seq = project) AS project`,
          { link },
        );
        if (used === undefined) return null;
        yield* add(used.project, false, session);
        return used.project;
      }),
    async findSession(hash) {
      const [found] = await sql.read<{ id: string }>(
        `SELECT id FROM :s.projects WHERE seq = (
           SELECT project FROM :s.sign_ins WHERE hash = :hash AND NOT is_link AND ${isGood} AND :isAtHome)`,
        { hash },
      );
      return found?.id ?? null;
    },
    async endSession(hash) {
      await sql.write('DELETE FROM :s.sign_ins WHERE hash = :hash AND NOT is_link', { hash });
    },
    async listSignIns() {
      const rows = await sql.read<SignInRecord>(
        `SELECT :idOfSignIn AS id, (SELECT id FROM :s.projects p WHERE p.seq = project) AS "projectId",
           is_link AS "isLink", until - length AS "createdAt", until AS "expiresAt"
         FROM :s.sign_ins WHERE ${isGood} AND :isAtHome ORDER BY 4 DESC, 1`,
      );
      return rows.map((row) => ({ ...row, isLink: Boolean(row.isLink) }));
    },
    async endSignIns(id) {
      const ended = await sql.write(
        `DELETE FROM :s.sign_ins WHERE (:id::text IS NULL OR :idOfSignIn = :id::text) AND ${isGood} AND :isAtHome
         RETURNING project`,
        { id },
      );
      return ended.length;
    },
    async recordDashboard(url, publicUrl) {
      await sql.write(
        `INSERT INTO :s.dashboard (one, url, public_url) VALUES (1, :url, :publicUrl)
         ON CONFLICT (one) DO UPDATE SET url = excluded.url,
           public_url = coalesce(excluded.public_url, dashboard.public_url) :putInPlace`,
        { url, publicUrl },
      );
    },
    async publicUrl() {
      // Also of a copy: its links are sealed by the same secret.
      const [row] = await sql.read<{ public_url: string | null }>('SELECT public_url FROM :s.dashboard');
      return row?.public_url ?? null;
    },
    async dashboardUrl() {
      const [row] = await sql.read<{ url: string }>('SELECT url FROM :s.dashboard WHERE :isInPlace');
      return row?.url ?? null;
    },
  };
}
