import { verificationLimits } from '../../contract/index.js';
import type { Delivery } from '../administration.js';
import type { DeliveryRecord } from '../carriers/simulated/outbox.js';
import type { OperationContext } from '../operations/context.js';
import { timestamp } from '../timestamp.js';

/** Deliveries looked up together. */
const atOnce = 100;
/** Digits that may be a code of a verification. */
const digits = /[0-9]{4,}/g;

type CodeTools = Pick<OperationContext, 'store' | 'encryption'>;

/** Deliveries as the sandbox shows them, in the same order. */
export async function* withCodes(
  context: CodeTools,
  records: AsyncIterable<DeliveryRecord> | Iterable<DeliveryRecord>,
): AsyncIterable<Delivery> {
  for await (const some of together(records)) yield* await shown(context, some);
}

export async function* together(
  records: AsyncIterable<DeliveryRecord> | Iterable<DeliveryRecord>,
): AsyncGenerator<DeliveryRecord[]> {
  let held: DeliveryRecord[] = [];
  for await (const record of records) {
    held.push(record);
    if (held.length < atOnce) continue;
    yield held;
    held = [];
  }
  yield held;
}

async function shown({ store, encryption }: CodeTools, records: DeliveryRecord[]): Promise<Delivery[]> {
  const mayHaveCode = records.filter(({ text }) => text !== null && text.search(digits) !== -1);
  const ids = mayHaveCode.map(({ messageId }) => messageId);
  const found = ids.length === 0 ? [] : await store.findVerifications(ids);
  const verifications = new Map(found.map((each) => [each.messageId, each]));
  return records.map((record) => {
    const verification = verifications.get(record.messageId);
    if (verification === undefined) return toDelivery(record, null);
    const { id, codeHash } = verification;
    const isCode = (candidate: string) => encryption.matches(codeHash, id, candidate);
    return toDelivery(record, candidates(record.text ?? '').find(isCode) ?? null);
  });
}

/** All parts of a run of digits: a template may put other digits next to the code. */
function candidates(text: string): string[] {
  const runs = text.match(digits) ?? [];
  const { min, max } = verificationLimits.codeLength;
  return runs.flatMap((run) =>
    Array.from({ length: run.length }, (_, start) =>
      Array.from({ length: max - min + 1 }, (_, more) => run.slice(start, start + min + more)),
    ).flat(),
  );
}

function toDelivery(record: DeliveryRecord, code: string | null): Delivery {
  const { messageId, channel, to, text, subject, html, from, replyTo, route, deliveredAt } = record;
  const common = { message_id: messageId, to, code, route, delivered_at: timestamp(deliveredAt) };
  return channel === 'sms'
    ? { ...common, channel, text: text ?? '', subject: null, html: null, from: null, reply_to: null }
    : { ...common, channel, text, subject: subject ?? '', html, from, reply_to: replyTo };
}
