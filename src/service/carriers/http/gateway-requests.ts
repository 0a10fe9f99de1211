import { createHash, timingSafeEqual } from 'node:crypto';
import { idAsWritten, normalNumber } from '../../../contract/index.js';
import { partOf, storable } from '../../storage/inbox.js';
import type { DeliveryState, Receipt } from '../../storage/store.js';
import type { CarrierRequest, Incoming, Taken, Unread } from '../carrier.js';
import { decodeBody, fieldsOfRequest, fromForm, valuesAt } from './answer-values.js';
import type { GatewayRoute, IncomingFields, ReceiptFields } from './gateway-route.js';
import { isCode, isId } from './outcome-of-answer.js';
import { isSigned } from './twilio-signature.js';

/** Characters of a sender or a number. */
const longestNumber = 255;

export interface RequestTools {
  /** The recipient of a message, by its id; null if there is no such message. */
  recipientOf(messageId: string): Promise<string | null>;
  onReceipt(receipt: Receipt): Promise<void>;
  onIncoming(incoming: Incoming): Promise<void>;
  /** Called for what is skipped. */
  onUnread?(what: Unread): void;
}

/**
 * Takes a gateway's request. Unreadable items are skipped: a gateway would repeat them for ever. Rejects if it cannot
 * commit.
 */
export async function takeRequest(
  route: GatewayRoute | undefined,
  given: CarrierRequest,
  { onUnread = () => {}, ...tools }: RequestTools,
): Promise<Taken> {
  const { type, query } = given;
  const body = typeof given.body === 'string' ? given.body : decodeBody(type, given.body);
  const request = { ...given, body };
  const fields = (request.of === 'receipts' ? route?.receipts : route?.incoming) ?? null;
  const isMeant = isSame(request.token, fields?.token ?? '');
  if (route === undefined || fields === null || !isMeant) return null;
  if (fields.signature !== null && !isSigned(fields.signature, request)) return null;
  // A gateway that looks whether the address exists.
  const isEmpty = body.trim() === '';
  if (query === '' && isEmpty) return true;
  const content = isEmpty ? undefined : await fieldsOfRequest(type, body);
  // What the query has is read, whatever the body is.
  let isRead = content !== undefined || isEmpty;
  for (const item of itemsOf(fields, [fromForm(query), content])) {
    const read =
      'state' in fields
        ? await receiptOf(route, item, fields, tools)
        : (incomingOf(route.name, item) ?? 'fields');
    isRead ||= read !== 'fields';
    if (read === null) onUnread('unjoined');
    else if (typeof read === 'string') {
      if (isRead) onUnread(read);
    } else if ('state' in read) await tools.onReceipt(read);
    else await tools.onIncoming(read);
  }
  if (isRead) return true;
  onUnread('body');
  return isXml(type, body) ? 'unsupported' : true;
}

const isXml = (type: string, body: string): boolean =>
  /[/+]xml\b/i.test(type) || body.trim().startsWith('<?xml');

/** Compares in constant time, whatever the lengths. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret)) && secret !== '';
}

type Item = Readonly<Record<string, string | null>>;

/**
 * The values at the paths of `fields`, for one item or for each item of an array. Values in the query win over the
 * body, because the query is part of the address that we sent.
 */
function itemsOf(fields: ReceiptFields | IncomingFields, [query, body]: readonly unknown[]): Item[] {
  const paths = Object.entries(fields).filter(([name]) => !isNoPath.has(name)) as [string, string | null][];
  const columns = paths.map(([name, path]): [string, (string | null)[]] => {
    if (path === null) return [name, []];
    const [own] = valuesAt(query, path);
    return [name, own ? [own] : valuesAt(body, path)];
  });
  const count = Math.max(...columns.map(([, values]) => values.length));
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(
      columns.map(([name, values]) => [name, values[values.length === 1 ? 0 : index] ?? null]),
    ),
  );
}

const isNoPath = new Set(['token', 'signature', 'delivered', 'undelivered']);

/** Null for a receipt of a message that is not its own. */
async function receiptOf(
  { name: route, secrets }: GatewayRoute,
  { id = null, reference = null, to = null, state = null, code = null }: Item,
  fields: ReceiptFields,
  { recipientOf }: Pick<RequestTools, 'recipientOf'>,
): Promise<Receipt | null | 'fields' | 'state'> {
  if (state === null) return 'fields';
  const known = stateOf(state, fields);
  if (known === null) return 'state';
  const named = to === null ? null : (normalNumber(to) ?? to);
  const common = { route, state: known, submittedAt: null };
  const codeOf = (number: string) => (code !== null && isCode(code, secrets, number) ? code : null);
  if (fields.reference !== null) {
    if (reference === null || !isId(reference)) return 'fields';
    const messageId = idAsWritten(reference);
    const recipient = await recipientOf(messageId);
    if (recipient === null || (named !== null && named !== recipient)) return null;
    return {
      ...common,
      code: codeOf(recipient),
      carrierId: messageId,
      reference: messageId,
      to: recipient,
    };
  }
  if (id === null || named === null || !isId(id) || !isId(named)) return 'fields';
  return { ...common, code: codeOf(named), carrierId: id, reference: '', to: named };
}

/** As its route writes it, else in capitals or small letters. */
function stateOf(written: string, { delivered, undelivered }: ReceiptFields): DeliveryState | null {
  const state = written.trim();
  for (const spelled of [(text: string) => text, (text: string) => text.toLowerCase()]) {
    const names = (all: readonly string[]) => all.some((each) => spelled(each) === spelled(state));
    if (names(delivered)) return 'delivered';
    if (names(undelivered)) return 'undelivered';
  }
  return null;
}

function incomingOf(
  route: string,
  { id = null, from = null, to = null, text = null, reference = null, total = null, part = null }: Item,
): Incoming | null {
  if (id === null || from === null || text === null || !isId(id)) return null;
  return {
    route,
    deliveryId: id,
    from: storable(normalNumber(from) ?? from).slice(0, longestNumber),
    to: storable(to ?? '').slice(0, longestNumber),
    text: storable(text),
    part: reference !== null && isId(reference) ? partOf(reference, Number(total), Number(part)) : null,
  };
}
