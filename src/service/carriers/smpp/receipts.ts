import { normalNumber } from '../../../contract/index.js';
import type { DeliveryState } from '../../storage/store.js';
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
  /** As in Receipt. */
  reference: string;
  submittedAt: number | null;
}

const messageType = 0x3c;
const deliveryReceipt = 0x04;
const intermediateNotification = 0x20;
/** Characters of an id or a number; SMPP has 64. */
const longestText = 255;

/** 5.3.2.35. */
const statesByNumber: readonly (DeliveryState | null)[] = [
  null,
  null,
  'delivered',
  'undelivered',
  'undelivered',
  'undelivered',
  null,
  'unknown',
  'undelivered',
];
/** Appendix B. */
const statesByName: Readonly<Record<string, DeliveryState | null>> = {
  DELIVRD: 'delivered',
  UNDELIV: 'undelivered',
  EXPIRED: 'undelivered',
  DELETED: 'undelivered',
  REJECTD: 'undelivered',
  UNKNOWN: 'unknown',
  ENROUTE: null,
  ACCEPTD: null,
  SCHEDUL: null,
};
const idInText = /id:\s*(\S+?)\s*(?:(?:sub|dlvrd|submit date|done date|stat|err|text):|\s|$)/i;
const stateInText = new RegExp(`stat:\\s*(${Object.keys(statesByName).join('|')})`, 'i');
const dateInText = /submit\s*date:\s*(\d{10})/i;

/** The receipt in a deliver_sm; null for an incoming message. */
export function readReceipt(pdu: Pdu, form: SmppRoute['receiptId']): SmppReceipt | null {
  const { fields, options } = pdu;
  const type = (fields.esm_class ?? 0) & messageType;
  const idOption = options.get(tags.receiptedMessageId);
  const stateOption = options.get(tags.messageState)?.[0];
  if (type !== deliveryReceipt && type !== intermediateNotification && idOption === undefined) return null;
  const text = textOf(pdu);
  const written = [idOption === undefined ? '' : withoutNul(idOption), idInText.exec(text)?.[1]];
  const [carrierId = null, otherId = null] = new Set(
    written.map((id) => canonical(id, form === 'dec_to_hex' ? 16 : 10, form)).filter((id) => id !== null),
  );
  const name = stateInText.exec(text)?.[1]?.toUpperCase() ?? '';
  const reference = options.get(tags.userMessageReference);
  return {
    carrierId,
    otherId,
    to: normalNumber(fields.source_addr ?? '') ?? plausible(fields.source_addr) ?? '',
    state:
      type === intermediateNotification
        ? null
        : ((stateOption === undefined ? statesByName[name] : statesByNumber[stateOption]) ?? null),
    reference: reference?.length === 2 ? reference.toString('hex') : '',
    submittedAt: timeOf(dateInText.exec(text)?.[1]),
  };
}

/** The id in a submit_sm_resp, in the form used in receipts; null if there is none. */
export function carrierIdOf(id: string, form: SmppRoute['receiptId']): string | null {
  return canonical(id.trim(), form === 'hex_to_dec' ? 16 : 10, form);
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
  const isNumber = form !== 'same' && (base === 16 ? /^[0-9a-f]+$/i.test(given) : /^[0-9]+$/.test(given));
  return isNumber ? BigInt(base === 16 ? `0x${given}` : given).toString() : normalId(given);
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
