import type { Instant, KeyRecord, LedgerReason, LedgerRecord, ProjectRecord } from '../records.js';
import type { Store } from '../store.js';
import type { Database } from './database/open.js';

interface ProjectRow {
  seq: number;
  id: string;
  name: string;
  balance: number;
  settings: string;
  created_at: number;
}

interface KeyRow {
  id: string;
  project: number;
  hash: Uint8Array;
  prefix: string | null;
  label: string | null;
  created_at: number;
  revoked_at: number | null;
}

/** Projects, their money and their keys. The functions write inside the transaction of their caller. */
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
    'SELECT amount, reason, subject_id, created_at FROM ledger WHERE project = ? ORDER BY seq',
  );
  const insertKey = database.prepare(
    'INSERT INTO keys (id, project, hash, prefix, label, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const countKeys = database.prepare(
    'SELECT count(*) AS active FROM keys WHERE project = ? AND revoked_at IS NULL',
  );
  const selectKeys = database.prepare('SELECT * FROM keys WHERE project = ? ORDER BY created_at, id');
  const selectActiveKey = database.prepare(
    'SELECT id, project FROM keys WHERE hash = ? AND revoked_at IS NULL',
  );
  const updateKey = database.prepare(
    'UPDATE keys SET revoked_at = ? WHERE project = ? AND id = ? AND revoked_at IS NULL',
  );

  // A project's number and id never change, so both ways may be remembered.
  const numbers = new Map<string, number>();
  const ids = new Map<number, string>();

  function numberOf(projectId: string): number {
    const known = numbers.get(projectId);
    if (known !== undefined) return known;
    const row = selectProject.get(projectId) as ProjectRow | undefined;
    if (row === undefined) throw new Error(`there is no project ${projectId}`);
    numbers.set(projectId, row.seq);
    ids.set(row.seq, projectId);
    return row.seq;
  }

  function idOf(project: number): string {
    if (!ids.has(project)) for (const row of selectProjects.all() as ProjectRow[]) ids.set(row.seq, row.id);
    return ids.get(project) ?? '';
  }

  function balanceOf(project: number): number {
    return (selectBalance.get(project) as { balance: number }).balance;
  }

  /** Changes a balance and writes down why, which always goes together. */
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
    // Not by way of `numberOf`: its memory must not hold a row that may be rolled back.
    move(Number(inserted.lastInsertRowid), balance, 'opening', null);
    return { id, name, balance, settings: '{}', createdAt };
  }

  function credit(projectId: string, amount: number): number {
    const project = numberOf(projectId);
    const balance = balanceOf(project);
    move(project, Math.max(amount, -balance), 'credit', null);
    return balanceOf(project);
  }

  function changeSettings(projectId: string, change: (settings: string) => string): string {
    const row = selectProject.get(projectId) as ProjectRow | undefined;
    const settings = change(row?.settings ?? '{}');
    updateSettings.run(settings, projectId);
    return settings;
  }

  function addKey(key: Parameters<Store['addKey']>[0], maxActive: number): KeyRecord | null {
    const project = numberOf(key.projectId);
    if ((countKeys.get(project) as { active: number }).active >= maxActive) return null;
    const added: KeyRecord = { ...key, createdAt: now(), revokedAt: null };
    insertKey.run(added.id, project, added.hash, added.prefix, added.label, added.createdAt);
    return added;
  }

  function addFirstKey(key: Parameters<Store['addFirstKey']>[0]): KeyRecord | null {
    return selectKeys.get(numberOf(key.projectId)) === undefined ? addKey(key, 1) : null;
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
    getProject: (id: string) => toProject(selectProject.get(id) as ProjectRow | undefined),
    listProjects: () => (selectProjects.all() as ProjectRow[]).flatMap((row) => toProject(row) ?? []),
    changeSettings,
    listLedger: (projectId: string) => (selectLedger.all(numberOf(projectId)) as LedgerRow[]).map(toLedger),
    listKeys: (projectId: string) =>
      (selectKeys.all(numberOf(projectId)) as KeyRow[]).map((row) => toKey(row, projectId)),
    findCaller(hash: Uint8Array): { projectId: string; keyId: string } | null {
      const row = selectActiveKey.get(hash) as Pick<KeyRow, 'id' | 'project'> | undefined;
      return row === undefined ? null : { projectId: idOf(row.project), keyId: row.id };
    },
    revokeKey: (projectId: string, id: string) => updateKey.run(now(), numberOf(projectId), id).changes === 1,
  };
}

export type Projects = ReturnType<typeof prepareProjects>;

function toProject(row: ProjectRow | undefined): ProjectRecord | null {
  if (row === undefined) return null;
  return {
    id: row.id,
    name: row.name,
    balance: row.balance,
    settings: row.settings,
    createdAt: row.created_at,
  };
}

function toKey(row: KeyRow, projectId: string): KeyRecord {
  const { id, hash, prefix, label, created_at: createdAt, revoked_at: revokedAt } = row;
  return { id, projectId, hash, prefix, label, createdAt, revokedAt };
}

export interface LedgerRow {
  amount: number;
  reason: LedgerReason;
  subject_id: string | null;
  created_at: number;
}

export function toLedger(row: LedgerRow): LedgerRecord {
  return { amount: row.amount, reason: row.reason, subjectId: row.subject_id, createdAt: row.created_at };
}
