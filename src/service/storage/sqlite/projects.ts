import { type Admitted, scopeOf } from '../admission.js';
import type { Instant, LedgerReason } from '../records.js';
import { boundOf, type KeyRow, type ProjectRow } from '../shared/rows.js';
import type { Database } from './database/database.js';

interface NumberedRow extends ProjectRow {
  seq: number;
}

/** `line`: of its events; null if nobody asks. */
export interface Standing {
  balance: number;
  line: number | null;
}

interface ActiveKeyRow extends Pick<KeyRow, 'id' | 'scope'>, Pick<ProjectRow, 'name' | 'settings'> {
  /** Its id. */
  project: string;
  is_bound: number;
  status: number | null;
  body: string | null;
}

/** Projects, their money and their callers. The functions write inside their caller's transaction. */
export function prepareProjects(database: Database, now: () => Instant) {
  const selectProject = database.prepare('SELECT * FROM projects WHERE id = ?');
  const selectProjects = database.prepare('SELECT * FROM projects ORDER BY seq');
  const selectStanding = database.prepare('SELECT balance, line FROM projects WHERE seq = ?');
  const updateBalance = database.prepare('UPDATE projects SET balance = balance + ? WHERE seq = ?');
  const insertLedger = database.prepare(
    'INSERT INTO ledger (project, amount, reason, subject_id, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const selectActiveKey = database.prepare(
    `SELECT keys.id, scope, projects.id AS project, name, settings, i.key IS NOT NULL AS is_bound, status, body
     FROM keys JOIN projects ON projects.seq = keys.project
     LEFT JOIN idempotency i ON i.project = keys.project AND i.key = ?
     WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );

  // A project's number and id never change, so both can be cached.
  const numbers = new Map<string, number>();
  const ids = new Map<number, string>();

  function numberOf(projectId: string): number {
    const known = numbers.get(projectId);
    if (known !== undefined) return known;
    const row = selectProject.get(projectId) as NumberedRow | undefined;
    if (row === undefined) throw new Error(`there is no project ${projectId}`);
    numbers.set(projectId, row.seq);
    ids.set(row.seq, projectId);
    return row.seq;
  }

  function idOf(project: number): string {
    if (!ids.has(project)) for (const row of selectProjects.all() as NumberedRow[]) ids.set(row.seq, row.id);
    return ids.get(project) ?? '';
  }

  function standingOf(project: number): Standing {
    return selectStanding.get(project) as Standing & Record<string, number | null>;
  }

  /** Changes a balance and writes the ledger entry; always both. */
  function move(project: number, amount: number, reason: LedgerReason, subject: string | null): void {
    if (amount === 0) return;
    updateBalance.run(amount, project);
    insertLedger.run(project, amount, reason, subject, now());
  }

  return {
    numberOf,
    idOf,
    standingOf,
    move,
    ids: (): string[] => (selectProjects.all() as NumberedRow[]).map(({ id }) => id),
    /** In one read of the database, because each read costs as much as its rows. */
    findCaller(hash: Uint8Array, idempotencyKey: string | null): Omit<Admitted, 'taken'> | null {
      const row = selectActiveKey.get(idempotencyKey, hash, now()) as ActiveKeyRow | undefined;
      if (row === undefined) return null;
      const { id, scope, project, name, settings, is_bound, status, body } = row;
      return {
        projectId: project,
        keyId: id,
        scope: scopeOf(scope),
        project: { name, settings },
        answer: is_bound === 1 ? boundOf(status, body) : undefined,
      };
    },
  };
}

export type Projects = ReturnType<typeof prepareProjects>;
