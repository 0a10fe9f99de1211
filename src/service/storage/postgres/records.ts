import type { MessageRecord, VerificationOfMessage, VerificationRecord } from '../records.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from '../shared/rows.js';
import type { Store } from '../store.js';
import type { Database } from './database/database.js';
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
  'getBatch' | 'listBatchMessages' | 'getVerification' | 'findVerifications' | 'checkVerification'
>;

/** Single records of sent messages. */
export function createRecords(database: Database): Records {
  const first = async <Row>(text: string, values: readonly unknown[]): Promise<Row | undefined> =>
    (await database.query<Row>(text, values))[0];

  async function batchNumber(projectId: string, id: string): Promise<number | null> {
    const row = await first<{ seq: number }>(`SELECT seq FROM :s.batches WHERE ${ofProject} AND id = $2`, [
      projectId,
      id,
    ]);
    return row?.seq ?? null;
  }

  async function getVerification(projectId: string, id: string): Promise<VerificationRecord | null> {
    const row = await first<VerificationRow>(
      'SELECT * FROM :s.read_verification_1($1::bigint, $2::text, $3::text)',
      [database.now(), projectId, id],
    );
    return row === undefined ? null : toVerification(row);
  }

  return {
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
