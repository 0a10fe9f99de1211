import { encodeUcs2, gsmCodes } from './codec/alphabet.js';
import { type Fields, tags } from './codec/commands.js';
import { noOptions } from './codec/pdu.js';
import { hasUserDataHeader } from './codec/short-message.js';

/** The fields of a submit_sm that contain the text. */
export interface Segment {
  fields: Pick<Fields, 'data_coding' | 'esm_class' | 'short_message'>;
  options: ReadonlyMap<number, Buffer>;
}

const gsm = { coding: 0, alone: 160, inMany: 153 };
const ucs2 = { coding: 8, alone: 70, inMany: 67 };

/** The segments of a text; they share `reference`, from 0 to 65,535. */
export function segmentsOf(text: string, how: 'udh' | 'sar' | 'payload', reference: number): Segment[] {
  const characters = gsmCodes(text)?.map((codes) => Buffer.from(codes));
  const { coding, alone, inMany } = characters === undefined ? ucs2 : gsm;
  const units = characters ?? Array.from(text, encodeUcs2);
  const unitBytes = characters === undefined ? 2 : 1;
  const whole = Buffer.concat(units);
  const segment = (bytes: Buffer, options = noOptions, esm_class = 0): Segment => ({
    fields: { data_coding: coding, esm_class, short_message: bytes },
    options,
  });
  if (whole.length <= alone * unitBytes) return [segment(whole)];
  if (how === 'payload') return [segment(Buffer.alloc(0), new Map([[tags.messagePayload, whole]]))];
  const pieces = cut(units, inMany * unitBytes);
  return pieces.map((piece, index) => {
    if (how === 'sar') return segment(piece, segmentOptions(reference, pieces.length, index + 1));
    const header = Buffer.from([5, 0, 3, reference & 0xff, pieces.length, index + 1]);
    return segment(Buffer.concat([header, piece]), noOptions, hasUserDataHeader);
  });
}

function segmentOptions(reference: number, total: number, number: number): Map<number, Buffer> {
  return new Map([
    [tags.segmentReference, twoBytes(reference)],
    [tags.segmentTotal, Buffer.from([total])],
    [tags.segmentNumber, Buffer.from([number])],
  ]);
}

export function twoBytes(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** Pieces of at most `size` bytes, which never split a character of two codes or two UTF-16 units. */
function cut(units: readonly Buffer[], size: number): Buffer[] {
  const pieces: Buffer[] = [];
  let piece: Buffer[] = [];
  let length = 0;
  for (const unit of units) {
    if (length + unit.length > size) {
      pieces.push(Buffer.concat(piece));
      piece = [];
      length = 0;
    }
    piece.push(unit);
    length += unit.length;
  }
  pieces.push(Buffer.concat(piece));
  return pieces;
}
