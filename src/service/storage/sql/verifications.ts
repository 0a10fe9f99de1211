import type { Channel } from '../../../contract/index.js';
import type { Instant, VerificationOfMessage, VerificationRecord } from '../records.js';
import { clockTolerance } from '../shared/clock-tolerance.js';
import type { Store } from '../store.js';
import type { Sql } from './sql.js';

interface VerificationRow {
  id: string;
  /** As last stored; a pending one may have expired since. */
  status: Exclude<VerificationRecord['status'], 'expired'>;
  channel: Channel;
  recipient: string;
  credits: number;
  code_hash: Uint8Array;
  attempts_remaining: number;
  created_at: number;
  /** When its life began; earlier than its creation if the clock was set back since. */
  began_at: number;
  life_ms: number;
  verified_at: number | null;
  now: number;
}

/** Stores that the life of a verification, which began in the future, begins at `at`: the clock was set back. */
export type CorrectLife = (row: { id: string; began_at: Instant }, at: Instant) => Promise<unknown>;

/** Verifications, and checking their codes. */
export function createVerifications(
  sql: Sql,
  correctLife: CorrectLife,
): Pick<Store, 'getVerification' | 'findVerifications' | 'checkVerification'> {
  async function read(projectId: string, id: string): Promise<VerificationRow | undefined> {
    const [row] = await sql.read<VerificationRow>(
      `SELECT v.*, m.channel, m.recipient, m.credits, :lifeBegan AS began_at, :life AS life_ms, :now AS now
       FROM :s.verifications v JOIN :s.messages m ON m.seq = v.message
       WHERE v.project = (SELECT seq FROM :s.projects WHERE id = :projectId) AND v.id = :id`,
      { projectId, id },
    );
    return row;
  }

  return {
    async getVerification(projectId, id) {
      const row = await read(projectId, id);
      return row === undefined ? null : toVerification(row);
    },
    findVerifications: (ids) =>
      sql.read<VerificationOfMessage>(
        `SELECT m.id AS "messageId", v.id, v.code_hash AS "codeHash" FROM :s.messages m
         JOIN :s.verifications v ON v.message = m.seq WHERE m.id :in(ids)`,
        { ids },
      ),
    async checkVerification(projectId, id, matches) {
      // Until none of the checks that come at once has been written in between.
      for (;;) {
        const row = await read(projectId, id);
        if (row === undefined) return null;
        if (row.began_at > row.now + clockTolerance) {
          await correctLife(row, row.now);
          continue;
        }
        const before = toVerification(row);
        if (before.status !== 'pending') return { tried: false, verification: before };
        const verification = tried(before, matches(before.codeHash), row.now);
        const { status, attemptsRemaining, verifiedAt } = verification;
        const written = await sql.write(
          `UPDATE :s.verifications SET status = :status, attempts_remaining = :attemptsRemaining,
             verified_at = :verifiedAt
           WHERE id = :id AND status = 'pending' AND attempts_remaining = :before AND :durable RETURNING id`,
          { id, status, attemptsRemaining, verifiedAt, before: before.attemptsRemaining },
        );
        if (written.length > 0) return { tried: true, verification };
      }
    },
  };
}

function tried(before: VerificationRecord, isRight: boolean, at: Instant): VerificationRecord {
  if (isRight) return { ...before, status: 'verified', verifiedAt: at };
  const attemptsRemaining = before.attemptsRemaining - 1;
  return { ...before, attemptsRemaining, status: attemptsRemaining === 0 ? 'failed' : 'pending' };
}

function toVerification(row: VerificationRow): VerificationRecord {
  // It lasts its full time from its acceptance.
  const expiresAt = row.began_at + row.life_ms;
  return {
    id: row.id,
    status: row.status === 'pending' && row.now >= expiresAt ? 'expired' : row.status,
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
