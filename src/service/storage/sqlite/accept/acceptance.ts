import type {
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  MessageAcceptance,
  Refusal,
  VerificationAcceptance,
  VerificationResult,
} from '../../acceptance.js';
import type { ClaimedMessage } from '../../dispatching.js';
import type {
  BatchRecord,
  BoundAnswer,
  Content,
  Instant,
  LedgerReason,
  MessageRecord,
} from '../../records.js';
import { claimedOf, pendingVerification, queuedMessage } from '../../shared/queued.js';
import { mailboxColumn, noneEarlier } from '../../shared/recipients.js';
import type { Database } from '../database/database.js';
import type { Leases } from '../dispatch/leases.js';
import type { Projects } from '../projects.js';
import { batchRows, recipientIn, wayIn, wayOf } from './batch-rows.js';
import type { MessageBlocks } from './message-blocks.js';
import { hasEarlier, type Refusals } from './refusals.js';

/** Accepts sends. The functions write inside their caller's transaction. */
export function prepareAcceptance(
  database: Database,
  projects: Projects,
  leases: Leases,
  refusals: Refusals,
  blocks: MessageBlocks,
  now: () => Instant,
) {
  const insertAnswer = database.prepare(
    'INSERT INTO idempotency (project, key, status, body) VALUES (?, ?, ?, ?)',
  );
  const insertContent = database.prepare(
    'INSERT INTO contents (text, html, subject, sender, reply_to, sealed, is_bulk) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const insertMessage = database.prepare(
    `INSERT INTO messages (id, project, content, channel, recipient, mailbox, operator, status, parts, rate_multiplier,
       credits, created_at, due_at, lease, attempts, pending_key, lane, route, doubt_ms, bound_at, is_bulk)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // See batch-rows.ts for the format of :recipients and :ways.
  const insertBatchMessages = database.prepare(
    `WITH ways AS MATERIALIZED (
       SELECT ${wayOf('key')} AS way, value ->> 0 AS operator, value ->> 1 AS lane, value ->> 2 AS route
       FROM json_each(:ways))
     INSERT INTO messages (id, project, batch, content, channel, recipient, operator, status, parts, rate_multiplier,
       credits, created_at, due_at, lease, attempts, lane, route, doubt_ms, bound_at)
     SELECT key, :project, :batch, :content, :channel, ${recipientIn('value')}, operator, 'queued', :parts,
       :rateMultiplier, :credits, :createdAt, :dueAt, :lease, :attempts, lane, route, :doubtMs, :boundAt
     FROM json_each(:recipients) CROSS JOIN ways ON way = ${wayIn('value')}`,
  );
  const setMailbox = database.prepare('UPDATE messages SET mailbox = ? WHERE seq = ?');
  const insertBatch = database.prepare(
    `INSERT INTO batches (id, project, channel, total, credits, first_message, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectNextMessage = database.prepare('SELECT coalesce(max(seq), 0) + 1 AS next FROM messages');
  const insertVerification = database.prepare(
    `INSERT INTO verifications (id, project, message, code_hash, status, attempts_remaining, created_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?, ?)`,
  );
  const selectRepeatedRecipients = database.prepare(
    `SELECT seq, recipient FROM messages m WHERE seq BETWEEN ? AND ? AND ${hasEarlier}`,
  );

  function storeContent(content: Content): number {
    const { text, html, subject, from, replyTo, encrypted, isBulk } = content;
    return Number(
      insertContent.run(text, html, subject, from, replyTo, encrypted, isBulk ? 1 : 0).lastInsertRowid,
    );
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
    const standing = refusals.standingOf(project, at);
    const refused = refusals.ofMessage(standing, acceptance, at);
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
      mailboxColumn(message.to),
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
      // The caller of an SMS waits for it.
      content.isBulk && message.channel === 'email' ? 1 : 0,
    );
    const seq = Number(lastInsertRowid);
    blocks.accepted(seq, seq);
    const balance = standing.balance - message.credits;
    bind(project, idempotencyKey, answer?.(message, balance) ?? null);
    if (claim === null) return { seq, message, balance, claimed: [] };
    leases.open(claim, [[seq, seq]]);
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
    const verification = pendingVerification(acceptance.verification, message);
    const { createdAt, expiresAt } = verification;
    const project = projects.numberOf(message.projectId);
    insertVerification.run(id, project, seq, codeHash, attempts, createdAt, expiresAt);
    const living = claimed.map((one) => ({ ...one, lifeMs }));
    return { kind: 'accepted', message, verification, balance, claimed: living };
  }

  function acceptBatch(acceptance: BatchAcceptance): BatchResult {
    const { projectId, batchId, channel, content, recipients, idempotencyKey, answer } = acceptance;
    const { parts, rateMultiplier, credits, boundMs } = acceptance;
    const project = projects.numberOf(projectId);
    const total = recipients.length;
    const at = now();
    const standing = refusals.standingOf(project, at);
    const refused = refusals.ofBatch(standing, idempotencyKey, credits * total);
    if (refused !== null) return refused;
    // Marks ask who is suppressed.
    const claim = standing.hasSuppressions ? null : acceptance.claim;
    const batch: BatchRecord = {
      id: batchId,
      status: 'processing',
      channel,
      total,
      sent: 0,
      failed: 0,
      unknown: 0,
      credits: credits * total,
      createdAt: at,
      completedAt: null,
      prunedAt: null,
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
      ...batchRows(recipients, isClaimed),
    });
    for (const [index, { to }] of recipients.entries()) {
      const mailbox = mailboxColumn(to);
      if (mailbox !== null) setMailbox.run(mailbox, first + index);
    }
    blocks.accepted(first, last);
    const balance = standing.balance - batch.credits;
    bind(project, idempotencyKey, answer(batch, balance));
    if (claim === null) return { kind: 'accepted', batch, balance, claimed: [] };
    leases.open(claim, [[first, last]]);
    const repeated = selectRepeatedRecipients.all(first, last) as { seq: number; recipient: string }[];
    const earlier = new Map(
      repeated.map(({ seq, recipient }) => [
        recipient,
        refusals.earlierTo(project, recipient, at, seq, standing),
      ]),
    );
    const claimed = recipients.map((recipient, index) =>
      claimedOf(acceptance, {
        seq: first + index,
        message: queuedMessage(acceptance, recipient, batchId, at),
        recipient,
        token: claim.token,
        pendingKey: null,
        earlier: earlier.get(recipient.to) ?? noneEarlier,
        lifeMs: null,
      }),
    );
    return { kind: 'accepted', batch, balance, claimed };
  }

  return { acceptMessage, acceptVerification, acceptBatch };
}
