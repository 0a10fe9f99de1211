import type {
  Balance,
  Batch,
  Message,
  SuppressionsCheck,
  SuppressionsCheckParams,
} from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';
import type { OperationContext } from './context.js';
import { everyRecipient, tryAnyRecipient } from './fields.js';
import type { Caller } from './operations.js';
import { foundBatch, foundMessage } from './resources.js';

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
  return foundBatch(record);
}

/** POST /v1/suppressions/check. */
export async function checkSuppressions(
  { store }: OperationContext,
  { projectId }: Caller,
  { to }: SuppressionsCheckParams,
): Promise<SuppressionsCheck> {
  const reasons = await store.findSuppressions(projectId, everyRecipient(to, tryAnyRecipient));
  const data = to.flatMap((written, index) => {
    const reason = reasons[index] ?? null;
    return reason === null ? [] : [{ to: written, reason }];
  });
  return { data };
}

export function noBatch(): ServiceError {
  return new ServiceError('not_found', 'No such batch in this project');
}
