import type { Urtuu } from '../../client/index.js';
import { messagePage, type PageOptions } from '../../contract/index.js';
import { batchView, type MessageRow, messageView } from '../output/views.js';
import { pages } from '../reader/pages.js';
import { isNotOffered, readOnce } from '../reader/reader.js';
import { isMissing, type LookupContext, lookUp, show } from './lookup.js';
import { batchResource } from './resources.js';
import type { WaitOptions } from './wait.js';

/** Lists the messages of batches; if the service lacks that list, the figures of the batches. */
export async function showMessagesOf(
  context: LookupContext,
  client: Urtuu,
  ids: readonly string[],
  options: WaitOptions,
): Promise<void> {
  // Batches first: they may be missing, or not completed yet.
  const found: string[] = [];
  let problem: unknown = null;
  try {
    for await (const batch of lookUp(context, batchResource(client), ids, options)) {
      if (isMissing(batch)) context.io.warn(`no batch ${batch.id}`);
      else found.push(batch.id);
    }
  } catch (error) {
    problem = error;
  }
  const [first = ''] = found;
  const reply = first === '' ? null : await readOnce(() => client.batches.messages(first, { limit: 1 }));
  if (reply !== null && isNotOffered(reply)) {
    context.io.warn('this service does not list the messages of a batch; showing its totals');
    await show(context, batchView, batchResource(client), ids, {});
  } else if (reply !== null && 'error' in reply) throw reply.error;
  else await context.io.printAll(messageView, messagesOf(client, found));
  if (problem !== null) throw problem;
}

async function* messagesOf({ batches }: Urtuu, ids: readonly string[]): AsyncGenerator<MessageRow> {
  for (const id of ids) {
    const read = ({ limit, after }: PageOptions) => batches.messages(id, { limit, after });
    for await (const { data } of pages(read, messagePage.max)) yield* data;
  }
}
