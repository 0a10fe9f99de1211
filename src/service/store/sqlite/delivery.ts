import type { Database } from '../../database/open.js';
import type {
  BoundAnswer,
  ClaimedMessage,
  Content,
  Instant,
  Lease,
  MessageRecord,
  Settled,
  Settlement,
} from '../store.js';
import type { AcceptanceStatements } from './acceptance.js';
import type { Projects } from './projects.js';
import { type MessageRow, selectMessage, toMessage } from './rows.js';

interface ContentRow {
  text: string | null;
  html: string | null;
  subject: string | null;
  sender: string | null;
  reply_to: string | null;
  sealed: Uint8Array | null;
}

/** Messages on their way out. The functions write inside the transaction of their caller. */
export function prepareDelivery(database: Database, projects: Projects, acceptance: AcceptanceStatements) {
  const selectDue = database.prepare(`${selectMessage} WHERE m.due_at <= ? ORDER BY m.due_at, m.seq LIMIT ?`);
  const selectOne = database.prepare(`${selectMessage} WHERE m.id = ?`);
  const selectContent = database.prepare('SELECT * FROM contents WHERE seq = ?');
  const claim = database.prepare(
    'UPDATE messages SET lease = ?, due_at = ?, attempts = attempts + 1 WHERE seq = ?',
  );
  const renew = database.prepare('UPDATE messages SET due_at = ? WHERE id = ? AND lease = ?');
  const postpone = database.prepare(
    'UPDATE messages SET lease = NULL, due_at = ? WHERE id = ? AND lease = ?',
  );
  const markSent = database.prepare(
    `UPDATE messages SET status = 'sent', sent_at = ?, due_at = NULL, lease = NULL, pending_key = NULL
     WHERE seq = ?`,
  );
  const markFailed = database.prepare(
    `UPDATE messages SET status = 'failed', error_code = ?, error_message = ?, credits = 0, refunded = 1,
       due_at = NULL, lease = NULL, pending_key = NULL
     WHERE seq = ?`,
  );
  const eraseSealed = database.prepare(
    'UPDATE contents SET sealed = NULL WHERE seq = ? AND sealed IS NOT NULL',
  );
  const failVerification = database.prepare(
    `UPDATE verifications SET status = 'failed' WHERE message = ? AND status = 'pending'`,
  );
  const bindAnswer = database.prepare(
    'UPDATE idempotency SET status = ?, body = ? WHERE project = ? AND key = ?',
  );
  const countBatch = database.prepare(
    `UPDATE batches SET sent = sent + :sent, failed = failed + :failed,
       completed_at = CASE WHEN sent + failed + :sent + :failed = total THEN :at END
     WHERE seq = :batch`,
  );
  const selectNextDue = database.prepare('SELECT min(due_at) AS next FROM messages WHERE due_at IS NOT NULL');
  const selectWaiting = database.prepare(
    'SELECT 1 FROM messages WHERE due_at IS NOT NULL AND (due_at <= ? OR lease IS NOT NULL) LIMIT 1',
  );

  function contentOf(seq: number): Content {
    const { text, html, subject, sender, reply_to, sealed } = selectContent.get(seq) as ContentRow;
    return { text, html, subject, from: sender, replyTo: reply_to, sealed };
  }

  function claimMessages({ lease, now, limit }: { lease: Lease; now: Instant; limit: number }) {
    const contents = new Map<number, Content>();
    return (selectDue.all(now, limit) as MessageRow[]).map((row): ClaimedMessage => {
      claim.run(lease.token, lease.until, row.seq);
      const content = contents.get(row.content) ?? contentOf(row.content);
      contents.set(row.content, content);
      return {
        message: toMessage(row, projects.idOf(row.project)),
        content,
        lease,
        attempts: row.attempts + 1,
        earlier:
          row.batch === null
            ? null
            : acceptance.earlierTo(row.project, row.recipient, row.created_at, row.seq),
      };
    });
  }

  function settleMessages(
    settlements: readonly Settlement[],
    answer: (message: MessageRecord, balance: number) => BoundAnswer,
  ): (Settled | null)[] {
    const batches = new Map<number, { sent: number; failed: number; at: Instant }>();
    const settled = settlements.map(({ messageId, token, outcome, at }): Settled | null => {
      const row = selectOne.get(messageId) as MessageRow | undefined;
      if (row === undefined || row.lease !== token) return null;
      const before = toMessage(row, projects.idOf(row.project));
      let message: MessageRecord;
      if (outcome.status === 'sent') {
        markSent.run(at, row.seq);
        message = { ...before, status: 'sent', sentAt: at };
      } else {
        const { error } = outcome;
        markFailed.run(error.code, error.message, row.seq);
        failVerification.run(row.seq);
        projects.move(row.project, row.credits, 'refund', row.id, at);
        message = { ...before, status: 'failed', error, credits: 0 };
      }
      if (row.batch === null) {
        eraseSealed.run(row.content);
      } else {
        const counts = batches.get(row.batch) ?? { sent: 0, failed: 0, at };
        counts[outcome.status] += 1;
        batches.set(row.batch, { ...counts, at });
      }
      const balance = projects.balanceOf(row.project);
      if (row.pending_key !== null) {
        const bound = answer(message, balance);
        bindAnswer.run(bound.status, bound.body, row.project, row.pending_key);
      }
      return { message, balance, idempotencyKey: row.pending_key };
    });
    for (const [batch, counts] of batches) countBatch.run({ batch, ...counts });
    return settled;
  }

  return {
    claimMessages,
    settleMessages,
    renewLeases: (messages: readonly { messageId: string; token: string }[], until: Instant) =>
      messages.map(({ messageId, token }) => renew.run(until, messageId, token).changes === 1),
    postponeMessages(messages: readonly { messageId: string; token: string; at: Instant }[]): void {
      for (const { messageId, token, at } of messages) postpone.run(at, messageId, token);
    },
    nextDue: () => (selectNextDue.get() as { next: number | null }).next,
    hasDue: (now: Instant) => selectWaiting.get(now) !== undefined,
  };
}
