import { normalNumber } from '../../../contract/index.js';
import { storable } from '../../storage/inbox.js';
import type { Incoming } from '../carrier.js';
import { decodeGsm, decodeUcs2 } from './codec/alphabet.js';
import { tags } from './codec/commands.js';
import type { Pdu } from './codec/pdu.js';
import { isUcs2, shortMessageOf } from './codec/short-message.js';

/** 3GPP TS 23.040, 9.2.3.24: several short messages as one, with a reference of one or two bytes. */
const shortReference = 0x00;
const longReference = 0x08;
/**
 * Characters of a sender or a number; SMPP allows 20. The operator would repeat a longer one for ever if the store
 * refused it.
 */
const longestNumber = 255;

/** The message in a deliver_sm, unless it is a receipt. */
export function readIncoming(pdu: Pdu): Omit<Incoming, 'route'> {
  const { source_addr: source = '', destination_addr: to = '', data_coding: coding = 0 } = pdu.fields;
  const { header, text } = shortMessageOf(pdu);
  return {
    from: storable(normalNumber(source) ?? source).slice(0, longestNumber),
    to: storable(to).slice(0, longestNumber),
    text: storable(textOf(text, coding)),
    part: partIn(header) ?? partOf(pdu.options),
  };
}

/** Of the elements of a user data header. */
function partIn(elements: Buffer): Incoming['part'] {
  for (let at = 0; at + 2 <= elements.length; at += 2 + (elements[at + 1] as number)) {
    const kind = elements[at];
    const length = elements[at + 1] as number;
    const value = elements.subarray(at + 2, at + 2 + length);
    const size = kind === shortReference ? 1 : kind === longReference ? 2 : 0;
    if (size > 0 && value.length === size + 2)
      return part(value.subarray(0, size), value[size], value[size + 1]);
  }
  return null;
}

function partOf(options: Pdu['options']): Incoming['part'] {
  const reference = options.get(tags.segmentReference);
  if (reference === undefined || reference.length > 2) return null;
  return part(reference, options.get(tags.segmentTotal)?.[0], options.get(tags.segmentNumber)?.[0]);
}

/** Null for a text in one part, and for invalid numbers. */
function part(reference: Buffer, total = 0, number = 0): Incoming['part'] {
  if (total < 2 || number < 1 || number > total) return null;
  return { reference: reference.toString('hex'), number, total };
}

/** 5.2.19: the alphabets that phones use; anything else is read as Latin-1. */
function textOf(bytes: Buffer, coding: number): string {
  const isGsm = coding === 0 || (coding & 0xf0) === 0xf0;
  if (isGsm) return decodeGsm(bytes);
  return isUcs2(coding) ? decodeUcs2(bytes) : bytes.toString('latin1');
}
