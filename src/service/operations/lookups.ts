import type { Balance, Batch, Message, MessagePage } from '../../contract/index.js';
import { ServiceError } from '../service-error.js';
import type { OperationContext } from './context.js';
import { invalid } from './fields.js';
import type { Caller } from './operations.js';
import { batchResource, foundMessage } from './resources.js';

/** GET /v1/messages/{id}. */
export async function getMessage(
  { store }: OperationContext,
  { projectId }: Caller,
  id: string,
): Promise<Message> {
  const record = await store.getMessage(projectId, id);
  if (record === null) throw new ServiceError('not_found', 'No such message in this project');
  return foundMessage(record);
}

/** GET /v1/balance. */
export async function getBalance({ store }: OperationContext, { projectId }: Caller): Promise<Balance> {
  const project = await store.getProject(projectId);
  return { balance: project?.balance ?? 0 };
}

/** GET /v1/batches/{id}. */
export async function getBatch(
  { store }: OperationContext,
  { projectId }: Caller,
  id: string,
): Promise<Batch> {
  const record = await store.getBatch(projectId, id);
  if (record === null) throw noBatch();
  return batchResource(record);
}

/** GET /v1/batches/{id}/messages, an extension of the interface. */
export async function listBatchMessages(
  { store }: OperationContext,
  { projectId }: Caller,
  id: string,
  { limit, after }: { limit: number; after: string | null },
): Promise<MessagePage> {
  const records = await store.listBatchMessages(projectId, id, { limit: limit + 1, after });
  if (records === null) {
    if ((await store.getBatch(projectId, id)) === null) throw noBatch();
    throw invalid('after: must be the id of a message of this batch');
  }
  const data = records.slice(0, limit).map(foundMessage);
  return { data, next: records.length > limit ? (data.at(-1)?.id ?? null) : null };
}

function noBatch(): ServiceError {
  return new ServiceError('not_found', 'No such batch in this project');
}
