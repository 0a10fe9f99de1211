import type { Channel } from '../../../contract/index.js';
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
import type { Leases } from './leases.js';
import type { Projects } from './projects.js';

interface ContentRow {
  text: string | null;
  html: string | null;
  subject: string | null;
  sender: string | null;
  reply_to: string | null;
  sealed: Uint8Array | null;
}

/** What a claim reads of a message, in this order. */
type ClaimedRow = [
  seq: number,
  id: string,
  project: number,
  batch: number | null,
  content: number,
  channel: Channel,
  recipient: string,
  operator: string | null,
  parts: number | null,
  rateMultiplier: number | null,
  credits: number,
  createdAt: number,
  attempts: number,
  pendingKey: string | null,
  hasEarlier: number,
];

/** Messages on their way out. The functions write inside the transaction of their caller. */
export function prepareDelivery(
  database: Database,
  projects: Projects,
  leases: Leases,
  acceptance: AcceptanceStatements,
) {
  const claim = database.prepare(
    `UPDATE messages SET lease = ?, due_at = NULL, attempts = attempts + 1
     WHERE seq IN (SELECT seq FROM messages WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?)
     RETURNING seq, id, project, batch, content, channel, recipient, operator, parts, rate_multiplier, credits,
       created_at, attempts, pending_key,
       batch IS NOT NULL AND EXISTS (SELECT 1 FROM messages e WHERE e.project = messages.project
         AND e.recipient = messages.recipient AND e.refunded = 0 AND e.seq < messages.seq)`,
  );
  claim.setReturnArrays(true);
  const selectContent = database.prepare('SELECT * FROM contents WHERE seq = ?');
  const selectBatch = database.prepare('SELECT id FROM batches WHERE seq = ?');
  const postpone = database.prepare(
    'UPDATE messages SET lease = NULL, due_at = ? WHERE id = ? AND lease = ?',
  );
  const markSent = database.prepare(
    `UPDATE messages SET status = 'sent', sent_at = ?, lease = NULL, pending_key = NULL
     WHERE id = ? AND lease = ?`,
  );
  const markFailed = database.prepare(
    `UPDATE messages SET status = 'failed', error_code = ?, error_message = ?, credits = 0, refunded = 1,
       lease = NULL, pending_key = NULL
     WHERE id = ? AND lease = ?`,
  );
  const eraseSealed = database.prepare(
    'UPDATE contents SET sealed = NULL WHERE seq = (SELECT content FROM messages WHERE id = ?)',
  );
  const failVerification = database.prepare(
    `UPDATE verifications SET status = 'failed'
     WHERE message = (SELECT seq FROM messages WHERE id = ?) AND status = 'pending'`,
  );
  const bindAnswer = database.prepare(
    'UPDATE idempotency SET status = ?, body = ? WHERE project = ? AND key = ?',
  );
  const countBatch = database.prepare(
    `UPDATE batches SET sent = sent + :sent, failed = failed + :failed,
       completed_at = CASE WHEN sent + failed + :sent + :failed = total THEN :at END
     WHERE id = :id`,
  );
  const selectNextDue = database.prepare('SELECT min(due_at) AS next FROM messages WHERE due_at IS NOT NULL');
  const selectDue = database.prepare('SELECT 1 FROM messages WHERE due_at <= ? LIMIT 1');

  function contentOf(seq: number): Content {
    const { text, html, subject, sender, reply_to, sealed } = selectContent.get(seq) as ContentRow;
    return { text, html, subject, from: sender, replyTo: reply_to, sealed };
  }

  function batchIdOf(seq: number): string {
    return (selectBatch.get(seq) as { id: string }).id;
  }

  function claimMessages({ lease, now, limit }: { lease: Lease; now: Instant; limit: number }) {
    leases.endExpired(now);
    const rows = claim.all(lease.token, now, limit) as unknown as ClaimedRow[];
    rows.sort((one, other) => one[0] - other[0]);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first !== undefined && last !== undefined) leases.open(lease, first[0], last[0], rows.length);
    const contents = remembered(contentOf);
    const batchIds = remembered(batchIdOf);
    return rows.map((row): ClaimedMessage => {
      const [seq, id, project, batch, content, channel, to, operator, ...rest] = row;
      const [parts, rateMultiplier, credits, createdAt, attempts, pendingKey, hasEarlier] = rest;
      const earlier = hasEarlier === 1 ? acceptance.earlierTo(project, to, createdAt, seq) : [];
      return {
        message: {
          id,
          projectId: projects.idOf(project),
          batchId: batch === null ? null : batchIds(batch),
          channel,
          to,
          operator,
          status: 'queued',
          parts,
          rateMultiplier,
          credits,
          error: null,
          createdAt,
          sentAt: null,
        },
        content: contents(content),
        lease,
        pendingKey,
        attempts,
        earlier: batch === null ? null : earlier,
      };
    });
  }

  /** The message as it ended; null when its lease was lost. */
  function end({ claimed, outcome, at }: Settlement, project: number): MessageRecord | null {
    const { message, lease } = claimed;
    if (outcome.status === 'sent') {
      if (markSent.run(at, message.id, lease.token).changes === 0) return null;
      return { ...message, status: 'sent', sentAt: at };
    }
    const { error } = outcome;
    if (markFailed.run(error.code, error.message, message.id, lease.token).changes === 0) return null;
    failVerification.run(message.id);
    projects.move(project, message.credits, 'refund', message.id, at);
    return { ...message, status: 'failed', error, credits: 0 };
  }

  function settleMessages(
    settlements: readonly Settlement[],
    answer: (message: MessageRecord, balance: number) => BoundAnswer,
  ): (Settled | null)[] {
    const batches = new Map<string, { sent: number; failed: number; at: Instant }>();
    const balances = new Map<number, number>();
    const given = new Map<string, number>();
    const settled = settlements.map((settlement): Settled | null => {
      const { claimed, outcome, at } = settlement;
      const project = projects.numberOf(claimed.message.projectId);
      const message = end(settlement, project);
      if (message === null) return null;
      given.set(claimed.lease.token, (given.get(claimed.lease.token) ?? 0) + 1);
      if (claimed.content.sealed !== null) eraseSealed.run(message.id);
      if (message.batchId !== null) {
        const counts = batches.get(message.batchId) ?? { sent: 0, failed: 0, at };
        counts[outcome.status] += 1;
        counts.at = at;
        batches.set(message.batchId, counts);
      }
      if (outcome.status === 'failed' || !balances.has(project)) {
        balances.set(project, projects.balanceOf(project));
      }
      const balance = balances.get(project) ?? 0;
      if (claimed.pendingKey !== null) {
        const bound = answer(message, balance);
        bindAnswer.run(bound.status, bound.body, project, claimed.pendingKey);
      }
      return { message, balance };
    });
    for (const [id, counts] of batches) countBatch.run({ id, ...counts });
    for (const [token, messages] of given) leases.giveBack(token, messages);
    return settled;
  }

  return {
    claimMessages,
    settleMessages,
    renewLeases: (tokens: readonly string[], until: Instant) =>
      tokens.map((token) => leases.renew(token, until)),
    postponeMessages(messages: readonly { messageId: string; token: string; at: Instant }[]): void {
      for (const { messageId, token, at } of messages) {
        leases.giveBack(token, Number(postpone.run(at, messageId, token).changes));
      }
    },
    nextDue(): Instant | null {
      const times = [(selectNextDue.get() as { next: number | null }).next, leases.nextEnd()];
      const known = times.filter((time) => time !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
    hasDue: (now: Instant) => leases.nextEnd() !== null || selectDue.get(now) !== undefined,
  };
}

/** The same function, that looks everything up once. */
function remembered<Value>(look: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => {
    const value = known.get(key) ?? look(key);
    known.set(key, value);
    return value;
  };
}
