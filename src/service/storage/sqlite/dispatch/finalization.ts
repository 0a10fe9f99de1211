import type {
  AnswerOf,
  ClaimedMessage,
  Finalization,
  Finalized,
  FinalizedDoubt,
  Receipt,
} from '../../dispatching.js';
import { deliveryInDoubt } from '../../dispatching.js';
import type { DeliveryState, Instant, MessageRecord } from '../../records.js';
import type { Database } from '../database/database.js';
import type { Projects } from '../projects.js';
import type { Requests } from '../requests.js';
import { remembered } from './claimed-rows.js';
import { isLeased, isMarked } from './claims.js';
import type { Leases } from './leases.js';
import type { Receipts } from './receipts.js';
import type { Reported, Reports } from './reports.js';
import type { Tries } from './tries.js';

const sent = `status = 'sent', sent_at = :at, lease = NULL, due_at = NULL, pending_key = NULL, delivery = :delivery,
  doubt_until = CASE WHEN :delivery = 'unknown' THEN doubt_until END`;
// Statements of every send have positional parameters: named ones take as long as the statement.
const isSubmitted = `lease = ? AND status = 'queued' AND route IS NOT NULL AND attempts = ?
  AND due_at IS NULL AND doubt_until IS NULL`;
/** Changes no column of an index: a submitted message has no delivery yet. */
const sentSubmitted = `status = 'sent', sent_at = ?, lease = NULL, pending_key = NULL`;

type Departures = ReturnType<Leases['departures']>;

/** Finishes messages. The functions write inside their caller's transaction. */
export function prepareFinalization(
  database: Database,
  projects: Projects,
  leases: Leases,
  receipts: Receipts,
  { tries, requests, reports }: { tries: Tries; requests: Requests; reports: Reports },
  now: () => Instant,
) {
  const sendMarked = database.prepare(`UPDATE messages SET ${sent} WHERE ${isMarked}`);
  const sendLeased = database.prepare(`UPDATE messages SET ${sent} WHERE ${isLeased}`);
  const sendSubmitted = database.prepare(
    `UPDATE messages SET ${sentSubmitted} WHERE seq = ? AND id = ? AND ${isSubmitted}`,
  );
  const sendRun = database.prepare(
    `UPDATE messages SET ${sentSubmitted} WHERE seq BETWEEN ? AND ? AND ${isSubmitted}`,
  );
  const savepoint = database.prepare('SAVEPOINT run');
  const rollBack = database.prepare('ROLLBACK TO run');
  const release = database.prepare('RELEASE run');
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

  /** False if another process has fenced it. */
  function send(
    { seq, message: { id }, mark, token }: ClaimedMessage,
    at: Instant,
    delivery: DeliveryState | null,
    departures: Departures,
  ): boolean {
    if (mark === null) return departures.leave(seq, () => sendLeased.run({ seq, id, at, delivery, token }));
    const { attempt } = mark;
    if (delivery === null && sendSubmitted.run(at, seq, id, token, attempt).changes === 1) {
      departures.add(token, 1);
      return true;
    }
    return departures.leave(seq, () => sendMarked.run({ seq, id, at, delivery, attempt }));
  }

  /** Finishes a message; null if another process has fenced it. */
  function end(
    { claimed, outcome, answer }: Finalization,
    at: Instant,
    departures: Departures,
  ): MessageRecord | null {
    const { seq, message, mark, token } = claimed;
    if (outcome.status === 'sent') {
      const { carrierIds, delivery } = outcome;
      if (!send(claimed, at, delivery, departures)) return null;
      tries.record(seq, answer, at);
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
    tries.record(seq, answer, at);
    failVerification.run(seq);
    projects.move(projects.numberOf(message.projectId), message.credits, 'refund', message.id);
    return { ...message, status: 'failed', error: outcome.error, credits: 0 };
  }

  /** Marks a run as sent in one statement; false, without any change, if one of them is fenced. */
  function sendAll(run: Run, at: Instant, departures: Departures): boolean {
    const [{ claimed }] = run;
    const { seq: first, token, mark } = claimed;
    const last = first + run.length - 1;
    savepoint.run();
    const { changes } = sendRun.run(at, first, last, token, mark?.attempt ?? 0);
    const isSent = changes === run.length;
    if (isSent) departures.add(token, run.length);
    else rollBack.run();
    release.run();
    return isSent;
  }

  function endAll(
    finalizations: readonly Finalization[],
    at: Instant,
    departures: Departures,
  ): (MessageRecord | null)[] {
    // Several projects come in turns.
    const places = [...finalizations.keys()].sort(
      (one, other) => seqOf(finalizations[one]) - seqOf(finalizations[other]),
    );
    const ended: (MessageRecord | null)[] = [];
    let next = 0;
    for (const run of runsOf(places.map((place) => finalizations[place] as Finalization))) {
      const isSent = run.length > 1 && sendAll(run, at, departures);
      for (const one of run) {
        ended[places[next] as number] = isSent
          ? sentMessage(one.claimed.message, at, null)
          : end(one, at, departures);
        next += 1;
      }
    }
    return ended;
  }

  function countBatches(ended: readonly (MessageRecord | null)[], at: Instant): void {
    const counts = new Map<string, { sent: number; failed: number }>();
    for (const message of ended) {
      if (message === null || message.batchId === null) continue;
      const count = counts.get(message.batchId) ?? { sent: 0, failed: 0 };
      counts.set(message.batchId, count);
      if (message.status === 'sent') count.sent += 1;
      else count.failed += 1;
    }
    for (const [id, { sent, failed }] of counts) countBatch.run({ id, sent, failed, at });
  }

  function finalizeMessages(finalizations: readonly Finalization[], answer: AnswerOf): (Finalized | null)[] {
    const at = now();
    const departures = leases.departures();
    const ended = endAll(finalizations, at, departures);
    departures.write();
    countBatches(ended, at);
    const keepsRequests = requests.isAny();
    const standings = remembered(projects.standingOf);
    const reported: Reported[] = [];
    const finalized = ended.map((message, index) => {
      if (message === null) return null;
      const { seq, content, pendingKey } = (finalizations[index] as Finalization).claimed;
      const project = projects.numberOf(message.projectId);
      if (keepsRequests) requests.forget(seq);
      if (content.encrypted !== null) eraseEncrypted.run(seq);
      const { balance, line } = standings(project);
      if (line !== null) reported.push({ line, seq, message });
      if (pendingKey !== null) {
        const bound = answer(message, balance);
        bindAnswer.run(bound.status, bound.body, project, pendingKey);
      }
      return { message, balance };
    });
    if (reported.length > 0) reports.ended(reported, at);
    return finalized;
  }

  /** Stores a receipt, and finishes the message in doubt that it matches. */
  function recordReceipt(
    receipt: Receipt,
    read: (seq: number) => ClaimedMessage | null,
    answer: AnswerOf,
  ): FinalizedDoubt[] {
    const seq = receipts.received(receipt);
    const claimed = seq === null ? null : read(seq);
    if (claimed === null) return [];
    const delivery = deliveryInDoubt(claimed);
    const outcome = { status: 'sent', carrierIds: [receipt.carrierId], delivery } as const;
    const [finalized] = finalizeMessages([{ claimed, outcome }], answer);
    return finalized ? [{ ...finalized, lane: claimed.lane, pendingKey: claimed.pendingKey }] : [];
  }

  return { finalizeMessages, recordReceipt };
}

type Run = [Finalization, ...Finalization[]];

/** All in order: neighbours in a lease with equal outcomes together, every other one alone. */
function runsOf(finalizations: readonly Finalization[]): Run[] {
  const runs: Run[] = [];
  let last: Finalization | null = null;
  for (const one of finalizations) {
    const continues = last !== null && isPlain(last) && isPlain(one) && isNext(one.claimed, last.claimed);
    if (continues) runs.at(-1)?.push(one);
    else runs.push([one]);
    last = one;
  }
  return runs;
}

const seqOf = (one: Finalization | undefined) => one?.claimed.seq ?? 0;

function isNext(one: ClaimedMessage, last: ClaimedMessage): boolean {
  return one.seq === last.seq + 1 && one.token === last.token && one.attempts === last.attempts;
}

function isPlain({ claimed, outcome, answer }: Finalization): boolean {
  return (
    answer === undefined &&
    claimed.mark !== null &&
    outcome.status === 'sent' &&
    outcome.carrierIds.length === 0 &&
    outcome.delivery === null
  );
}

function sentMessage(message: MessageRecord, at: Instant, delivery: DeliveryState | null): MessageRecord {
  return { ...message, status: 'sent', sentAt: at, delivery };
}
