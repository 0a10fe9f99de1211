import { cappedUntil, earlierMessages, longestWindow } from '../caps.js';
import type {
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  BoundAnswer,
  Content,
  Instant,
  LedgerReason,
  MessageAcceptance,
  VerificationAcceptance,
} from '../store.js';
import { acceptedAt, type ClockCorrections } from './clock-corrections.js';
import type { Database } from './database/open.js';
import type { Leases } from './leases.js';
import type { Projects } from './projects.js';
import type { Resets } from './resets.js';

/** Whether another counted message to the recipient of `m` was accepted before it, however long ago. */
export const hasEarlier = `EXISTS (SELECT 1 FROM messages e WHERE e.project = m.project
  AND e.recipient = m.recipient AND e.refunded = 0 AND e.seq < m.seq)`;

/** Taking in what a caller sends. The functions write inside the transaction of their caller. */
export function prepareAcceptance(
  database: Database,
  projects: Projects,
  leases: Leases,
  corrections: ClockCorrections,
  resets: Resets,
) {
  const selectAnswer = database.prepare('SELECT status, body FROM idempotency WHERE project = ? AND key = ?');
  const insertAnswer = database.prepare(
    'INSERT INTO idempotency (project, key, status, body) VALUES (?, ?, ?, ?)',
  );
  const insertContent = database.prepare(
    'INSERT INTO contents (text, html, subject, sender, reply_to, sealed) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertMessage = database.prepare(
    `INSERT INTO messages (id, project, batch, content, channel, recipient, operator, status, parts,
       rate_multiplier, credits, created_at, due_at, lease, attempts, pending_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertBatchMessages = database.prepare(
    `INSERT INTO messages (id, project, batch, content, channel, recipient, operator, status, parts,
       rate_multiplier, credits, created_at, due_at, lease, attempts)
     SELECT value ->> 0, :project, :batch, :content, :channel, value ->> 1, value ->> 2, 'queued', :parts,
       :rateMultiplier, :credits, :createdAt, :dueAt, :lease, :attempts
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

  function refusal(
    project: number,
    { message, caps, idempotencyKey }: MessageAcceptance,
  ): Exclude<AcceptResult, { kind: 'accepted' }> | null {
    const unready = unreadyFor(project, idempotencyKey, message.createdAt);
    if (unready !== null) return unready;
    const earlier = earlierTo(project, message.to, message.createdAt, Number.MAX_SAFE_INTEGER);
    const until = cappedUntil(earlier, caps, message.createdAt);
    return until === null ? shortOf(project, message.credits) : { kind: 'capped', until };
  }

  /** What comes before any check: a reset under way, or an earlier request with the key. */
  function unreadyFor(project: number, key: string | null, at: Instant): Unready | null {
    if (resets.isUnderWay(at)) return { kind: 'resetting' };
    const answer = key === null ? undefined : findAnswer(project, key);
    return answer === undefined ? null : { kind: 'repeat', answer };
  }

  function shortOf(project: number, charge: number): Shortage | null {
    const balance = projects.balanceOf(project);
    return balance < charge ? { kind: 'insufficient', balance } : null;
  }

  function storeContent(content: Content): number {
    const { text, html, subject, from, replyTo, sealed } = content;
    return Number(insertContent.run(text, html, subject, from, replyTo, sealed).lastInsertRowid);
  }

  function bind(project: number, key: string | null, answer: BoundAnswer | null): void {
    if (key !== null) insertAnswer.run(project, key, answer?.status ?? null, answer?.body ?? null);
  }

  function storeMessage(
    project: number,
    acceptance: MessageAcceptance,
    reason: LedgerReason,
    subjectId: string,
  ): { seq: number; balance: number } {
    const { message, content, lease, idempotencyKey, answer } = acceptance;
    projects.move(project, -message.credits, reason, subjectId, message.createdAt);
    const { lastInsertRowid } = insertMessage.run(
      message.id,
      project,
      null,
      storeContent(content),
      message.channel,
      message.to,
      message.operator,
      message.parts,
      message.rateMultiplier,
      message.credits,
      message.createdAt,
      lease === null ? message.createdAt : null,
      lease?.token ?? null,
      lease === null ? 0 : 1,
      answer === null ? idempotencyKey : null,
    );
    const seq = Number(lastInsertRowid);
    if (lease !== null) leases.open(lease, seq, seq, 1);
    const balance = projects.balanceOf(project);
    bind(project, idempotencyKey, answer?.(balance) ?? null);
    return { seq, balance };
  }

  function acceptMessage(acceptance: MessageAcceptance): AcceptResult {
    const { message } = acceptance;
    const project = projects.numberOf(message.projectId);
    const refused = refusal(project, acceptance);
    if (refused !== null) return refused;
    const { balance } = storeMessage(project, acceptance, 'message', message.id);
    return { kind: 'accepted', balance };
  }

  function acceptVerification(acceptance: VerificationAcceptance): AcceptResult {
    const { message, verification } = acceptance;
    const project = projects.numberOf(message.projectId);
    const refused = refusal(project, acceptance);
    if (refused !== null) return refused;
    const { seq, balance } = storeMessage(project, acceptance, 'verification', verification.id);
    const { id, codeHash, attempts, expiresAt } = verification;
    insertVerification.run(id, project, seq, codeHash, attempts, message.createdAt, expiresAt);
    return { kind: 'accepted', balance };
  }

  function acceptBatch(acceptance: BatchAcceptance): BatchResult {
    const { projectId, batch, content, each, recipients, lease, idempotencyKey, answer } = acceptance;
    const project = projects.numberOf(projectId);
    const refused = unreadyFor(project, idempotencyKey, batch.createdAt) ?? shortOf(project, batch.credits);
    if (refused !== null) return refused;
    const { id, channel, total, credits, createdAt } = batch;
    projects.move(project, -credits, 'batch', id, createdAt);
    const contentSeq = storeContent(content);
    const first = (selectNextMessage.get() as { next: number }).next;
    const last = first + recipients.length - 1;
    const inserted = insertBatch.run(id, project, channel, total, credits, first, createdAt);
    insertBatchMessages.run({
      project,
      batch: inserted.lastInsertRowid,
      content: contentSeq,
      channel,
      parts: each.parts,
      rateMultiplier: each.rateMultiplier,
      credits: each.credits,
      createdAt,
      dueAt: lease === null ? createdAt : null,
      lease: lease?.token ?? null,
      attempts: lease === null ? 0 : 1,
      recipients: JSON.stringify(recipients.map((one) => [one.id, one.to, one.operator])),
    });
    const balance = projects.balanceOf(project);
    bind(project, idempotencyKey, answer(balance));
    const earlier = new Map<string, Instant[]>();
    if (lease !== null) {
      leases.open(lease, first, last, recipients.length);
      const repeated = selectRepeatedRecipients.all(first, last) as { seq: number; recipient: string }[];
      for (const { seq, recipient } of repeated) {
        earlier.set(recipient, earlierTo(project, recipient, createdAt, seq));
      }
    }
    return { kind: 'accepted', balance, earlier };
  }

  return {
    earlierTo,
    findAnswer: (projectId: string, key: string) => findAnswer(projects.numberOf(projectId), key),
    acceptMessage,
    acceptVerification,
    acceptBatch,
  };
}

type Shortage = Extract<AcceptResult, { kind: 'insufficient' }>;
type Unready = Extract<AcceptResult, { kind: 'repeat' | 'resetting' }>;

export type AcceptanceStatements = ReturnType<typeof prepareAcceptance>;
