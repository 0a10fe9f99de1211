import { normalNumber } from '../../../contract/index.js';
import { partOf, storable } from '../../storage/inbox.js';
import type { Incoming } from '../carrier.js';
import { decodeGsm, decodeUcs2 } from './codec/alphabet.js';
import { tags } from './codec/commands.js';
import type { Pdu } from './codec/pdu.js';
import { isUcs2, shortMessageOf } from './codec/short-message.js';
import type { SmppRoute } from './route-settings.js';

/** 3GPP TS 23.040, 9.2.3.24: several short messages as one, with a reference of one or two bytes. */
const shortReference = 0x00;
const longReference = 0x08;
/**
 * Characters of a sender or a number; SMPP allows 20. The operator would repeat a longer one for ever if the store
 * refused it.
 */
const longestNumber = 255;

/** The message in a deliver_sm, unless it is a receipt. */
export function readIncoming(pdu: Pdu, alphabet: SmppRoute['alphabet']): Omit<Incoming, 'route'> {
  const { source_addr: source = '', destination_addr: to = '', data_coding: coding = 0 } = pdu.fields;
  const { header, text } = shortMessageOf(pdu);
  return {
    from: storable(normalNumber(source) ?? source).slice(0, longestNumber),
    to: storable(to).slice(0, longestNumber),
    text: storable(textOf(text, coding, alphabet)),
    part: partIn(header) ?? partInOptions(pdu.options),
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
      return partOf(value.toString('hex', 0, size), value[size] ?? 0, value[size + 1] ?? 0);
  }
  return null;
}

function partInOptions(options: Pdu['options']): Incoming['part'] {
  const reference = options.get(tags.segmentReference);
  if (reference === undefined || reference.length > 2) return null;
  const byteOf = (tag: number) => options.get(tag)?.[0] ?? 0;
  return partOf(reference.toString('hex'), byteOf(tags.segmentTotal), byteOf(tags.segmentNumber));
}

/** 5.2.19: the alphabets of a text by data_coding; one that is not here is read as Latin-1. */
const charsets: Readonly<Record<number, string>> = {
  5: 'shift_jis',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  10: 'iso-2022-jp',
  13: 'euc-jp',
  14: 'euc-kr',
};

function textOf(bytes: Buffer, coding: number, alphabet: SmppRoute['alphabet']): string {
  const charset = charsets[coding];
  if (charset !== undefined) return new TextDecoder(charset).decode(bytes);
  if (isDefault(coding) && alphabet !== 'latin1' && alphabet !== 'ascii') return decodeGsm(bytes);
  // 0xe0 to 0xef: of a message waiting.
  const isWide = (coding & 0xf0) === 0xe0 || (isUcs2(coding) && !isDefault(coding));
  return isWide ? decodeUcs2(bytes) : bytes.toString('latin1');
}

/** Whether a text is in the operator's default alphabet: 0, a message waiting, or a class without a bit for 8 bits. */
function isDefault(coding: number): boolean {
  return coding === 0 || (coding & 0xe0) === 0xc0 || (coding & 0xf4) === 0xf0;
}
