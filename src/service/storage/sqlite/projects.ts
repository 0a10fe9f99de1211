import { type Admitted, keyUseEvery, scopeOf } from '../admission.js';
import type {
  Instant,
  KeyRecord,
  LedgerPage,
  LedgerPageRequest,
  LedgerReason,
  NewKey,
  ProjectRecord,
} from '../records.js';
import {
  boundOf,
  type KeyRow,
  type LedgerRow,
  type ProjectRow,
  toKey,
  toLedger,
  toProject,
} from '../shared/rows.js';
import type { Store } from '../store.js';
import type { Database } from './database/database.js';

interface NumberedRow extends ProjectRow {
  seq: number;
}

interface ActiveKeyRow extends Pick<KeyRow, 'id' | 'scope'>, Pick<ProjectRow, 'name' | 'settings'> {
  /** Its id. */
  project: string;
  is_bound: number;
  status: number | null;
  body: string | null;
}

/** Rows of the ledger that are read for a page. */
const rowsAtOnce = 20_000;

/** Projects, their money and their keys. The functions write inside their caller's transaction. */
export function prepareProjects(database: Database, now: () => Instant) {
  const insertProject = database.prepare(
    'INSERT INTO projects (id, name, balance, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
  );
  const selectProject = database.prepare('SELECT * FROM projects WHERE id = ?');
  const selectProjects = database.prepare('SELECT * FROM projects ORDER BY seq');
  const updateSettings = database.prepare('UPDATE projects SET settings = ? WHERE id = ?');
  const selectBalance = database.prepare('SELECT balance FROM projects WHERE seq = ?');
  const updateBalance = database.prepare('UPDATE projects SET balance = balance + ? WHERE seq = ?');
  const insertLedger = database.prepare(
    'INSERT INTO ledger (project, amount, reason, subject_id, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const selectLedger = database.prepare(
    'SELECT amount, reason, subject_id, note, created_at FROM ledger WHERE project = ? ORDER BY seq',
  );
  const insertKey = database.prepare(
    `INSERT INTO keys (id, project, hash, prefix, label, created_by, scope, expires_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const countKeys = database.prepare(
    `SELECT count(*) AS active FROM keys
     WHERE project = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const selectKeys = database.prepare('SELECT * FROM keys WHERE project = ? ORDER BY created_at, id');
  const selectActiveKey = database.prepare(
    `SELECT keys.id, scope, projects.id AS project, name, settings, i.key IS NOT NULL AS is_bound, status, body
     FROM keys JOIN projects ON projects.seq = keys.project
     LEFT JOIN idempotency i ON i.project = keys.project AND i.key = ?
     WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const updateKey = database.prepare(
    'UPDATE keys SET revoked_at = ? WHERE project = ? AND id = ? AND revoked_at IS NULL',
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

  function balanceOf(project: number): number {
    return (selectBalance.get(project) as { balance: number }).balance;
  }

  /** Changes a balance and writes the ledger entry; always both. */
  function move(project: number, amount: number, reason: LedgerReason, subject: string | null): void {
    if (amount === 0) return;
    updateBalance.run(amount, project);
    insertLedger.run(project, amount, reason, subject, now());
  }

  function createProject(project: Parameters<Store['createProject']>[0]): ProjectRecord | null {
    const { id, name, balance } = project;
    const createdAt = now();
    const inserted = insertProject.run(id, name, 0, createdAt);
    if (inserted.changes === 0) return null;
    // Not through `numberOf`: its cache must not contain a row that may be rolled back.
    move(Number(inserted.lastInsertRowid), balance, 'opening', null);
    return { id, name, balance, settings: '{}', createdAt };
  }

  function credit(...[projectId, amount, about]: Parameters<Store['credit']>): number {
    const project = numberOf(projectId);
    const balance = balanceOf(project);
    if (about !== undefined && isGiven(about.id)) return balance;
    move(project, Math.max(amount, -balance), 'credit', about?.id ?? null);
    if (about !== undefined)
      database
        .prepare("UPDATE ledger SET note = ? WHERE subject_id = ? AND reason = 'credit'")
        .run(about.note, about.id);
    return balanceOf(project);
  }

  const isGiven = (id: string) =>
    database.prepare("SELECT 1 FROM ledger WHERE subject_id = ? AND reason = 'credit'").get(id) !== undefined;

  /** The ledger has no index by project: other projects' rows are skipped, some at a time. */
  function listLedgerPage(projectId: string, { limit, before }: LedgerPageRequest): LedgerPage {
    const below = before ?? Number.MAX_SAFE_INTEGER;
    const rows = database
      .prepare(
        `SELECT seq, amount, reason, subject_id, note, created_at FROM
           (SELECT * FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT ${rowsAtOnce}) WHERE project = ? LIMIT ?`,
      )
      .all(below, numberOf(projectId), limit + 1) as (LedgerRow & { seq: number })[];
    const page = rows.slice(0, limit);
    const looked = 'SELECT seq FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?';
    const last = (rows.length > limit ? page.at(-1) : database.prepare(looked).get(below, rowsAtOnce - 1)) as
      | { seq: number }
      | undefined;
    return { records: page.map(toLedger), next: last?.seq ?? null };
  }

  function changeSettings(projectId: string, change: (settings: string) => string): string {
    const row = selectProject.get(projectId) as ProjectRow | undefined;
    const settings = change(row?.settings ?? '{}');
    updateSettings.run(settings, projectId);
    return settings;
  }

  function addKey({ expiry, ...key }: NewKey, maxActive: number): Awaited<ReturnType<Store['addKey']>> {
    const project = numberOf(key.projectId);
    const createdAt = now();
    const expiresAt = expiry === null ? null : 'at' in expiry ? expiry.at : createdAt + expiry.afterMs;
    if (expiresAt !== null && expiresAt <= createdAt) return 'over';
    if ((countKeys.get(project, createdAt) as { active: number }).active >= maxActive) return 'too_many';
    const { id, hash, prefix, label, createdBy = null, scope } = key;
    insertKey.run(id, project, hash, prefix, label, createdBy, scope.join(','), expiresAt, createdAt);
    return { ...key, createdBy, expiresAt, createdAt, revokedAt: null, usedAt: null };
  }

  function addFirstKey(key: NewKey): KeyRecord | null {
    if (selectKeys.get(numberOf(key.projectId)) !== undefined) return null;
    const added = addKey(key, 1);
    return typeof added === 'string' ? null : added;
  }

  return {
    numberOf,
    idOf,
    balanceOf,
    move,
    createProject,
    credit,
    addKey,
    addFirstKey,
    getProject(id: string): ProjectRecord | null {
      const row = selectProject.get(id) as ProjectRow | undefined;
      return row === undefined ? null : toProject(row);
    },
    listProjects: () => (selectProjects.all() as ProjectRow[]).map(toProject),
    changeSettings,
    listLedgerPage,
    listLedger: (projectId: string) => (selectLedger.all(numberOf(projectId)) as LedgerRow[]).map(toLedger),
    listKeys: (projectId: string) =>
      (selectKeys.all(numberOf(projectId)) as KeyRow[]).map((row) => toKey(row, projectId)),
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
    recordKeyUse(id: string): void {
      const at = now();
      database
        .prepare('UPDATE keys SET used_at = ? WHERE id = ? AND coalesce(used_at NOT BETWEEN ? AND ?, 1)')
        .run(at, id, at - keyUseEvery + 1, at);
    },
    renameProject: (id: string, name: string) =>
      database.prepare('UPDATE projects SET name = ? WHERE id = ?').run(name, id).changes === 1,
    revokeKey: (projectId: string, id: string) => updateKey.run(now(), numberOf(projectId), id).changes === 1,
  };
}

export type Projects = ReturnType<typeof prepareProjects>;
