import type { AnswerOf, ClaimedMessage, Finalization, Finalized, Receipt } from '../dispatching.js';
import type { DeliveryState, Instant, MessageRecord } from '../records.js';
import { groupBy, isLeased, isMarked, remembered, runsOf } from './claims.js';
import type { Database } from './database/open.js';
import type { Leases } from './leases.js';
import type { Projects } from './projects.js';
import type { Receipts } from './receipts.js';

const left = `status = 'sent', sent_at = :at, lease = NULL, pending_key = NULL, delivery = :delivery`;
const sent = `${left}, due_at = NULL, doubt_until = CASE WHEN :delivery = 'unknown' THEN doubt_until END`;
/** Nothing that an index holds changes when it is sent. */
const isSubmitted = `lease = :token AND status = 'queued' AND route IS NOT NULL AND attempts = :attempt
  AND due_at IS NULL AND doubt_until IS NULL`;

type Departures = ReturnType<Leases['departures']>;

/** Ends of messages. The functions write inside the transaction of their caller. */
export function prepareFinalization(
  database: Database,
  projects: Projects,
  leases: Leases,
  receipts: Receipts,
  now: () => Instant,
) {
  const sendMarked = database.prepare(`UPDATE messages SET ${sent} WHERE ${isMarked}`);
  const sendLeased = database.prepare(`UPDATE messages SET ${sent} WHERE ${isLeased}`);
  const sendSubmitted = database.prepare(
    `UPDATE messages SET ${left} WHERE seq = :seq AND id = :id AND ${isSubmitted}`,
  );
  const inRun = `seq BETWEEN :first AND :last AND ${isSubmitted}`;
  const countRun = database.prepare(`SELECT count(*) AS messages FROM messages WHERE ${inRun}`);
  const sendRun = database.prepare(`UPDATE messages SET ${left} WHERE ${inRun}`);
  const failed = `status = 'failed', error_code = :code, error_message = :text, credits = 0, refunded = 1, lease = NULL,
    due_at = NULL, doubt_until = NULL, pending_key = NULL`;
  const failMarked = database.prepare(`UPDATE messages SET ${failed} WHERE ${isMarked}`);
  const failLeased = database.prepare(`UPDATE messages SET ${failed} WHERE ${isLeased}`);
  const eraseEncrypted = database.prepare(
    'UPDATE contents SET sealed = NULL WHERE seq = (SELECT content FROM messages WHERE seq = ?)',
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
     WHERE id = :id`,
  );

  /** False when another has passed its fence. */
  function send(
    { seq, message: { id }, mark, token }: ClaimedMessage,
    at: Instant,
    delivery: DeliveryState | null,
    departures: Departures,
  ): boolean {
    if (mark === null) return departures.leave(seq, () => sendLeased.run({ seq, id, at, delivery, token }));
    const { attempt } = mark;
    if (sendSubmitted.run({ seq, id, at, delivery, token, attempt }).changes === 1) {
      departures.add(token, 1);
      return true;
    }
    return departures.leave(seq, () => sendMarked.run({ seq, id, at, delivery, attempt }));
  }

  /** Ends a message; null when another has passed its fence. */
  function end(
    { claimed, outcome }: Finalization,
    at: Instant,
    departures: Departures,
  ): MessageRecord | null {
    const { seq, message, mark, token } = claimed;
    if (outcome.status === 'sent') {
      const { carrierIds, delivery } = outcome;
      if (!send(claimed, at, delivery, departures)) return null;
      const known = mark === null ? null : receipts.submitted(seq, mark.route, message.to, carrierIds);
      return sentMessage(message, at, known ?? delivery);
    }
    const { code, message: text } = outcome.error;
    const failing = { seq, id: message.id, code, text };
    const fail = () =>
      mark === null
        ? failLeased.run({ ...failing, token })
        : failMarked.run({ ...failing, attempt: mark.attempt });
    if (!departures.leave(seq, fail)) return null;
    failVerification.run(seq);
    projects.move(projects.numberOf(message.projectId), message.credits, 'refund', message.id);
    return { ...message, status: 'failed', error: outcome.error, credits: 0 };
  }

  /** Ends neighbours that were sent alike in one statement each. */
  function endRuns(
    finalizations: readonly Finalization[],
    at: Instant,
    departures: Departures,
  ): Map<Finalization, MessageRecord> {
    const ended = new Map<Finalization, MessageRecord>();
    const plain = finalizations.filter(({ claimed: { mark }, outcome }) => mark !== null && isPlain(outcome));
    const groups = groupBy(plain, ({ claimed }) => `${claimed.token} ${claimed.mark?.attempt}`);
    for (const group of groups.values()) {
      const bySeq = new Map(group.map((one) => [one.claimed.seq, one]));
      for (const [first, last] of runsOf([...bySeq.keys()].sort((a, b) => a - b))) {
        const claimed = bySeq.get(first)?.claimed;
        if (first === last || claimed === undefined) continue;
        const run = { first, last, token: claimed.token, attempt: claimed.mark?.attempt ?? 0 };
        if ((countRun.get(run) as { messages: number }).messages !== last - first + 1) continue;
        sendRun.run({ ...run, at, delivery: null });
        departures.add(claimed.token, last - first + 1);
        for (let seq = first; seq <= last; seq += 1) {
          const one = bySeq.get(seq) as Finalization;
          ended.set(one, sentMessage(one.claimed.message, at, null));
        }
      }
    }
    return ended;
  }

  function finalizeMessages(finalizations: readonly Finalization[], answer: AnswerOf): (Finalized | null)[] {
    const at = now();
    const departures = leases.departures();
    const ended = endRuns(finalizations, at, departures);
    for (const one of finalizations) {
      const message = ended.has(one) ? null : end(one, at, departures);
      if (message !== null) ended.set(one, message);
    }
    departures.write();
    for (const [id, group] of groupBy([...ended.values()], ({ batchId }) => batchId)) {
      if (id === null) continue;
      const count = group.filter(({ status }) => status === 'sent').length;
      countBatch.run({ id, sent: count, failed: group.length - count, at });
    }
    const balances = remembered(projects.balanceOf);
    return finalizations.map((one) => {
      const message = ended.get(one);
      if (message === undefined) return null;
      const { seq, content, pendingKey } = one.claimed;
      const project = projects.numberOf(message.projectId);
      if (content.encrypted !== null) eraseEncrypted.run(seq);
      const balance = balances(project);
      if (pendingKey !== null) {
        const bound = answer(message, balance);
        bindAnswer.run(bound.status, bound.body, project, pendingKey);
      }
      return { message, balance };
    });
  }

  /** Stores a receipt, and ends the message in doubt that it joins. */
  function recordReceipt(
    receipt: Receipt,
    read: (seq: number) => ClaimedMessage | null,
    answer: AnswerOf,
  ): (Finalized & { pendingKey: string | null })[] {
    const seq = receipts.received(receipt);
    const claimed = seq === null ? null : read(seq);
    if (claimed === null) return [];
    const outcome = { status: 'sent' as const, carrierIds: [receipt.carrierId], delivery: null };
    const [finalized] = finalizeMessages([{ claimed, outcome }], answer);
    return finalized ? [{ ...finalized, pendingKey: claimed.pendingKey }] : [];
  }

  return { finalizeMessages, recordReceipt };
}

function isPlain(outcome: Finalization['outcome']): boolean {
  return outcome.status === 'sent' && outcome.carrierIds.length === 0 && outcome.delivery === null;
}

function sentMessage(message: MessageRecord, at: Instant, delivery: DeliveryState | null): MessageRecord {
  return { ...message, status: 'sent', sentAt: at, delivery };
}
