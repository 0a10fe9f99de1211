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

const isGiven = `EXISTS (SELECT 1 FROM :s.ledger WHERE subject_id = :id AND reason = 'credit')`;
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
      // Until no send or other credit has come in between.
      for (;;) {
        const [project] = await sql.read<{ balance: number; is_given: boolean }>(
          `SELECT balance, ${isGiven} AS is_given FROM :s.projects WHERE id = :projectId`,
          { projectId, id },
        );
        if (project === undefined) throw new Error(`there is no project ${projectId}`);
        const { balance: before } = project;
        const added = Math.max(amount, -before);
        // What a read shows may still be lost by a failover; the commit of a lock waits until it is not.
        const [row] =
          project.is_given || added === 0
            ? await sql.write<{ balance: number }>(
                'SELECT balance FROM :s.projects WHERE id = :projectId AND :durable :lock',
                { projectId },
              )
            : await sql.together<{ balance: number }>(
                [
                  [
                    'moved (project, balance)',
                    // A subquery that locks the row would be read before others have changed it.
                    `UPDATE :s.projects SET balance = balance + :added::bigint
                     WHERE id = :projectId AND (balance = :before::bigint
                         OR (:added::bigint = :amount::bigint AND balance + :added::bigint >= 0))
                       AND NOT ${isGiven} AND :durable RETURNING seq, balance`,
                  ],
                  [
                    'entered (project)',
                    `INSERT INTO :s.ledger (project, amount, reason, subject_id, note, created_at)
                     SELECT project, :added::bigint, 'credit', :id::text, :note::text, :now FROM moved RETURNING project`,
                  ],
                ],
                'SELECT balance FROM moved',
                { projectId, before, added, amount, id, note },
              );
        if (row !== undefined) return row.balance;
      }
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
