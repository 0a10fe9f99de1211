import type { BatchResult, Channel, EmailResult, SmsResult } from '../contract/index.js';
import { frozenSendCall } from './call.js';
import { readApiKey, readOptions, type UrtuuOptions } from './options.js';
import { type SendKind, sendEndpoints } from './send-endpoints.js';
import { realSystem, type System } from './system.js';
import { createRequestSender } from './transport/request.js';

/** A request body that was frozen on disk. */
export interface FrozenSend {
  channel: Channel;
  kind: SendKind;
  /** JSON, sent byte for byte. */
  body: string;
  idempotencyKey: string;
}

/** Sends like `sms.send`, `sms.sendBulk` and their email counterparts: same proof of success, same UrtuuError. */
export type SendFrozen = (send: FrozenSend) => Promise<SmsResult | EmailResult | BatchResult>;

/** Internal to this package: the command line's bulk jobs send their frozen bodies unparsed. */
export function createSendFrozen(
  apiKey: string,
  options: UrtuuOptions,
  system: System = realSystem,
): SendFrozen {
  const request = createRequestSender(readApiKey(apiKey), readOptions(options), system);
  return async ({ channel, kind, body, idempotencyKey }) =>
    request({ ...frozenSendCall(sendEndpoints[channel][kind], body, { idempotencyKey }), isBulk: true });
}
