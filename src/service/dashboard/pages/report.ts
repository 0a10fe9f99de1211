import { csvLine } from '../../../contract/csv.js';
import { messagePage } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { callerOf, orRefusal, type PageContext } from '../page.js';

/** The columns of `urtuu messages list -o csv`: fields of a message. */
const columns =
  'id status channel to parts credits error created_at sent_at batch_id delivery rate_multiplier carrier_code'.split(
    ' ',
  );

/** The messages of a batch as CSV; null when there is no such batch. */
export async function batchReport(context: PageContext): Promise<string | null> {
  const { operations, id } = context;
  const lines = [csvLine(columns)];
  let after: string | null = null;
  do {
    const list = operations.listBatchMessages(callerOf(context), id, { limit: messagePage.max, after });
    const page = await orRefusal(list, 'not_found');
    if (page instanceof ServiceError) return null;
    for (const message of page.data) {
      const fields: Record<string, unknown> = { ...message, error: message.error?.code };
      lines.push(csvLine(columns.map((name) => String(fields[name] ?? ''))));
    }
    after = page.next;
  } while (after !== null);
  return lines.join('');
}
