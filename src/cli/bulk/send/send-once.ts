import type {
  Channel,
  EmailBulkParams,
  EmailSendParams,
  Pricing,
  SmsBulkParams,
  SmsSendParams,
} from '../../../contract/index.js';
import type { RequestKey } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';
import { readError, readResult } from './answer.js';
import type { Answer } from './transitions.js';

interface Keyed {
  idempotencyKey: string;
}

/** What a job needs of the client. It is built with `maxRetries: 0`: the job retries, and records it. */
export interface SendingClient {
  sms: {
    send(params: SmsSendParams, options: Keyed): Promise<unknown>;
    sendBulk(params: SmsBulkParams, options: Keyed): Promise<unknown>;
  };
  email: {
    send(params: EmailSendParams, options: Keyed): Promise<unknown>;
    sendBulk(params: EmailBulkParams, options: Keyed): Promise<unknown>;
  };
  balance: { get(): Promise<{ balance: number }> };
  /** Absent where nobody can be asked. */
  pricing?: { get(): Promise<Pricing> };
}

export interface RequestBody {
  kind: PlannedRequest['kind'];
  /** The recipients of this body, and where they stand in the planned request. */
  to: string[];
  indexes: number[];
  /** Parsed from the frozen bytes; writing it as JSON gives them back. */
  params: unknown;
  idempotencyKey: string;
}

/** The request of a request in its present revision: the frozen body without what was taken out. */
export function bodyOf(
  keyOf: RequestKey,
  request: PlannedRequest,
  revision: number,
  removed: ReadonlySet<number>,
): RequestBody {
  const indexes = [...request.to.keys()].filter((index) => !removed.has(index));
  const to = indexes.map((index) => request.to[index] ?? '');
  const params = JSON.parse(request.body);
  return {
    kind: request.kind,
    to,
    indexes,
    params: removed.size === 0 ? params : { ...params, to },
    idempotencyKey: keyOf(request.number, revision),
  };
}

/**
 * Sends once. Never throws for what the network or the service does: that is an answer. `isReplay` tells
 * whether the answer that this key had last was that of an earlier request.
 */
export async function sendOnce(
  client: SendingClient,
  channel: Channel,
  { kind, params, idempotencyKey }: RequestBody,
  isReplay: (idempotencyKey: string) => boolean,
): Promise<Answer> {
  const options = { idempotencyKey };
  try {
    return readResult(kind, await call(), isReplay(idempotencyKey));
  } catch (error) {
    return readError(error);
  }

  function call(): Promise<unknown> {
    // The plan made the body for this very endpoint.
    if (channel === 'sms') {
      return kind === 'batch'
        ? client.sms.sendBulk(params as SmsBulkParams, options)
        : client.sms.send(params as SmsSendParams, options);
    }
    return kind === 'batch'
      ? client.email.sendBulk(params as EmailBulkParams, options)
      : client.email.send(params as EmailSendParams, options);
  }
}

/** What the work gives, or null as soon as the signal is aborted; the work itself goes its way. */
export async function unlessAborted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  if (signal === undefined) return work();
  if (signal.aborted) return null;
  let onAbort = () => {};
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
