import type { Channel } from '../../../contract/index.js';
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
import { longestDelay } from '../times.js';
import { type AcceptanceStatements, hasEarlier } from './acceptance.js';
import type { Database } from './database/open.js';
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
  const selectDue = database.prepare(
    `SELECT seq, id, project, batch, content, channel, recipient, operator, parts, rate_multiplier, credits,
       created_at, attempts, pending_key,
       batch IS NOT NULL AND ${hasEarlier}
     FROM messages m WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?`,
  );
  selectDue.setReturnArrays(true);
  // A run of neighbours in one statement costs a tenth of one statement for each.
  const claimRun = database.prepare(
    `UPDATE messages SET lease = ?, due_at = NULL, attempts = attempts + 1
     WHERE seq BETWEEN ? AND ? AND +due_at <= ?`,
  );
  const markAllSent = database.prepare(
    `UPDATE messages SET status = 'sent', sent_at = ?, lease = NULL, pending_key = NULL
     WHERE seq BETWEEN ? AND ? AND lease = ?`,
  );
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
  const selectLastDue = database.prepare('SELECT max(due_at) AS last FROM messages WHERE due_at IS NOT NULL');
  const bringForward = database.prepare(
    'UPDATE messages SET due_at = ? WHERE seq IN (SELECT seq FROM messages WHERE due_at > ? LIMIT ?)',
  );
  const selectAnyDue = database.prepare('SELECT 1 FROM messages WHERE due_at <= ? LIMIT 1');

  /** Whether a message waits for a time that only a clock which was set back explains. */
  function isAheadOf(now: Instant): boolean {
    return ((selectLastDue.get() as { last: number | null }).last ?? now) > now + longestDelay;
  }

  function contentOf(seq: number): Content {
    const { text, html, subject, sender, reply_to, sealed } = selectContent.get(seq) as ContentRow;
    return { text, html, subject, from: sender, replyTo: reply_to, sealed };
  }

  function batchIdOf(seq: number): string {
    return (selectBatch.get(seq) as { id: string }).id;
  }

  function claimMessages({ lease, now, limit }: { lease: Lease; now: Instant; limit: number }) {
    leases.endExpired(now);
    bringForward.run(now, now + longestDelay, limit);
    const rows = selectDue.all(now, limit) as unknown as ClaimedRow[];
    const numbers = rows.map(([seq]) => seq).sort((one, other) => one - other);
    for (const [first, last] of runsOf(numbers)) claimRun.run(lease.token, first, last, now);
    if (rows.length > 0) leases.open(lease, numbers[0] ?? 0, numbers.at(-1) ?? 0, rows.length);
    const contents = remembered(contentOf);
    const batchIds = remembered(batchIdOf);
    return rows.map((row): ClaimedMessage => {
      const [seq, id, project, batch, content, channel, to, operator, parts, rateMultiplier] = row;
      const [, , , , , , , , , , credits, createdAt, before, pendingKey, hasEarlier] = row;
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
        attempts: before + 1,
        earlier: batch === null ? null : earlier,
      };
    });
  }

  /** Ends a message; false when its lease was lost. */
  function end({ claimed, outcome, at }: Settlement, project: number): boolean {
    const { message, lease } = claimed;
    if (outcome.status === 'sent') return markSent.run(at, message.id, lease.token).changes === 1;
    const { error } = outcome;
    if (markFailed.run(error.code, error.message, message.id, lease.token).changes === 0) return false;
    failVerification.run(message.id);
    projects.move(project, message.credits, 'refund', message.id, at);
    return true;
  }

  /** Ends all that is left of a lease in one statement, when it is all sent. */
  function endWhole(settlements: readonly Settlement[]): boolean {
    const [first] = settlements;
    if (first === undefined || settlements.length === 1) return false;
    const { claimed, at } = first;
    const ids = new Set(settlements.map((one) => one.claimed.message.id));
    const lease = leases.find(claimed.lease.token);
    if (lease?.open !== ids.size || settlements.some((one) => one.outcome.status !== 'sent')) return false;
    const sent = markAllSent.run(at, lease.first_message, lease.last_message, lease.token);
    if (sent.changes !== ids.size)
      throw new Error(`lease ${lease.token} holds other messages than it counts`);
    return true;
  }

  /** Ends the messages of one lease; tells of each whether it did. */
  function endAll(settlements: readonly Settlement[]): boolean[] {
    const whole = endWhole(settlements);
    const ended = settlements.map(
      (one) => whole || end(one, projects.numberOf(one.claimed.message.projectId)),
    );
    const token = settlements[0]?.claimed.lease.token;
    if (token !== undefined) leases.giveBack(token, ended.filter(Boolean).length);
    return ended;
  }

  function settleMessages(
    settlements: readonly Settlement[],
    answer: (message: MessageRecord, balance: number) => BoundAnswer,
  ): (Settled | null)[] {
    const byLease = groupBy(settlements, ({ claimed }) => claimed.lease.token);
    const ended = new Set<Settlement>();
    for (const group of byLease.values()) {
      for (const [index, done] of endAll(group).entries()) {
        const settlement = group[index];
        if (done && settlement !== undefined) ended.add(settlement);
      }
    }
    const batches = groupBy([...ended], ({ claimed }) => claimed.message.batchId);
    for (const [id, group] of batches) {
      if (id === null) continue;
      const sent = group.filter(({ outcome }) => outcome.status === 'sent').length;
      countBatch.run({ id, sent, failed: group.length - sent, at: group.at(-1)?.at ?? 0 });
    }
    const balances = remembered(projects.balanceOf);
    return settlements.map((settlement) => {
      if (!ended.has(settlement)) return null;
      const { claimed } = settlement;
      const project = projects.numberOf(claimed.message.projectId);
      if (claimed.content.sealed !== null) eraseSealed.run(claimed.message.id);
      const message = endedMessage(settlement);
      const balance = balances(project);
      if (claimed.pendingKey !== null) {
        const bound = answer(message, balance);
        bindAnswer.run(bound.status, bound.body, project, claimed.pendingKey);
      }
      return { message, balance };
    });
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
    nextDue(now: Instant): Instant | null {
      if (isAheadOf(now)) return now;
      const times = [(selectNextDue.get() as { next: number | null }).next, leases.nextEnd(now)];
      const known = times.filter((time) => time !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
    hasDue: (now: Instant) =>
      leases.nextEnd(now) !== null || selectAnyDue.get(now) !== undefined || isAheadOf(now),
  };
}

function endedMessage({ claimed: { message }, outcome, at }: Settlement): MessageRecord {
  return outcome.status === 'sent'
    ? { ...message, status: 'sent', sentAt: at }
    : { ...message, status: 'failed', error: outcome.error, credits: 0 };
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** The first and last of every run of neighbours. */
function runsOf(numbers: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
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
