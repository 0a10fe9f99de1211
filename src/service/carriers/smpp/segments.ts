import { measureText } from '../../../contract/index.js';
import { encodeUcs2, gsmCodes } from './codec/alphabet.js';
import { type Fields, tags } from './codec/commands.js';
import { noOptions } from './codec/pdu.js';
import { hasUserDataHeader } from './codec/short-message.js';
import type { SmppRoute } from './route-settings.js';

/** The fields of a submit_sm that contain the text. */
export interface Segment {
  fields: Pick<Fields, 'data_coding' | 'esm_class' | 'short_message'>;
  options: ReadonlyMap<number, Buffer>;
}

/** A character: its bytes as submitted, and the places that it takes on the air. */
interface Unit {
  bytes: Buffer;
  size: number;
}

/** Places of a message alone, and of one of many, with a user data header of 7 bytes. */
const default7Bit = { coding: 0, alone: 160, inMany: 152 };
const ucs2 = { coding: 8, alone: 70, inMany: 66 };
type Coding = typeof ucs2;

/** The highest character of an operator's default alphabet that is none of GSM 03.38. */
const highest = { latin1: 0xff, ascii: 0x7f };

/** The segments of a text; they share `reference`, from 0 to 65,535. */
export function segmentsOf(
  text: string,
  { segments: how, alphabet }: Pick<SmppRoute, 'segments' | 'alphabet'>,
  reference: number,
): Segment[] {
  const { coding, pieces } = piecesOf(text, alphabet);
  const segment = (bytes: Buffer, options = noOptions, esm_class = 0): Segment => ({
    fields: { data_coding: coding.coding, esm_class, short_message: bytes },
    options,
  });
  const [whole = Buffer.alloc(0)] = pieces;
  if (pieces.length <= 1) return [segment(whole)];
  if (how === 'payload')
    return [segment(Buffer.alloc(0), new Map([[tags.messagePayload, Buffer.concat(pieces)]]))];
  return pieces.map((piece, index) => {
    if (how === 'sar') return segment(piece, segmentOptions(reference, pieces.length, index + 1));
    // A reference of two bytes: phones join what a number sent under the same one.
    const header = Buffer.from([6, 8, 4, ...twoBytes(reference), pieces.length, index + 1]);
    return segment(Buffer.concat([header, piece]), noOptions, hasUserDataHeader);
  });
}

/** Segments of a text beyond the parts that are charged: an alphabet that lacks characters of GSM 03.38 needs more. */
export function segmentsBeyondParts(text: string, alphabet: SmppRoute['alphabet']): number {
  if (alphabet === 'gsm') return 0;
  return Math.max(0, piecesOf(text, alphabet).pieces.length - measureText(text).parts);
}

function piecesOf(text: string, alphabet: SmppRoute['alphabet']): { coding: Coding; pieces: Buffer[] } {
  const inDefault = alphabet === 'ucs2' ? null : defaultUnits(text, alphabet);
  const coding = inDefault === null ? ucs2 : default7Bit;
  const units =
    inDefault ?? Array.from(text, (character) => ({ bytes: encodeUcs2(character), size: character.length }));
  const size = units.reduce((sum, unit) => sum + unit.size, 0);
  return { coding, pieces: cut(units, size <= coding.alone ? coding.alone : coding.inMany) };
}

/**
 * The text in the default alphabet of the operator; null if that lacks a character. The operator translates it to
 * GSM 03.38 for the phone, so a character that is missing there would be lost, and one of its extension takes two places.
 */
function defaultUnits(text: string, alphabet: 'gsm' | 'latin1' | 'ascii'): Unit[] | null {
  const codes = gsmCodes(text);
  if (codes === null) return null;
  if (alphabet === 'gsm') return codes.map((each) => ({ bytes: Buffer.from(each), size: each.length }));
  const points = Array.from(text, (character) => character.codePointAt(0) as number);
  if (points.some((point) => point > highest[alphabet])) return null;
  return points.map((point, index) => ({ bytes: Buffer.from([point]), size: codes[index]?.length ?? 1 }));
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

/** Pieces of at most `size` places, which never split a character. */
function cut(units: readonly Unit[], size: number): Buffer[] {
  const pieces: Buffer[] = [];
  let piece: Buffer[] = [];
  let length = 0;
  for (const unit of units) {
    if (length + unit.size > size) {
      pieces.push(Buffer.concat(piece));
      piece = [];
      length = 0;
    }
    piece.push(unit.bytes);
    length += unit.size;
  }
  pieces.push(Buffer.concat(piece));
  return pieces;
}
