import { normalNumber } from '../../../contract/index.js';
import type { DeliveryState } from '../../storage/store.js';
import type { Unread } from '../carrier.js';
import { decodeUcs2, unpackSeptets } from './codec/alphabet.js';
import { tags } from './codec/commands.js';
import type { Pdu } from './codec/pdu.js';
import { isUcs2, shortMessageOf } from './codec/short-message.js';
import type { SmppRoute } from './route-settings.js';

/** A delivery receipt. */
export interface SmppReceipt {
  /** In the form of `carrierIdOf`; null if it has none. */
  carrierId: string | null;
  /** Another one, which its text names beside its option; null if there is none. */
  otherId: string | null;
  to: string;
  /** Null for a state that is not final. */
  state: DeliveryState | null;
  /** Its own code of a failure; null without one. */
  code: string | null;
  /** What of it cannot be read. */
  unread: Extract<Unread, 'fields' | 'state'> | null;
  /** As in Receipt. */
  reference: string;
  submittedAt: number | null;
}

const messageType = 0x3c;
const deliveryReceipt = 0x04;
const intermediateNotification = 0x20;
/** Characters of an id or a number; SMPP has 64. */
const longestText = 255;

/**
 * The states by their number (5.3.2.35, and 9 of SMPP 5.0) and by their name in a text: Appendix B, then what operators
 * write. Null for one on the way.
 */
const states: readonly [number, DeliveryState | null, ...string[]][] = [
  [1, null, 'ENROUTE', 'SCHEDULED', 'SCHEDUL', 'BUFFERED', 'BUFFRED', 'QUEUED', 'PENDING'],
  [2, 'delivered', 'DELIVRD', 'DELIVERED'],
  [3, 'undelivered', 'EXPIRED'],
  [4, 'undelivered', 'DELETED', 'CANCELLED', 'CANCELED'],
  [5, 'undelivered', 'UNDELIV', 'UNDELIVERABLE', 'UNDELIVERED', 'UNDELIVRD', 'FAILED', 'FAILURE'],
  [6, null, 'ACCEPTD', 'ACCEPTED', 'ACKED'],
  [7, 'unknown', 'UNKNOWN'],
  [8, 'undelivered', 'REJECTD', 'REJECTED'],
  [9, 'undelivered', 'SKIPPED'],
];
const statesByNumber = new Map(states.map(([number, state]) => [number, state]));
const statesByName = new Map(
  states.flatMap(([, state, ...names]) => names.map((name) => [name, state] as const)),
);
// What follows may touch it, so the longest comes first.
const names = states.flatMap(([, , ...each]) => each).sort((one, other) => other.length - one.length);
const nextKey = '(?:sub|dlvrd|submit date|done date|stat|err|text):';
const idInText = new RegExp(`id:\\s*(?!${nextKey})(\\S+?)\\s*(?:${nextKey}|\\s|$)`, 'i');
const codeInText = new RegExp(`err:\\s*(?!${nextKey})([\\w-]{1,16}?)\\s*(?:${nextKey}|[^\\w-]|$)`, 'i');
const stateInText = new RegExp(`stat\\s*:\\s*(${names.join('|')})`, 'i');
const dateInText = /submit\s*date:\s*(\d{10})/i;

/** The receipt in a deliver_sm; null for an incoming message. */
export function readReceipt(pdu: Pdu, form: SmppRoute['receiptId']): SmppReceipt | null {
  const { fields, options } = pdu;
  const type = (fields.esm_class ?? 0) & messageType;
  const idOption = options.get(tags.receiptedMessageId);
  if (type !== deliveryReceipt && type !== intermediateNotification && idOption === undefined) return null;
  const text = textOf(pdu);
  const written = [idOption === undefined ? '' : withoutNul(idOption), idInText.exec(text)?.[1]];
  const [carrierId = null, otherId = null] = new Set(
    written.map((id) => canonical(id, form === 'dec_to_hex' ? 16 : 10, form)).filter((id) => id !== null),
  );
  // The option, unless its number is none; in its last byte, of one.
  const byNumber = statesByNumber.get(options.get(tags.messageState)?.at(-1) ?? 0);
  const byName = statesByName.get(stateInText.exec(text)?.[1]?.toUpperCase() ?? '');
  const state = type === intermediateNotification ? null : byNumber === undefined ? byName : byNumber;
  const reference = options.get(tags.userMessageReference);
  return {
    carrierId,
    otherId,
    to: normalNumber(fields.source_addr ?? '') ?? plausible(fields.source_addr) ?? '',
    state: state ?? null,
    code: codeOf(text, options.get(tags.networkErrorCode)),
    unread: carrierId === null ? 'fields' : state === undefined ? 'state' : null,
    reference: reference?.length === 2 ? reference.toString('hex') : '',
    submittedAt: timeOf(dateInText.exec(text)?.[1]),
  };
}

/** The id in a submit_sm_resp, in the form used in receipts; null if there is none. */
export function carrierIdOf(id: string, form: SmppRoute['receiptId']): string | null {
  return canonical(id.trim(), form === 'hex_to_dec' ? 16 : 10, form);
}

/**
 * That before the text of the message, or the option: the kind of network, and a number of two bytes. Zeros mean no
 * error.
 */
function codeOf(text: string, option?: Buffer): string | null {
  const [fields = ''] = text.split(/text:/i, 1);
  const [, written = ''] = codeInText.exec(fields) ?? [];
  const number = option?.length === 3 ? `${option.readUInt16BE(1)}` : '';
  return [written, number].find((code) => /[^0]/.test(code)) ?? null;
}

/** YYMMDDhhmm read as UTC; null if there is none. */
function timeOf(digits = ''): number | null {
  const iso = digits.replace(/^(..)(..)(..)(..)(..)$/, '20$1-$2-$3T$4:$5Z');
  const time = Date.parse(iso);
  return Number.isNaN(time) ? null : time;
}

/**
 * Null for text that cannot be an id or a number: if an engine cannot store it, the operator would repeat it for
 * ever.
 */
function plausible(text = ''): string | null {
  return text === '' || text.length > longestText || /\p{Cc}/u.test(text) ? null : text;
}

/** One spelling of an id, whatever its base, case and leading zeros; null for what cannot be one. */
function canonical(id: string | undefined, base: 10 | 16, form: SmppRoute['receiptId']): string | null {
  const given = plausible(id);
  if (given === null) return null;
  const digits = base === 16 ? given.replace(/^0x/i, '') : given;
  const isNumber = form !== 'same' && (base === 16 ? /^[0-9a-f]+$/i : /^[0-9]+$/).test(digits);
  return isNumber ? BigInt(base === 16 ? `0x${digits}` : digits).toString() : normalId(given);
}

/** Operators write an id in either case, and drop its leading zeros or add some. The stores do the same. */
function normalId(id: string): string {
  return id.replace(/^0+(?=.)/, '').replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function withoutNul(value: Buffer): string {
  const end = value.indexOf(0);
  return value.toString('latin1', 0, end < 0 ? value.length : end).trim();
}

/** Receipts use UCS-2 or 7-bit codes, packed or a byte each; keys and states are ASCII in all of them. */
function textOf(pdu: Pdu): string {
  const { text: content } = shortMessageOf(pdu);
  const spellings = [() => content.toString('latin1'), () => decodeUcs2(content), () => packed(content)];
  if (isUcs2(pdu.fields.data_coding ?? 0)) spellings.reverse();
  for (const spelling of spellings) {
    const text = spelling();
    if (idInText.test(text) || stateInText.test(text)) return text;
  }
  return '';
}

function packed(bytes: Buffer): string {
  return Buffer.from(unpackSeptets(bytes)).toString('latin1');
}
