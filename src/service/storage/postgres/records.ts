import { randomUUID } from 'node:crypto';
import { keyUseEvery } from '../admission.js';
import type { MessageRecord, NewKey, VerificationOfMessage, VerificationRecord } from '../records.js';
import {
  type BatchRow,
  type KeyRow,
  type LedgerRow,
  type MessageRow,
  type ProjectRow,
  selectMessage,
  toBatch,
  toKey,
  toLedger,
  toMessage,
  toProject,
} from '../shared/rows.js';
import type { Store } from '../store.js';
import type { Database } from './database/database.js';
import { orUnavailable } from './database/failure.js';
import { type Lost, repeatLost } from './lost-commits.js';
import { ofProject, selectBatches } from './read/lookups.js';

interface VerificationRow {
  id: string;
  status: VerificationRecord['status'];
  channel: VerificationRecord['channel'];
  recipient: string;
  attempts_remaining: number;
  credits: number;
  code_hash: Buffer;
  created_at: number;
  expires_at: number;
  verified_at: number | null;
}

type Records = Pick<
  Store,
  | 'createProject'
  | 'listProjects'
  | 'changeSettings'
  | 'credit'
  | 'renameProject'
  | 'recordLanes'
  | 'normalizeReceiptIds'
  | 'listLedger'
  | 'listLedgerPage'
  | 'addKey'
  | 'addFirstKey'
  | 'listKeys'
  | 'revokeKey'
  | 'recordKeyUse'
  | 'getBatch'
  | 'listBatchMessages'
  | 'getVerification'
  | 'findVerifications'
  | 'checkVerification'
>;

/** Single records: projects, keys and sent messages. */
export function createRecords(database: Database, lost: Lost, getProject: Store['getProject']): Records {
  const first = async <Row>(text: string, values: readonly unknown[]): Promise<Row | undefined> =>
    (await database.query<Row>(text, values))[0];

  async function batchNumber(projectId: string, id: string): Promise<number | null> {
    const row = await first<{ seq: number }>(`SELECT seq FROM :s.batches WHERE ${ofProject} AND id = $2`, [
      projectId,
      id,
    ]);
    return row?.seq ?? null;
  }

  async function addKey(
    { expiry, ...key }: NewKey,
    most: number,
    countsRevoked: boolean,
  ): ReturnType<Store['addKey']> {
    const row = await first<{ at: number | null; expires_at: number | null; is_over: boolean }>(
      `SELECT e.expires_at, coalesce(e.expires_at <= n.at, false) AS is_over,
         CASE WHEN e.expires_at <= n.at THEN NULL
           ELSE :s.add_key_2(n.at, $2::text, $3::text, $4::bytea, $5::text, $6::text, $12::text, $7::text, e.expires_at, $8::int, $9::boolean) END AS at
       FROM (SELECT :s.time_1($1::bigint) AS at OFFSET 0) n
       CROSS JOIN LATERAL (SELECT coalesce($10::bigint, n.at + $11::bigint) AS expires_at) e`,
      [
        database.now(),
        key.id,
        key.projectId,
        Buffer.from(key.hash),
        key.prefix,
        key.label,
        key.scope.join(','),
        most,
        countsRevoked,
        expiry !== null && 'at' in expiry ? expiry.at : null,
        expiry !== null && 'afterMs' in expiry ? expiry.afterMs : null,
        key.createdBy ?? null,
      ],
    );
    if (row?.is_over) return 'over';
    const at = row?.at ?? null;
    if (at === null) return 'too_many';
    return {
      ...key,
      createdBy: key.createdBy ?? null,
      expiresAt: row?.expires_at ?? null,
      createdAt: at,
      revokedAt: null,
      usedAt: null,
    };
  }

  async function getVerification(projectId: string, id: string): Promise<VerificationRecord | null> {
    const row = await first<VerificationRow>(
      'SELECT * FROM :s.read_verification_1($1::bigint, $2::text, $3::text)',
      [database.now(), projectId, id],
    );
    return row === undefined ? null : toVerification(row);
  }

  return {
    async createProject({ id, name, balance }) {
      const row = await first<{ at: number | null }>(
        'SELECT :s.create_project_1($1::bigint, $2::text, $3::text, $4::bigint) AS at',
        [database.now(), id, name, balance],
      );
      const at = row?.at ?? null;
      return at === null ? null : { id, name, balance, settings: '{}', createdAt: at };
    },
    listProjects: async () =>
      (await database.query<ProjectRow>('SELECT * FROM :s.projects ORDER BY seq')).map(toProject),
    async changeSettings(projectId, change) {
      for (;;) {
        const project = await getProject(projectId);
        if (project === null) throw new Error(`there is no project ${projectId}`);
        const { settings: before } = project;
        const after = change(before);
        const row = await first<{ is_done: boolean }>(
          'SELECT :s.change_settings_1($1::text, $2::text, $3::text) AS is_done',
          [projectId, before, after],
        );
        if (row?.is_done) return after;
      }
    },
    async recordLanes(lanes) {
      const rows = await database.query<{ name: string }>(
        `WITH given AS (SELECT DISTINCT name COLLATE "C" AS name FROM pg_catalog.unnest($1::text[]) name),
         written AS (INSERT INTO :s.lanes SELECT name FROM given ON CONFLICT DO NOTHING)
         SELECT name FROM :s.lanes UNION SELECT name FROM given ORDER BY name`,
        [lanes],
      );
      return rows.map(({ name }) => name);
    },
    async normalizeReceiptIds(lanes) {
      await database.query('SELECT :s.normalize_receipt_ids_1($1::bigint, $2::text[])', [
        database.now(),
        lanes,
      ]);
    },
    async credit(projectId, amount, { id, note } = { id: randomUUID(), note: null }) {
      const values = [database.now(), projectId, amount, id, note];
      const call = () =>
        database.attempt<CreditRow>(
          'SELECT * FROM :s.credit_1($1::bigint, $2::text, $3::bigint, $4::text, $5::text)',
          values,
        );
      const rows = await orUnavailable(
        repeatLost(lost, [{ project: projectId, messages: [] }], call),
        lost.report,
      );
      return rows[0]?.balance ?? 0;
    },
    async renameProject(id, name) {
      const row = await first<{ is_done: boolean }>(
        'SELECT :s.rename_project_1($1::text, $2::text) AS is_done',
        [id, name],
      );
      return row?.is_done === true;
    },
    async listLedger(projectId) {
      const rows = await database.query<LedgerRow>(
        `SELECT * FROM :s.ledger WHERE ${ofProject} ORDER BY seq`,
        [projectId],
      );
      return rows.map(toLedger);
    },
    async listLedgerPage(projectId, { limit, before }) {
      const rows = await database.query<LedgerRow & { seq: number }>(
        `SELECT * FROM :s.ledger WHERE ${ofProject} AND seq < $2 ORDER BY seq DESC LIMIT $3`,
        [projectId, before ?? Number.MAX_SAFE_INTEGER, limit + 1],
      );
      const page = rows.slice(0, limit);
      return { records: page.map(toLedger), next: rows.length > limit ? (page.at(-1)?.seq ?? null) : null };
    },
    addKey: (key, maxActive) => addKey(key, maxActive, false),
    async addFirstKey(key) {
      const added = await addKey(key, 1, true);
      return typeof added === 'string' ? null : added;
    },
    async listKeys(projectId) {
      const rows = await database.query<KeyRow>(
        `SELECT * FROM :s.keys WHERE ${ofProject} ORDER BY created_at, id`,
        [projectId],
      );
      return rows.map((row) => toKey(row, projectId));
    },
    async revokeKey(projectId, id) {
      const row = await first<{ is_done: boolean }>(
        'SELECT :s.revoke_key_1($1::bigint, $2::text, $3::text) AS is_done',
        [database.now(), projectId, id],
      );
      return row?.is_done === true;
    },
    async recordKeyUse(id) {
      await database.query('SELECT :s.record_key_use_1($1::bigint, $2::text, $3::bigint)', [
        database.now(),
        id,
        keyUseEvery,
      ]);
    },
    async getBatch(projectId, id) {
      const row = await first<BatchRow>(`${selectBatches} WHERE b.${ofProject} AND b.id = $2`, [
        projectId,
        id,
      ]);
      return row === undefined ? null : toBatch(row);
    },
    async listBatchMessages(projectId, batchId, { limit, after }): Promise<MessageRecord[] | null> {
      const batch = await batchNumber(projectId, batchId);
      if (batch === null) return null;
      let from = 0;
      if (after !== null) {
        const row = await first<{ seq: number }>('SELECT seq FROM :s.messages WHERE id = $1 AND batch = $2', [
          after,
          batch,
        ]);
        if (row === undefined) return null;
        from = row.seq;
      }
      const rows = await database.query<MessageRow>(
        `${selectMessage(':s.')} WHERE m.batch = $1 AND m.seq > $2 ORDER BY m.seq LIMIT $3`,
        [batch, from, limit],
      );
      return rows.map((row) => toMessage(row, projectId));
    },
    getVerification,
    findVerifications: (messageIds) =>
      database.query<VerificationOfMessage>(
        `SELECT m.id AS "messageId", v.id, v.code_hash AS "codeHash" FROM :s.messages m
         JOIN :s.verifications v ON v.message = m.seq WHERE m.id = ANY ($1)`,
        [messageIds],
      ),
    async checkVerification(projectId, id, matches) {
      const before = await getVerification(projectId, id);
      if (before === null) return null;
      if (before.status !== 'pending' && before.status !== 'expired')
        return { tried: false, verification: before };
      const row = await first<VerificationRow & { tried: boolean }>(
        'SELECT tried, (verification).* FROM :s.check_verification_1($1::bigint, $2::text, $3::text, $4::boolean)',
        [database.now(), projectId, id, matches(before.codeHash)],
      );
      return row === undefined ? null : { tried: row.tried, verification: toVerification(row) };
    },
  };
}

interface CreditRow {
  balance: number;
  is_known: boolean;
}

function toVerification(row: VerificationRow): VerificationRecord {
  return {
    id: row.id,
    status: row.status,
    channel: row.channel,
    to: row.recipient,
    attemptsRemaining: row.attempts_remaining,
    credits: row.credits,
    codeHash: row.code_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    verifiedAt: row.verified_at,
  };
}
