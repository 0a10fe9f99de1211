import { csvLine } from '../../../contract/csv.js';
import { type Message, messagePage } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { callerOf, orRefusal, type PageContext } from '../page.js';

/** The columns of `urtuu messages list -o csv`. */
const columns: readonly (readonly [name: string, value: (message: Message) => string | number | null])[] = [
  ['id', ({ id }) => id],
  ['status', ({ status }) => status],
  ['channel', ({ channel }) => channel],
  ['to', ({ to }) => to],
  ['parts', (message) => (message.channel === 'sms' ? message.parts : null)],
  ['credits', ({ credits }) => credits],
  ['error', ({ error }) => error?.code ?? null],
  ['created_at', ({ created_at }) => created_at],
  ['sent_at', ({ sent_at }) => sent_at],
  ['batch_id', ({ batch_id }) => batch_id],
  ['delivery', ({ delivery }) => delivery ?? null],
  ['rate_multiplier', (message) => (message.channel === 'sms' ? message.rate_multiplier : null)],
];

/** The messages of a batch as CSV; null when there is no such batch. */
export async function batchReport(context: PageContext): Promise<string | null> {
  const { operations, id } = context;
  const lines = [csvLine(columns.map(([name]) => name))];
  let after: string | null = null;
  do {
    const list = operations.listBatchMessages(callerOf(context), id, { limit: messagePage.max, after });
    const page = await orRefusal(list, 'not_found');
    if (page instanceof ServiceError) return null;
    for (const message of page.data)
      lines.push(csvLine(columns.map(([, value]) => String(value(message) ?? ''))));
    after = page.next;
  } while (after !== null);
  return lines.join('');
}
