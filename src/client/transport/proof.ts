import type { MessageStatus } from '../../contract/index.js';
import { isNumber, isObject, isText, type JsonObject } from '../json.js';

/**
 * Checks the fields that prove success. Returns the name of the first one that is missing or malformed, null if there
 * is none. `replayed`: whether the answer repeats the one to an earlier request with the same key.
 */
export type Proof = (result: JsonObject, replayed: () => boolean) => string | null;

const messageStatuses: readonly MessageStatus[] = ['queued', 'sent', 'failed'];

/** The service erases recipients from old answers, but never ids. */
export const messageSent: Proof = (result, replayed) => {
  if (!isText(result.id)) return 'id';
  if (!(messageStatuses as readonly unknown[]).includes(result.status)) return 'status';
  if (!isText(result.to) && !(result.to === '' && replayed())) return 'to';
  return wrongFigure(result);
};

export const isBatch: Proof = (result) => {
  if (!isText(result.id)) return 'id';
  return isCount(result.total) ? wrongFigure(result) : 'total';
};

/** Without a status, a wait would never end. */
export const isBatchState: Proof = (result, replayed) =>
  isBatch(result, replayed) ?? (isText(result.status) ? null : 'status');

/** Later versions of the service may add statuses. */
export const hasStatus: Proof = (result) => {
  if (!isText(result.id)) return 'id';
  return isText(result.status) ? wrongFigure(result) : 'status';
};

export const isVerified =
  (id: string): Proof =>
  (result) => {
    // UUIDs may be in upper case.
    if (!isText(result.id) || result.id.toLowerCase() !== id.toLowerCase()) return 'id';
    const verified: unknown = result.status;
    return verified === 'verified' ? wrongFigure(result) : 'status';
  };

export const hasBalance: Proof = ({ balance }) => (isNumber(balance) ? null : 'balance');

export const hasPrices: Proof = ({ sms, email }) => {
  if (!isObject(sms) || !isNumber(sms.credits_per_part)) return 'sms.credits_per_part';
  if (!isNumber(sms.rate_multiplier)) return 'sms.rate_multiplier';
  return isObject(email) && isNumber(email.credits_per_message) ? null : 'email.credits_per_message';
};

/** Without `next`, a reader could not tell whether there are more pages. */
export const isPage: Proof = ({ data, next }) => {
  if (!Array.isArray(data) || !data.every((each) => isObject(each) && isText(each.id))) return 'data';
  return next === null || isText(next) ? null : 'next';
};

/** Events have no last page; what they are about may be erased. */
export const isFeed: Proof = (result, replayed) => {
  const wrong = isPage(result, replayed) ?? (result.next === null ? 'next' : null);
  const events = wrong === null ? (result.data as JsonObject[]) : [];
  const isEvent = ({ type, at, data }: JsonObject) =>
    isText(type) && isText(at) && (data === null || isObject(data));
  return events.every(isEvent) ? wrong : 'data';
};

export const hasReasons: Proof = ({ data }) =>
  Array.isArray(data) && data.every((each) => isObject(each) && isText(each.to) && isText(each.reason))
    ? null
    : 'data';

/** Figures may be absent. */
function wrongFigure({ credits = null, balance = null }: JsonObject): string | null {
  if (credits !== null && !isNumber(credits)) return 'credits';
  return balance === null || isNumber(balance) ? null : 'balance';
}

const isCount = (value: unknown): boolean => isNumber(value) && Number.isInteger(value) && value >= 0;
