import { recipientCaps, type SuppressionReason } from '../../../../contract/index.js';
import type {
  AcceptedRecipient,
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  MessageAcceptance,
  Refusal,
  VerificationAcceptance,
  VerificationResult,
} from '../../acceptance.js';
import { earlierMessages, longestWindow, mailboxCaps } from '../../caps.js';
import type { BatchRecord, Content, Instant } from '../../records.js';
import { claimedOf, pendingVerification, queuedMessage } from '../../shared/queued.js';
import { mailboxIn, noneEarlier, pseudonymList } from '../../shared/recipients.js';
import { boundOf } from '../../shared/rows.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { obeysOptOuts } from '../../suppressions.js';
import type { Database } from '../database/database.js';
import { Groups } from '../database/groups.js';
import { type Lost, type LostItem, repeatLost } from '../lost-commits.js';
import { answerTemplate } from './answer-template.js';

/** The argument of acceptance_1 in the schema; absent fields are null. */
type Item = LostItem & Record<string, unknown>;

interface RefusalRow {
  /** `erased`: caps and suppressions can only be read with pseudonyms. */
  kind: 'accepted' | 'erased' | Refusal['kind'];
  at: number;
  balance: number;
  wait_ms?: number;
  status: number | null;
  body: string | null;
  is_known: boolean;
}

interface AcceptedRow extends RefusalRow {
  ord: number;
  seq: number;
}

interface AcceptedBatchRow extends RefusalRow {
  seqs: number[] | null;
  earlier: [index: number, times: [own: Instant[], all: Instant[]]][] | null;
}

const windows = recipientCaps.map(({ windowSeconds }) => windowSeconds * 1_000);

/** Accepts sends, in groups of those that arrive together. */
export function createAcceptance(database: Database, lost: Lost, pseudonymOf: PseudonymOf) {
  /** From the first erasure on: most services have none. */
  let needsPseudonyms = false;

  /** Calls a function of the schema with the items, and again with their pseudonyms if caps need them. */
  function call<Row extends RefusalRow>(
    statement: string,
    items: readonly Item[],
    argumentOf: (items: readonly Item[]) => unknown,
  ): Promise<Row[]> {
    const attempt = () => {
      const given = needsPseudonyms ? items.map((item) => withPseudonyms(item, pseudonymOf)) : items;
      return database.attempt<Row>(statement, [database.now(), toJson(argumentOf(given))]);
    };
    return repeatLost(lost, items, async () => {
      const rows = await attempt();
      if (rows[0]?.kind !== 'erased') return rows;
      needsPseudonyms = true;
      return attempt();
    });
  }

  const accepts = new Groups<Item, AcceptedRow>((items) =>
    call('SELECT * FROM :s.accept_1($1::bigint, $2::json) ORDER BY ord', items, (all) => all),
  );
  // Large on their own.
  const batches = new Groups<Item, AcceptedBatchRow>(
    (items) => call('SELECT * FROM :s.accept_batch_1($1::bigint, $2::json)', items, ([batch]) => batch),
    { most: 1 },
  );

  async function accept(acceptance: MessageAcceptance, verification: Record<string, unknown> = {}) {
    const { recipient, idempotencyKey, answer, claim, caps } = acceptance;
    const mailbox = mailboxIn(recipient.to);
    const item: Item = {
      ...itemOf(acceptance),
      id: recipient.id,
      messages: claim === null ? [] : [recipient.id],
      recipient: recipient.to,
      ...(mailbox !== null && { mailbox, most: mailboxCaps }),
      operator: recipient.operator,
      lane: recipient.lane,
      route: recipient.route,
      caps,
      windows,
      ...(!obeysOptOuts({ channel: acceptance.channel, batchId: null }, acceptance.content) && {
        obeys_opt_outs: false,
      }),
      ...(answer === null
        ? {}
        : answerTemplate((time, balance) =>
            answer(queuedMessage(acceptance, recipient, null, time), balance),
          )),
      ...verification,
    };
    const row = await accepts.add(item);
    if (row.kind !== 'accepted') return refusalOf(row);
    const message = queuedMessage(acceptance, recipient, null, row.at);
    // If the answer of a call was lost, what it accepted is not submitted from here.
    const isClaimed = claim !== null && !row.is_known;
    const accepted = { kind: 'accepted' as const, message, balance: row.balance };
    if (!isClaimed) return { ...accepted, claimed: [] };
    const claimed = claimedOf(acceptance, {
      seq: row.seq,
      message,
      recipient,
      token: claim.token,
      pendingKey: answer === null ? idempotencyKey : null,
      earlier: null,
      lifeMs: null,
    });
    return { ...accepted, claimed: [claimed] };
  }

  return {
    acceptMessage: (acceptance: MessageAcceptance): Promise<AcceptResult> => accept(acceptance),
    async acceptVerification(acceptance: VerificationAcceptance): Promise<VerificationResult> {
      const { id, codeHash, attempts, lifeMs } = acceptance.verification;
      const accepted = await accept(acceptance, {
        verification: id,
        code_hash: hex(codeHash),
        attempts,
        life_ms: lifeMs,
      });
      if (accepted.kind !== 'accepted') return accepted;
      const verification = pendingVerification(acceptance.verification, accepted.message);
      return { ...accepted, verification, claimed: accepted.claimed.map((one) => ({ ...one, lifeMs })) };
    },
    async acceptBatch(acceptance: BatchAcceptance): Promise<BatchResult> {
      const { batchId, recipients, claim, answer } = acceptance;
      const template = answerTemplate((time, balance) => answer(batchOf(acceptance, time), balance));
      const batch: Item = {
        ...itemOf(acceptance),
        id: batchId,
        messages: claim === null ? [] : recipients.map(({ id }) => id),
        caps: [earlierMessages],
        windows: [longestWindow],
        recipients: recipients.map((one) => [
          ...[one.id, one.to, one.operator, one.lane, one.route, null],
          mailboxIn(one.to),
        ]),
        most: mailboxCaps,
        ...template,
      };
      const row = await batches.add(batch);
      if (row.kind !== 'accepted') return refusalOf(row);
      const { at, balance, seqs } = row;
      const accepted = { kind: 'accepted' as const, batch: batchOf(acceptance, at), balance };
      if (claim === null || seqs === null) return { ...accepted, claimed: [] };
      const earlier = new Map(row.earlier?.map(([index, [own, all]]) => [index, { own, all }]));
      const claimed = recipients.map((recipient: AcceptedRecipient, index) =>
        claimedOf(acceptance, {
          seq: seqs[index] as number,
          message: queuedMessage(acceptance, recipient, batchId, at),
          recipient,
          token: claim.token,
          pendingKey: null,
          earlier: earlier.get(index) ?? noneEarlier,
          lifeMs: null,
        }),
      );
      return { ...accepted, claimed };
    },
  };
}

/** Without the fields that only this process needs. */
function toJson(given: unknown): string {
  return JSON.stringify(given, (name, value) => (name === 'messages' ? undefined : value));
}

function withPseudonyms(item: Item, pseudonymOf: PseudonymOf): Item {
  const { recipient, recipients } = item as { recipient?: string; recipients?: unknown[][] };
  if (recipients === undefined) {
    const pseudonyms = pseudonymList(recipient ?? '', pseudonymOf);
    return { ...item, pseudonym: pseudonyms[0], pseudonyms };
  }
  const withTheirs = recipients.map((one) => {
    const pseudonyms = pseudonymList(String(one[1]), pseudonymOf);
    return one.with(5, pseudonyms[0]).concat([pseudonyms]);
  });
  return { ...item, recipients: withTheirs };
}

function itemOf(acceptance: MessageAcceptance | BatchAcceptance): Item {
  const { projectId, channel, parts, rateMultiplier, credits, content, idempotencyKey, claim, boundMs } =
    acceptance;
  return {
    project: projectId,
    id: '',
    messages: [],
    channel,
    parts,
    rate_multiplier: rateMultiplier,
    credits,
    ...contentOf(content),
    key: idempotencyKey,
    token: claim?.token ?? null,
    lease_ms: claim?.leaseMs ?? null,
    doubt_ms: claim?.doubtMs ?? null,
    bound_ms: boundMs,
  };
}

function contentOf({ text, html, subject, from, replyTo, encrypted, isBulk = false }: Content) {
  return {
    text,
    html,
    subject,
    sender: from,
    reply_to: replyTo,
    encrypted: encrypted === null ? null : hex(encrypted),
    is_bulk: isBulk,
  };
}

function batchOf(
  { batchId, channel, recipients, credits }: BatchAcceptance,
  createdAt: Instant,
): BatchRecord {
  const total = recipients.length;
  return {
    id: batchId,
    status: 'processing',
    channel,
    total,
    sent: 0,
    failed: 0,
    unknown: 0,
    credits: credits * total,
    createdAt,
    completedAt: null,
    prunedAt: null,
  };
}

function refusalOf({ kind, balance, wait_ms, status, body }: RefusalRow): Refusal {
  if (kind === 'repeat') return { kind, answer: boundOf(status, body) };
  if (kind === 'capped') return { kind, waitMs: wait_ms ?? 0 };
  if (kind === 'insufficient') return { kind, balance };
  if (kind === 'suppressed') return { kind, reason: body as SuppressionReason };
  return { kind: kind === 'held' ? 'held' : 'resetting' };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
