import type {
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  MessageAcceptance,
  Refusal,
  VerificationAcceptance,
  VerificationResult,
} from '../acceptance.js';
import { cappedUntil, earlierMessages, longestWindow } from '../caps.js';
import type { ClaimedMessage } from '../dispatching.js';
import { claimedOf, queuedMessage } from '../queued.js';
import type { BatchRecord, BoundAnswer, Content, Instant, LedgerReason, MessageRecord } from '../records.js';
import { acceptedAt, type ClockCorrections } from './clock-corrections.js';
import type { Database } from './database/open.js';
import type { Leases } from './leases.js';
import type { Projects } from './projects.js';
import type { Resets } from './resets.js';

/** Whether another counted message to the recipient of `m` was accepted before it, however long ago. */
export const hasEarlier = `EXISTS (SELECT 1 FROM messages e WHERE e.project = m.project
  AND e.recipient = m.recipient AND e.refunded = 0 AND e.seq < m.seq)`;

/** Accepting sends. The functions write inside the transaction of their caller. */
export function prepareAcceptance(
  database: Database,
  projects: Projects,
  leases: Leases,
  corrections: ClockCorrections,
  resets: Resets,
  now: () => Instant,
) {
  const selectAnswer = database.prepare('SELECT status, body FROM idempotency WHERE project = ? AND key = ?');
  const insertAnswer = database.prepare(
    'INSERT INTO idempotency (project, key, status, body) VALUES (?, ?, ?, ?)',
  );
  const insertContent = database.prepare(
    'INSERT INTO contents (text, html, subject, sender, reply_to, sealed) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertMessage = database.prepare(
    `INSERT INTO messages (id, project, content, channel, recipient, operator, status, parts, rate_multiplier, credits,
       created_at, due_at, lease, attempts, pending_key, lane, route, doubt_ms, bound_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertBatchMessages = database.prepare(
    `INSERT INTO messages (id, project, batch, content, channel, recipient, operator, status, parts, rate_multiplier,
       credits, created_at, due_at, lease, attempts, lane, route, doubt_ms, bound_at)
     SELECT value ->> 0, :project, :batch, :content, :channel, value ->> 1, value ->> 2, 'queued', :parts,
       :rateMultiplier, :credits, :createdAt, :dueAt, :lease, :attempts, value ->> 3, value ->> 4, :doubtMs, :boundAt
     FROM json_each(:recipients)`,
  );
  const insertBatch = database.prepare(
    `INSERT INTO batches (id, project, channel, total, credits, first_message, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectNextMessage = database.prepare('SELECT coalesce(max(seq), 0) + 1 AS next FROM messages');
  const insertVerification = database.prepare(
    `INSERT INTO verifications (id, project, message, code_hash, status, attempts_remaining, created_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?, ?)`,
  );
  const selectEarlier = database.prepare(
    `SELECT time FROM (
       SELECT ${acceptedAt('m.seq', 'm.created_at')} AS time FROM messages m
       WHERE project = :project AND recipient = :recipient AND refunded = 0 AND created_at > :from AND seq < :before)
     WHERE time > :from ORDER BY time DESC LIMIT ${earlierMessages}`,
  );

  const selectRepeatedRecipients = database.prepare(
    `SELECT seq, recipient FROM messages m WHERE seq BETWEEN ? AND ? AND ${hasEarlier}`,
  );

  /** When counted messages to a recipient were accepted before this one, the newest first. */
  function earlierTo(project: number, recipient: string, at: Instant, before: number): Instant[] {
    const rows = selectEarlier.all({ project, recipient, from: at - longestWindow, before });
    const times = (rows as { time: number }[]).map(({ time }) => time);
    const [newest] = times;
    if (newest === undefined || corrections.asOf(newest, at, before - 1) === newest) return times;
    return times.map((time) => Math.min(time, at));
  }

  function findAnswer(project: number, key: string): BoundAnswer | null | undefined {
    const row = selectAnswer.get(project, key) as { status: number | null; body: string | null } | undefined;
    if (row === undefined) return undefined;
    return row.status === null || row.body === null ? null : { status: row.status, body: row.body };
  }

  function refusal(project: number, acceptance: MessageAcceptance, at: Instant): Refusal | null {
    const { recipient, caps, credits, idempotencyKey } = acceptance;
    const unready = unreadyFor(project, idempotencyKey);
    if (unready !== null) return unready;
    const earlier = earlierTo(project, recipient.to, at, Number.MAX_SAFE_INTEGER);
    const until = cappedUntil(earlier, caps, at);
    return until === null ? shortOf(project, credits) : { kind: 'capped', waitMs: until - at };
  }

  /** What comes before any check: a reset under way, or an earlier request with the key. */
  function unreadyFor(project: number, key: string | null): Refusal | null {
    if (resets.isUnderWay()) return { kind: 'resetting' };
    const answer = key === null ? undefined : findAnswer(project, key);
    return answer === undefined ? null : { kind: 'repeat', answer };
  }

  function shortOf(project: number, charge: number): Refusal | null {
    const balance = projects.balanceOf(project);
    return balance < charge ? { kind: 'insufficient', balance } : null;
  }

  function storeContent(content: Content): number {
    const { text, html, subject, from, replyTo, encrypted } = content;
    return Number(insertContent.run(text, html, subject, from, replyTo, encrypted).lastInsertRowid);
  }

  function bind(project: number, key: string | null, answer: BoundAnswer | null): void {
    if (key !== null) insertAnswer.run(project, key, answer?.status ?? null, answer?.body ?? null);
  }

  function storeMessage(
    acceptance: MessageAcceptance,
    reason: LedgerReason,
    subjectId: string,
  ): Refusal | { seq: number; message: MessageRecord; balance: number; claimed: ClaimedMessage[] } {
    const { content, recipient, claim, idempotencyKey, answer, boundMs } = acceptance;
    const project = projects.numberOf(acceptance.projectId);
    const at = now();
    const refused = refusal(project, acceptance, at);
    if (refused !== null) return refused;
    const message = queuedMessage(acceptance, recipient, null, at);
    projects.move(project, -message.credits, reason, subjectId);
    const pendingKey = answer === null ? idempotencyKey : null;
    const { lastInsertRowid } = insertMessage.run(
      message.id,
      project,
      storeContent(content),
      message.channel,
      message.to,
      message.operator,
      message.parts,
      message.rateMultiplier,
      message.credits,
      at,
      claim === null ? at : null,
      claim?.token ?? null,
      claim === null ? 0 : 1,
      pendingKey,
      recipient.lane,
      claim === null ? null : recipient.route,
      claim?.doubtMs ?? null,
      at + boundMs,
    );
    const seq = Number(lastInsertRowid);
    const balance = projects.balanceOf(project);
    bind(project, idempotencyKey, answer?.(message, balance) ?? null);
    if (claim === null) return { seq, message, balance, claimed: [] };
    leases.open(claim, seq, seq, 1);
    const claimed = claimedOf(acceptance, {
      seq,
      message,
      recipient,
      token: claim.token,
      pendingKey,
      earlier: null,
      lifeMs: null,
    });
    return { seq, message, balance, claimed: [claimed] };
  }

  function acceptMessage(acceptance: MessageAcceptance): AcceptResult {
    const stored = storeMessage(acceptance, 'message', acceptance.recipient.id);
    if ('kind' in stored) return stored;
    const { message, balance, claimed } = stored;
    return { kind: 'accepted', message, balance, claimed };
  }

  function acceptVerification(acceptance: VerificationAcceptance): VerificationResult {
    const { id, codeHash, attempts, lifeMs } = acceptance.verification;
    const stored = storeMessage(acceptance, 'verification', id);
    if ('kind' in stored) return stored;
    const { seq, message, claimed, balance } = stored;
    const { channel, to, credits, createdAt, projectId } = message;
    const expiresAt = createdAt + lifeMs;
    insertVerification.run(id, projects.numberOf(projectId), seq, codeHash, attempts, createdAt, expiresAt);
    const verification = {
      id,
      status: 'pending' as const,
      channel,
      to,
      attemptsRemaining: attempts,
      credits,
      codeHash,
      createdAt,
      expiresAt,
      verifiedAt: null,
    };
    const living = claimed.map((one) => ({ ...one, lifeMs }));
    return { kind: 'accepted', message, verification, balance, claimed: living };
  }

  function acceptBatch(acceptance: BatchAcceptance): BatchResult {
    const { projectId, batchId, channel, content, recipients, claim, idempotencyKey, answer } = acceptance;
    const { parts, rateMultiplier, credits, boundMs } = acceptance;
    const project = projects.numberOf(projectId);
    const total = recipients.length;
    const refused = unreadyFor(project, idempotencyKey) ?? shortOf(project, credits * total);
    if (refused !== null) return refused;
    const at = now();
    const batch: BatchRecord = {
      id: batchId,
      status: 'processing',
      channel,
      total,
      sent: 0,
      failed: 0,
      credits: credits * total,
      createdAt: at,
      completedAt: null,
    };
    projects.move(project, -batch.credits, 'batch', batchId);
    const contentSeq = storeContent(content);
    const first = (selectNextMessage.get() as { next: number }).next;
    const last = first + total - 1;
    const inserted = insertBatch.run(batchId, project, channel, total, batch.credits, first, at);
    const isClaimed = claim !== null;
    insertBatchMessages.run({
      project,
      batch: inserted.lastInsertRowid,
      content: contentSeq,
      channel,
      parts,
      rateMultiplier,
      credits,
      createdAt: at,
      dueAt: isClaimed ? null : at,
      lease: claim?.token ?? null,
      attempts: isClaimed ? 1 : 0,
      doubtMs: claim?.doubtMs ?? null,
      boundAt: at + boundMs,
      recipients: JSON.stringify(
        recipients.map((one) => [one.id, one.to, one.operator, one.lane, isClaimed ? one.route : null]),
      ),
    });
    const balance = projects.balanceOf(project);
    bind(project, idempotencyKey, answer(batch, balance));
    if (claim === null) return { kind: 'accepted', batch, balance, claimed: [] };
    leases.open(claim, first, last, total);
    const repeated = selectRepeatedRecipients.all(first, last) as { seq: number; recipient: string }[];
    const earlier = new Map(
      repeated.map(({ seq, recipient }) => [recipient, earlierTo(project, recipient, at, seq)]),
    );
    const claimed = recipients.map((recipient, index) =>
      claimedOf(acceptance, {
        seq: first + index,
        message: queuedMessage(acceptance, recipient, batchId, at),
        recipient,
        token: claim.token,
        pendingKey: null,
        earlier: earlier.get(recipient.to) ?? [],
        lifeMs: null,
      }),
    );
    return { kind: 'accepted', batch, balance, claimed };
  }

  return {
    earlierTo,
    findAnswer: (projectId: string, key: string) => findAnswer(projects.numberOf(projectId), key),
    acceptMessage,
    acceptVerification,
    acceptBatch,
  };
}

export type AcceptanceStatements = ReturnType<typeof prepareAcceptance>;
