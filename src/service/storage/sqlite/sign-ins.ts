import type { Instant } from '../records.js';
import type { SignInRecord, SignIns } from '../store.js';
import { clockTolerance } from './clock-tolerance.js';
import type { Database } from './database/database.js';
import { prepareOnce } from './database/prepare-once.js';
import type { Projects } from './projects.js';

type Sync<Part> = {
  [Name in keyof Part]: Part[Name] extends (...given: infer Given) => Promise<infer Result>
    ? (...given: Given) => Result
    : never;
};

interface SignInRow {
  id: string;
  project: number;
  is_link: number;
  created_at: number;
  until: number;
}

const idOfHash = 'lower(substr(hex(hash), 1, 12))';

/** A sign-in that lasts longer than allowed has expired: the clock was set back. */
const isGood = `until > :now AND until <= :now + length + ${clockTolerance}`;

const toSignIn = ({ id, is_link, created_at, until }: SignInRow, projectId: string): SignInRecord => ({
  id,
  projectId,
  isLink: is_link === 1,
  createdAt: created_at,
  expiresAt: until,
});

export function removeEndedSignIns(database: Database, now: Instant): void {
  database.prepare(`DELETE FROM sign_ins WHERE NOT (${isGood})`).run({ now });
}

/** Sign-ins to the dashboard. The functions write inside their caller's transaction. */
export function prepareSignIns(database: Database, projects: Projects, now: () => Instant): Sync<SignIns> {
  const prepared = prepareOnce(database);

  function add(hash: Uint8Array, project: number, isLink: 0 | 1, length: number): void {
    removeEndedSignIns(database, now());
    prepared('INSERT INTO sign_ins (hash, project, is_link, length, until) VALUES (?, ?, ?, ?, ?)').run(
      hash,
      project,
      isLink,
      length,
      now() + length,
    );
  }

  return {
    addSignInLink: ({ hash, projectId, lifeMs }) => add(hash, projects.numberOf(projectId), 1, lifeMs),
    openSession(link, session) {
      const used = prepared(
        `DELETE FROM sign_ins WHERE hash = :hash AND is_link = 1 AND ${isGood} RETURNING project`,
      ).get({ hash: link, now: now() }) as { project: number } | undefined;
      if (used === undefined) return null;
      add(session.hash, used.project, 0, session.lifeMs);
      return projects.idOf(used.project);
    },
    findSession(hash) {
      const found = prepared(
        `SELECT project FROM sign_ins WHERE hash = :hash AND is_link = 0 AND ${isGood}`,
      ).get({ hash, now: now() }) as { project: number } | undefined;
      return found === undefined ? null : projects.idOf(found.project);
    },
    endSession(hash) {
      prepared('DELETE FROM sign_ins WHERE hash = ? AND is_link = 0').run(hash);
    },
    listSignIns: () =>
      (
        prepared(
          `SELECT ${idOfHash} AS id, project, is_link, until - length AS created_at, until FROM sign_ins
           WHERE ${isGood} ORDER BY created_at DESC, id`,
        ).all({ now: now() }) as unknown as SignInRow[]
      ).map((row) => toSignIn(row, projects.idOf(row.project))),
    endSignIns: (id) =>
      Number(
        prepared(`DELETE FROM sign_ins WHERE (:id IS NULL OR ${idOfHash} = :id) AND ${isGood}`).run({
          id,
          now: now(),
        }).changes,
      ),
    recordDashboard(url) {
      prepared('INSERT INTO dashboard VALUES (1, ?) ON CONFLICT DO UPDATE SET url = excluded.url').run(url);
    },
    dashboardUrl: () =>
      (prepared('SELECT url FROM dashboard').get() as { url: string } | undefined)?.url ?? null,
  };
}
