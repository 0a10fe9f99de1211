import * as z from 'zod/mini';
import { parseUrl } from '../../../contract/index.js';
import { rule } from '../../parse-fields.js';
import type { GatewayRoute, ReceiptFields } from '../http/gateway-route.js';
import { type WrittenSecret, writtenSecret } from './secrets.js';

export type Fail = (field: string, problem: string) => never;
export type SecretOf = (written: WrittenSecret, field: string) => string;

export const path = z
  .string()
  .check(rule((text) => /^[^.\s]+(?:\.[^.\s]+)*$/.test(text), 'must be a path, as messages.*.id'));
const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'must be a string, a number or a boolean',
});

/** The values that a field may have. */
export const values = z.array(scalar).check(z.minLength(1));

/** A gateway's requests to us: receipts and incoming messages. */
export const requestFields = {
  receipts: z.optional(
    z.strictObject({
      id: z.optional(path),
      reference: z.optional(path),
      to: z.optional(path),
      state: path,
      code: z.optional(path),
      delivered: values,
      undelivered: values,
      token: writtenSecret,
      twilio_auth_token: z.optional(writtenSecret),
    }),
  ),
  receipt_base: z.optional(
    z.string().check(rule((text) => isBase(text), 'must be an http:// or https:// address without a query')),
  ),
  incoming: z.optional(
    z.strictObject({
      id: path,
      from: path,
      to: z._default(path, 'to'),
      text: path,
      reference: z.optional(path),
      total: z.optional(path),
      part: z.optional(path),
      token: writtenSecret,
      twilio_auth_token: z.optional(writtenSecret),
    }),
  ),
};
const written = z.object(requestFields);
type WrittenRequests = z.infer<typeof written> & {
  name: string;
  id?: string | undefined;
  id_match?: string | undefined;
};

/** A token that fits into an address and is hard to guess. */
const isToken = (secret: string): boolean => /^[A-Za-z0-9_-]{16,200}$/.test(secret);

/** The fields of its requests, and the address for them. */
export function requestsOf(
  { name, receipts, receipt_base, incoming, id, id_match }: WrittenRequests,
  publicUrl: string | undefined,
  secretOf: SecretOf,
  fail: Fail,
): Pick<GatewayRoute, 'receipts' | 'incoming' | 'receiptUrl'> {
  const tokenOf = (written: WrittenSecret, field: string): string => {
    const token = secretOf(written, field);
    if (!isToken(token)) fail(field, 'must be 16 or more letters, digits, - and _');
    return token;
  };
  if (receipts !== undefined && receipts.reference === undefined) {
    if (receipts.id === undefined) fail('receipts', 'must have id or reference');
    if (receipts.to === undefined) fail('receipts.to', 'is required without reference');
    if (id === undefined && id_match === undefined) fail('id', 'is required: receipts name it');
  }
  const base = receipt_base ?? publicUrl;
  const signatureOf = (
    of: 'receipts' | 'incoming',
    written: { token: WrittenSecret; twilio_auth_token?: WrittenSecret | undefined },
  ): Pick<ReceiptFields, 'token' | 'signature'> => {
    const token = tokenOf(written.token, `${of}.token`);
    const { twilio_auth_token: key } = written;
    if (key === undefined) return { token, signature: null };
    if (base === undefined) return fail('receipt_base', 'is required: its address is signed');
    const signed = { key: secretOf(key, `${of}.twilio_auth_token`), url: addressOf(base, of, name, token) };
    return { token, signature: signed };
  };
  const read: GatewayRoute['receipts'] =
    receipts === undefined
      ? null
      : {
          id: receipts.id ?? null,
          reference: receipts.reference ?? null,
          to: receipts.to ?? null,
          state: receipts.state,
          code: receipts.code ?? null,
          delivered: receipts.delivered.map(String),
          undelivered: receipts.undelivered.map(String),
          ...signatureOf('receipts', receipts),
        };
  const incomingOf = (written: NonNullable<typeof incoming>) => {
    const { twilio_auth_token, token, reference = null, total = null, part = null, ...paths } = written;
    const missing = Object.entries({ reference, total, part }).find(([, path]) => path === null);
    const isGiven = [reference, total, part].some((path) => path !== null);
    if (isGiven && missing !== undefined)
      fail(`incoming.${missing[0]}`, 'is required with reference, total or part');
    return {
      ...paths,
      ...{ reference, total, part },
      ...signatureOf('incoming', { token, twilio_auth_token }),
    };
  };
  return {
    receipts: read,
    incoming: incoming === undefined ? null : incomingOf(incoming),
    receiptUrl: read === null || base === undefined ? '' : addressOf(base, 'receipts', name, read.token),
  };
}

const addressOf = (base: string, of: 'receipts' | 'incoming', name: string, token: string): string =>
  `${base.replace(/\/$/, '')}/${of}/${encodeURIComponent(name)}/${token}`;

function isBase(written: string): boolean {
  const url = urlOf(written);
  return url !== null && url.search === '';
}

/** Null for an address that cannot be requested. */
export function urlOf(written: string): URL | null {
  const url = parseUrl(written);
  if (url === null) return null;
  const isPlain = url.username === '' && url.password === '' && url.hash === '';
  return isPlain && (url.protocol === 'https:' || url.protocol === 'http:') ? url : null;
}
