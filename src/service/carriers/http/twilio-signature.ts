import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CarrierRequest } from '../carrier.js';
import type { Signature } from './gateway-route.js';

/** Whether X-Twilio-Signature is valid for a request: it signs the address and the form fields, sorted by name. */
export function isSigned(
  { key, url }: Signature,
  { signature, query, type, body }: CarrierRequest & { body: string },
): boolean {
  const form = /^application\/x-www-form-urlencoded\b/i.test(type) ? [...new URLSearchParams(body)] : [];
  const fields = form.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const signed = `${url}${query === '' ? '' : `?${query}`}${fields.map((field) => field.join('')).join('')}`;
  const expected = createHmac('sha1', key).update(signed).digest();
  const given = Buffer.from(signature ?? '', 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
