import { normalizeRecipient } from '../../contract/index.js';
import type { Delivery } from '../administration.js';
import type { DeliveryRecord } from '../carriers/simulated/outbox.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import type { OperationContext } from '../operations/context.js';
import { invalid } from '../operations/fields.js';
import { longestPage } from '../storage/lists.js';
import type { PageRequest } from '../storage/store.js';
import { together, withCodes } from './deliveries.js';

/** What the simulated operator delivered for a project. The operator itself knows no projects. */
export interface ProjectOutbox {
  /** False for data that was ever served with a real carrier. */
  isOffered(): Promise<boolean>;
  /** Oldest first: without `after` the newest, otherwise what was delivered after that message. */
  list(
    projectId: string,
    filter: { to?: string | undefined },
    page: PageRequest,
  ): Promise<{ data: Delivery[]; next: string | null }>;
}

export function projectOutbox(context: OperationContext, carrier: SimulatedCarrier): ProjectOutbox {
  async function* ofProject(
    projectId: string,
    records: AsyncIterable<DeliveryRecord>,
  ): AsyncGenerator<DeliveryRecord> {
    for await (const some of together(records)) {
      const ids = some.map(({ messageId }) => messageId);
      const own = new Set(await context.store.ownMessages(projectId, ids));
      yield* some.filter(({ messageId }) => own.has(messageId));
    }
  }

  return {
    isOffered: context.isSimulated,
    async list(projectId, { to }, { limit, after }) {
      const [last] = after === null ? [null] : await context.store.ownMessages(projectId, [after]);
      if (last === undefined || (last !== null && (await carrier.outbox.find([last])).length === 0))
        throw invalid('after: must be the id of a message of this project that was delivered');
      const filter = to === undefined ? {} : { to: normalizeRecipient(to) };
      const from = last === null ? { isNewestFirst: true } : { after: last };
      const found: DeliveryRecord[] = [];
      let characters = 0;
      let isMore = false;
      for await (const record of ofProject(projectId, carrier.outbox.read({ ...filter, ...from }))) {
        characters += (record.text?.length ?? 0) + (record.html?.length ?? 0);
        isMore = found.length === limit || (found.length > 0 && characters > longestPage);
        if (isMore) break;
        found.push(record);
      }
      if (last === null) found.reverse();
      const data: Delivery[] = [];
      for await (const delivery of withCodes(context, found)) data.push(delivery);
      return { data, next: isMore && last !== null ? (data.at(-1)?.message_id ?? null) : null };
    },
  };
}
