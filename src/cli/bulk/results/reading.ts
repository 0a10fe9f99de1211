import type { Batch, Message } from '../../../contract/index.js';
import type { MessageFigures } from '../job/journal/entries.js';
import type { PlannedRequest } from '../plan/plan.js';

export interface OutcomeClient {
  batches: { get(id: string): Promise<Batch> };
  messages: { get(id: string): Promise<Message> };
}

/** The figures of a batch or message. */
export interface Reading extends MessageFigures {
  total: number;
  /** Whether its figures are final, except for the unknown ones. */
  completed: boolean;
  code: string | null;
  /** How long the service took for it, in milliseconds, if it says so. */
  took: number | null;
}

export async function readFigures(
  client: OutcomeClient,
  { kind, id }: { kind: PlannedRequest['kind']; id: string },
): Promise<Reading> {
  if (kind === 'batch') {
    const { status, total, sent, failed, unknown, created_at, completed_at } = await client.batches.get(id);
    const took = completed_at ? Date.parse(completed_at) - Date.parse(created_at) : Number.NaN;
    const completed = status === 'completed';
    if (![total, sent, failed, unknown ?? 0].every((figure) => Number.isInteger(figure) && figure >= 0))
      throw notAnAnswer();
    const figures = { sent, failed, unknown: unknown ?? null };
    return { ...figures, total, completed, code: null, took: Number.isNaN(took) ? null : took };
  }
  const { status, error, delivery } = await client.messages.get(id);
  const sent = Number(status === 'sent');
  const failed = Number(status === 'failed');
  const unknown = delivery === undefined ? null : Number(delivery === 'unknown');
  return { sent, failed, unknown, total: 1, completed: false, code: error?.code ?? null, took: null };
}

/** Like the client's error for an answer that is not the service's, so that the batch is read again. */
const notAnAnswer = () =>
  Object.assign(new Error('a batch without figures'), { code: 'unexpected_response', status: null });
