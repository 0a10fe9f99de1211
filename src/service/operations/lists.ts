import {
  type Batch,
  type BatchFilter,
  type BatchPage,
  type InboxFilter,
  type InboxMessage,
  type Message,
  type MessageFilter,
  type MessagePage,
  normalizeAnyAddress,
  normalNumber,
  type Page,
  readNumber,
} from '../../contract/index.js';
import type { Listed, PageRequest } from '../storage/store.js';
import type { OperationContext } from './context.js';
import { invalid } from './fields.js';
import { noBatch } from './lookups.js';
import type { Caller } from './operations.js';
import { foundBatch, foundMessage, inboxMessage } from './resources.js';

/** GET /v1/messages, an extension of the interface. */
export async function listMessages(
  { store }: OperationContext,
  { projectId }: Caller,
  filter: MessageFilter,
  page: PageRequest,
): Promise<MessagePage> {
  const { to, channel = null, status = null, delivery = null, batch_id: batchId = null } = filter;
  const recipient = to === undefined ? null : recipientOf(to);
  const query = { to: recipient, channel, status, delivery, batchId, ...timesOf(filter) };
  const listed = await store.listMessages(projectId, query, page);
  if (listed === null) throw invalid('after: must be the id of a message of this project');
  return pageOf<(typeof listed.records)[0], Message>(listed, foundMessage);
}

/** GET /v1/batches, an extension of the interface. */
export async function listBatches(
  { store }: OperationContext,
  { projectId }: Caller,
  filter: BatchFilter,
  page: PageRequest,
): Promise<BatchPage> {
  const { channel = null, status = null } = filter;
  const listed = await store.listBatches(projectId, { channel, status, ...timesOf(filter) }, page);
  if (listed === null) throw invalid('after: must be the id of a batch of this project');
  return pageOf<(typeof listed.records)[0], Batch>(listed, foundBatch);
}

/** GET /v1/inbox, an extension of the interface, with what people wrote. */
export async function listInbox(
  { store }: Pick<OperationContext, 'store'>,
  { projectId }: Pick<Caller, 'projectId'>,
  filter: InboxFilter,
  page: PageRequest,
): Promise<Page<Required<InboxMessage>>> {
  const { channel = null } = filter;
  const listed = await store.listInbox(projectId, { channel, ...timesOf(filter) }, page);
  if (listed === null) throw invalid('after: must be the id of a message in the inbox of this project');
  return pageOf(listed, inboxMessage);
}

/** GET /v1/batches/{id}/messages, an extension of the interface. */
export async function listBatchMessages(
  { store }: OperationContext,
  { projectId }: Caller,
  id: string,
  { limit, after }: PageRequest,
): Promise<MessagePage> {
  const records = await store.listBatchMessages(projectId, id, { limit: limit + 1, after });
  if (records === null) {
    if ((await store.getBatch(projectId, id)) === null) throw noBatch();
    throw invalid('after: must be the id of a message of this batch');
  }
  const data = records.slice(0, limit).map(foundMessage);
  return { data, next: records.length > limit ? (data.at(-1)?.id ?? null) : null };
}

function pageOf<Found, Item>(
  { records, next }: Listed<Found>,
  resource: (record: Found) => Item,
): Page<Item> {
  return { data: records.map(resource), next };
}

/** A number of another country is searched for as written. */
function recipientOf(written: string): string {
  const recipient = normalNumber(written) ?? normalizeAnyAddress(written);
  if (recipient !== null) return recipient;
  if (readNumber(written).kind === 'invalid') throw invalid('to: must be a phone number or an email address');
  return written;
}

const timesOf = ({ since, until }: Pick<MessageFilter, 'since' | 'until'>) => ({
  since: since === undefined ? null : Date.parse(since),
  until: until === undefined ? null : Date.parse(until),
});
