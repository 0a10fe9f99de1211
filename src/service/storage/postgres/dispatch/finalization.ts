import { earlierMessages, longestWindow } from '../../caps.js';
import type { AnswerOf, Finalization, Finalized, FinalizedDoubt, Receipt } from '../../dispatching.js';
import { deliveryInDoubt } from '../../dispatching.js';
import type { DeliveryState, Instant, MessageRecord } from '../../records.js';
import { answerTemplate } from '../accept/answer-template.js';
import type { Database } from '../database/database.js';
import { Groups } from '../database/groups.js';
import { onceEach } from '../once-each.js';
import type { ClaimedRow, ToClaimed } from './claimed-rows.js';

/** The argument of finalization_1 in the schema. */
type Item = Record<string, unknown> & { seq: number };

interface FinalizedRow {
  seq: number;
  at: number;
  balance: number;
  delivery: DeliveryState | null;
}

export function createFinalization(database: Database, toClaimed: ToClaimed) {
  const groups = new Groups<Item, FinalizedRow | null>(
    (all) =>
      onceEach(all, async (items) => {
        const rows = await database.attempt<FinalizedRow>(
          'SELECT * FROM :s.finalize_2($1::bigint, $2::json)',
          [database.now(), JSON.stringify(items)],
        );
        const ended = new Map(rows.map((row) => [row.seq, row]));
        if (items.some(({ answer }) => answer !== undefined))
          await database.query('SELECT :s.record_answers_1($1::bigint, $2::json, $3::bigint[])', [
            database.now(),
            JSON.stringify(items),
            [...ended.keys()],
          ]);
        return items.map(({ seq }) => ended.get(seq) ?? null);
      }),
    { isPatient: true },
  );

  async function finalizeOne(one: Finalization, answer: AnswerOf): Promise<Finalized | null> {
    const row = await groups.add(itemOf(one, answer));
    if (row === null) return null;
    const message = { ...endOf(one, row.at), delivery: row.delivery };
    return { message, balance: row.balance };
  }

  const finalizeMessages = (finalizations: readonly Finalization[], answer: AnswerOf) =>
    Promise.all(finalizations.map((one) => finalizeOne(one, answer)));

  /**
   * Stores a receipt, and finishes the message in doubt that it matches. After a crash in between, the carrier sends
   * it again.
   */
  async function recordReceipt(
    { route, carrierId, otherId = null, to, state, reference, submittedAt }: Receipt,
    answer: AnswerOf,
  ): Promise<FinalizedDoubt[]> {
    const rows = await database.query<ClaimedRow>(
      'SELECT * FROM :s.receive_3($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::bigint, $9::bigint, $10::int)',
      [
        ...[database.now(), route, carrierId, otherId, to, state, reference, submittedAt],
        ...[longestWindow, earlierMessages],
      ],
    );
    const [claimed] = await toClaimed(rows, '');
    if (claimed === undefined) return [];
    const outcome = { status: 'sent', carrierIds: [carrierId], delivery: deliveryInDoubt(claimed) } as const;
    const finalized = await finalizeOne({ claimed, outcome }, answer);
    const { lane, pendingKey } = claimed;
    return finalized === null ? [] : [{ ...finalized, lane, pendingKey }];
  }

  return { finalizeMessages, recordReceipt };
}

function itemOf(one: Finalization, answer: AnswerOf): Item {
  const { claimed, outcome, answer: tried } = one;
  const { seq, message, token, mark, content, pendingKey } = claimed;
  const item: Item = {
    seq,
    id: message.id,
    token,
    attempt: mark?.attempt ?? null,
    project: message.projectId,
    status: outcome.status,
    credits: message.credits,
    recipient: message.to,
    is_encrypted: content.encrypted !== null,
    answer: tried,
  };
  if (outcome.status === 'sent') {
    item.delivery = outcome.delivery;
    item.route = mark?.route ?? null;
    item.carrier_ids = mark === null ? [] : outcome.carrierIds;
  } else {
    item.error_code = outcome.error.code;
    item.error_message = outcome.error.message;
  }
  if (pendingKey === null) return item;
  const { status, ...template } = answerTemplate((time, balance) => answer(endOf(one, time), balance));
  return Object.assign(item, { key: pendingKey, key_status: status, ...template });
}

function endOf({ claimed: { message }, outcome }: Finalization, at: Instant): MessageRecord {
  return outcome.status === 'sent'
    ? { ...message, status: 'sent', sentAt: at, delivery: outcome.delivery }
    : { ...message, status: 'failed', error: outcome.error, credits: 0 };
}
