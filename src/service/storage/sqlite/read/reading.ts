import type { Channel } from '../../../../contract/index.js';
import type { PageRequest } from '../../lists.js';
import type {
  BatchRecord,
  Instant,
  MessageRecord,
  VerificationOfMessage,
  VerificationRecord,
} from '../../records.js';
import { type BatchRow, type MessageRow, selectMessage, toBatch, toMessage } from '../../shared/rows.js';
import { selectBatches } from '../accept/batch-rows.js';
import { acceptedAt, type ClockCorrections } from '../clock-corrections.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';

interface VerificationRow {
  id: string;
  message: number;
  /** As last stored; a pending one may have expired since. */
  status: Exclude<VerificationRecord['status'], 'expired'>;
  channel: Channel;
  recipient: string;
  credits: number;
  code_hash: Uint8Array;
  attempts_remaining: number;
  created_at: number;
  accepted_at: number;
  expires_at: number;
  verified_at: number | null;
}

/** Looks up messages, batches and verifications, and checks codes. */
export function prepareReading(
  database: Database,
  projects: Projects,
  corrections: ClockCorrections,
  now: () => Instant,
) {
  const selectOne = database.prepare(`${selectMessage()} WHERE m.project = ? AND m.id = ?`);
  const selectById = database.prepare(`${selectMessage()} WHERE m.id = ?`);
  const selectPage = database.prepare(
    `${selectMessage()} WHERE m.seq > ? AND m.seq < ? ORDER BY m.seq LIMIT ?`,
  );
  const selectBatch = database.prepare(`${selectBatches} WHERE b.project = ? AND b.id = ?`);
  const selectVerification = database.prepare(
    `SELECT v.*, m.channel, m.recipient, m.credits, ${acceptedAt('v.message', 'v.created_at')} AS accepted_at
     FROM verifications v
     JOIN messages m ON m.seq = v.message WHERE v.project = ? AND v.id = ?`,
  );
  const selectOfMessage = database.prepare(
    `SELECT m.id AS messageId, v.id, v.code_hash AS codeHash FROM messages m JOIN verifications v ON v.message = m.seq
     WHERE m.id = ?`,
  );
  const updateVerification = database.prepare(
    'UPDATE verifications SET status = ?, attempts_remaining = ?, verified_at = ? WHERE id = ?',
  );

  function getMessage(projectId: string, id: string): MessageRecord | null {
    const row = selectOne.get(projects.numberOf(projectId), id) as MessageRow | undefined;
    return row === undefined ? null : toMessage(row, projectId);
  }

  function findMessage(id: string): MessageRecord | null {
    const row = selectById.get(id) as MessageRow | undefined;
    return row === undefined ? null : toMessage(row, projects.idOf(row.project));
  }

  function batchRow(projectId: string, id: string): BatchRow | undefined {
    return selectBatch.get(projects.numberOf(projectId), id) as BatchRow | undefined;
  }

  function getBatch(projectId: string, id: string): BatchRecord | null {
    const row = batchRow(projectId, id);
    return row === undefined ? null : toBatch(row);
  }

  function listBatchMessages(
    projectId: string,
    batchId: string,
    { limit, after }: PageRequest,
  ): MessageRecord[] | null {
    const batch = batchRow(projectId, batchId);
    if (batch === undefined) return null;
    let from = batch.first_message - 1;
    if (after !== null) {
      const row = selectOne.get(projects.numberOf(projectId), after) as MessageRow | undefined;
      if (row === undefined || row.batch !== batch.seq) return null;
      from = row.seq;
    }
    const rows = selectPage.all(from, batch.first_message + batch.total, limit);
    return (rows as MessageRow[]).map((row) => toMessage(row, projectId));
  }

  function verificationRow(projectId: string, id: string): VerificationRow | undefined {
    return selectVerification.get(projects.numberOf(projectId), id) as VerificationRow | undefined;
  }

  function getVerification(projectId: string, id: string): VerificationRecord | null {
    const row = verificationRow(projectId, id);
    return row === undefined ? null : toVerification(row, now());
  }

  function findVerifications(messageIds: readonly string[]): VerificationOfMessage[] {
    return messageIds.flatMap((id) => (selectOfMessage.get(id) as VerificationOfMessage | undefined) ?? []);
  }

  function checkVerification(
    projectId: string,
    id: string,
    matches: (codeHash: Uint8Array) => boolean,
  ): { tried: boolean; verification: VerificationRecord } | null {
    const row = verificationRow(projectId, id);
    if (row === undefined) return null;
    const at = now();
    row.accepted_at = corrections.asOf(row.accepted_at, at);
    const verification = toVerification(row, at);
    if (verification.status !== 'pending') return { tried: false, verification };
    if (matches(verification.codeHash)) {
      verification.status = 'verified';
      verification.verifiedAt = at;
    } else {
      verification.attemptsRemaining -= 1;
      if (verification.attemptsRemaining === 0) verification.status = 'failed';
    }
    const { status, attemptsRemaining, verifiedAt } = verification;
    updateVerification.run(status, attemptsRemaining, verifiedAt, id);
    return { tried: true, verification };
  }

  return {
    getMessage,
    findMessage,
    getBatch,
    listBatchMessages,
    getVerification,
    findVerifications,
    checkVerification,
  };
}

function toVerification(row: VerificationRow, at: Instant): VerificationRecord {
  // It lasts its full time from its acceptance.
  const expiresAt = row.accepted_at + (row.expires_at - row.created_at);
  return {
    id: row.id,
    status: row.status === 'pending' && at >= expiresAt ? 'expired' : row.status,
    channel: row.channel,
    to: row.recipient,
    attemptsRemaining: row.attempts_remaining,
    credits: row.credits,
    codeHash: row.code_hash,
    createdAt: row.created_at,
    expiresAt,
    verifiedAt: row.verified_at,
  };
}
