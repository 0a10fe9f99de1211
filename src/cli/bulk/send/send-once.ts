import type { Channel, Pricing } from '../../../contract/index.js';
import { type Answer, readError, readResult } from './answer.js';
import type { RequestBody } from './request-body.js';

/** The client of a job. It makes one attempt: the job itself retries, and records every attempt. */
export interface SendingClient {
  /** Sends a body verbatim. */
  send(request: {
    channel: Channel;
    kind: RequestBody['kind'];
    body: string;
    idempotencyKey: string;
  }): Promise<unknown>;
  balance: { get(): Promise<{ balance: number }> };
  /** Absent if prices cannot be read. */
  pricing?: { get(): Promise<Pricing> };
}

/**
 * Sends once. Errors of the network and the service are answers, not exceptions. `isReplay`: whether the latest answer
 * under this key repeats that of an earlier request.
 */
export async function sendOnce(
  client: SendingClient,
  channel: Channel,
  { kind, text, idempotencyKey }: RequestBody,
  isReplay: (idempotencyKey: string) => boolean,
): Promise<Answer> {
  try {
    const result = await client.send({ channel, kind, body: text, idempotencyKey });
    return readResult(kind, result, isReplay(idempotencyKey));
  } catch (error) {
    return readError(error);
  }
}
