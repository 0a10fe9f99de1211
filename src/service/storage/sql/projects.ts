import { randomUUID } from 'node:crypto';
import type { LedgerPage, LedgerPageRequest } from '../records.js';
import { type LedgerRow, type ProjectRow, toLedger, toProject } from '../shared/rows.js';
import type { Store } from '../store.js';
import { ofProject } from './pages.js';
import { query, type Sql } from './sql.js';

type Projects = Pick<
  Store,
  | 'createProject'
  | 'getProject'
  | 'listProjects'
  | 'changeSettings'
  | 'renameProject'
  | 'credit'
  | 'listLedger'
  | 'listLedgerPage'
>;

const ledgerColumns = 'seq, amount, reason, subject_id, note, created_at';

/** Projects, their settings and their money. */
export function createProjects(sql: Sql): Projects {
  async function getProject(id: string) {
    const row = await sql.find<ProjectRow>('SELECT * FROM :s.projects WHERE id = :id', { id });
    return row === undefined ? null : toProject(row);
  }

  async function listLedgerPage(
    projectId: string,
    { limit, before: given }: LedgerPageRequest,
  ): Promise<LedgerPage> {
    const before = given ?? Number.MAX_SAFE_INTEGER;
    const [searched] = await sql.read<{ floor: number }>('SELECT :ledgerFloor AS floor', { before });
    const floor = searched?.floor ?? 0;
    const rows = await sql.read<LedgerRow & { seq: number }>(
      `SELECT ${ledgerColumns} FROM :s.ledger WHERE ${ofProject} AND seq < :before AND seq >= :floor
       ORDER BY seq DESC LIMIT :most`,
      { projectId, before, floor, most: limit + 1 },
    );
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? page.at(-1)?.seq : floor;
    return { records: page.map(toLedger), next: next || null };
  }

  return {
    getProject,
    listLedgerPage,
    createProject: ({ id, name, balance }) =>
      sql.transact(function* () {
        const [made] = yield* query<{ seq: number; created_at: number }>(
          `INSERT INTO :s.projects (id, name, balance, created_at) VALUES (:id, :name, :balance, :now)
           ON CONFLICT (id) DO NOTHING RETURNING seq, created_at`,
          { id, name, balance },
        );
        if (made === undefined) return null;
        const { seq, created_at: createdAt } = made;
        if (balance !== 0) {
          yield* query(
            `INSERT INTO :s.ledger (project, amount, reason, created_at)
             VALUES (:seq, :balance, 'opening', :createdAt)`,
            { seq, balance, createdAt },
          );
        }
        return { id, name, balance, settings: '{}', createdAt };
      }),
    listProjects: async () =>
      (await sql.read<ProjectRow>('SELECT * FROM :s.projects ORDER BY seq')).map(toProject),
    async changeSettings(id, change) {
      for (;;) {
        const project = await getProject(id);
        if (project === null) throw new Error(`there is no project ${id}`);
        const after = change(project.settings);
        const changed = await sql.write(
          `UPDATE :s.projects SET settings = :after WHERE id = :id AND settings = :before AND :durable
           RETURNING seq`,
          { id, before: project.settings, after },
        );
        if (changed.length > 0) return after;
      }
    },
    async renameProject(id, name) {
      const renamed = await sql.write(
        'UPDATE :s.projects SET name = :name WHERE id = :id AND :durable RETURNING seq',
        { id, name },
      );
      return renamed.length > 0;
    },
    async credit(projectId, amount, { id, note } = { id: randomUUID(), note: null }) {
      const [row] = await sql.together<{ balance: number }>(
        [
          [
            'added (project, amount)',
            `INSERT INTO :s.ledger (project, amount, reason, subject_id, note, created_at)
             SELECT seq, :greatest(:amount::bigint, -balance), 'credit', :id::text, :note::text, :now
             FROM (SELECT seq, balance FROM :s.projects WHERE id = :projectId AND :durable :lock) p
             WHERE :greatest(:amount::bigint, -balance) <> 0
             ON CONFLICT (subject_id) WHERE reason = 'credit' DO NOTHING RETURNING project, amount`,
          ],
        ],
        `UPDATE :s.projects SET balance = balance + added.amount FROM added WHERE seq = added.project
         RETURNING balance`,
        { projectId, amount, id, note },
      );
      // It was given before, or changes nothing.
      return row?.balance ?? (await getProject(projectId))?.balance ?? 0;
    },
    async listLedger(projectId) {
      const rows = await sql.read<LedgerRow>(
        `SELECT ${ledgerColumns} FROM :s.ledger WHERE ${ofProject} ORDER BY seq`,
        { projectId },
      );
      return rows.map(toLedger);
    },
  };
}
