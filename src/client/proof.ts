import type { MessageStatus } from '../contract/index.js';

export type JsonObject = Record<string, unknown>;

/**
 * What a successful answer has to say: the name of the first field that is missing or malformed, null when it proves
 * success. `replayed` tells whether it repeats the answer to an earlier request with the same key.
 */
export type Proof = (result: JsonObject, replayed: () => boolean) => string | null;

const messageStatuses: readonly MessageStatus[] = ['queued', 'sent', 'failed'];

/** A single send: accepted under an id, for somebody. The service erases recipients from old answers, never ids. */
export const messageSent: Proof = (result, replayed) => {
  if (!isText(result.id)) return 'id';
  if (!(messageStatuses as readonly unknown[]).includes(result.status)) return 'status';
  if (!isText(result.to) && !(result.to === '' && replayed())) return 'to';
  return wrongFigure(result);
};

/** A batch, as it was accepted or as far as it is. */
export const isBatch: Proof = (result) => {
  if (!isText(result.id)) return 'id';
  return isCount(result.total) ? wrongFigure(result) : 'total';
};

/** A message or a verification. Later services may have more statuses than this client knows. */
export const hasStatus: Proof = (result) => {
  if (!isText(result.id)) return 'id';
  return isText(result.status) ? wrongFigure(result) : 'status';
};

/** The verification that was asked about is verified. */
export const isVerified =
  (id: string): Proof =>
  (result) => {
    // Ids are UUIDs, which may be written in capitals.
    if (!isText(result.id) || result.id.toLowerCase() !== id.toLowerCase()) return 'id';
    const verified: unknown = result.status;
    return verified === 'verified' ? wrongFigure(result) : 'status';
  };

export const hasBalance: Proof = ({ balance }) => (isNumber(balance) ? null : 'balance');

/** The two prices, and the multiplier: what everything is reckoned with. */
export const hasPrices: Proof = ({ sms, email }) => {
  if (!isRecord(sms) || !isNumber(sms.credits_per_part)) return 'sms.credits_per_part';
  if (!isNumber(sms.rate_multiplier)) return 'sms.rate_multiplier';
  return isRecord(email) && isNumber(email.credits_per_message) ? null : 'email.credits_per_message';
};

/** A page of a list. Without its `next` a reader would not know whether it has seen all. */
export const isPage: Proof = ({ data, next }) => {
  if (!Array.isArray(data) || !data.every((each) => isRecord(each) && isText(each.id))) return 'data';
  return next === null || isText(next) ? null : 'next';
};

/** A figure may be absent, which proves nothing. JSON has numbers beyond all bounds: 1e999 is read as infinity. */
function wrongFigure({ credits = null, balance = null }: JsonObject): string | null {
  if (credits !== null && !isNumber(credits)) return 'credits';
  return balance === null || isNumber(balance) ? null : 'balance';
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => isNumber(value) && Number.isInteger(value) && value >= 0;
const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
