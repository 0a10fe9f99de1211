import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import {
  decodeGsm,
  decodeUcs2,
  encodeUcs2,
  gsmCodes,
  unpackSeptets,
} from '../../../src/service/carriers/smpp/codec/alphabet.js';
import {
  type Command,
  commandIds,
  statuses,
  tags,
} from '../../../src/service/carriers/smpp/codec/commands.js';
import { Framing, LostFraming, maxPduLength } from '../../../src/service/carriers/smpp/codec/framing.js';
import {
  decodePdu,
  encodePdu,
  MalformedPdu,
  noOptions,
  type Pdu,
} from '../../../src/service/carriers/smpp/codec/pdu.js';
import { responseMs, Session, SessionLost } from '../../../src/service/carriers/smpp/connection/session.js';
import { carrierIdOf, readReceipt } from '../../../src/service/carriers/smpp/receipts.js';
import { segmentsOf } from '../../../src/service/carriers/smpp/segments.js';
import { ManualClock } from '../../../src/service/clock.js';
import { cpuTime } from '../../support/cpu-time.js';
import { collectGarbage } from '../../support/crash.js';
import { seededRandom } from '../../support/random.js';

export interface FuzzFindings {
  inputs: number;
  /** Errors other than those that garbage has. */
  crashes: number;
  /** Inputs that took longer than `slowMs`. */
  slow: number;
  /** Sessions that neither answer nor end after garbage, new ones that do not answer, and requests without an end. */
  deaf: number;
  /** MB that the heap has grown by. */
  grown: number;
  /** The first crash. */
  example: string;
}

type Decode = typeof decodePdu;

/** Milliseconds of cpu. */
const slowMs = 1_000;
/** Characters that a service submits at once: 5 parts. */
const longestText = 750;
const forms = ['same', 'hex_to_dec', 'dec_to_hex'] as const;
/** Milliseconds after which a silent peer is known to be dead. */
const deadMs = 3 * 30_000;
/** No request waits longer for its answer. */
const lateMs = 320_000;

const receipt =
  'id:0a1 sub:001 dlvrd:001 submit date:2611220102 done date:2611220103 stat:DELIVRD err:000 text:Hi';
const pdu = (
  command: Command,
  fields: Pdu['fields'] = {},
  options: [number, Buffer][] = [],
  status: number = statuses.ok,
): Buffer => encodePdu({ command, status, sequence: 2, fields, options: new Map(options) });

/** What a centre may send, and garbage is made of. */
const seeds: readonly Buffer[] = [
  pdu('submit_sm_resp', { message_id: '0123456789abcdef' }),
  pdu('submit_sm_resp', {}, [], statuses.throttled),
  pdu('deliver_sm', { source_addr: '97699112233', esm_class: 4, short_message: Buffer.from(receipt) }),
  pdu('deliver_sm', { esm_class: 4, data_coding: 8, short_message: encodeUcs2(receipt) }),
  pdu('deliver_sm', { esm_class: 0x44, short_message: Buffer.from(`\x05\x00\x03\x01\x02\x01${receipt}`) }),
  pdu('deliver_sm', { source_addr: '99112233' }, [
    [tags.receiptedMessageId, Buffer.from('A1\0')],
    [tags.messageState, Buffer.from([2])],
    [tags.userMessageReference, Buffer.from([1, 2])],
    [tags.messagePayload, Buffer.from('id:'.repeat(100))],
  ]),
  pdu('data_sm', { source_addr: '97699112233', esm_class: 4 }, [[tags.messagePayload, Buffer.from(receipt)]]),
  pdu('deliver_sm', { data_coding: 8, short_message: encodeUcs2('Сайн уу') }),
  pdu('bind_transceiver_resp', { system_id: 'smsc' }),
  pdu('enquire_link'),
  pdu('enquire_link_resp'),
  pdu('unbind'),
  pdu('unbind_resp'),
  pdu('generic_nack', {}, [], statuses.invalidCommandId),
];
const ids = Object.values(commandIds);

/** Bytes that a centre should not send: PDUs that were changed, cut, joined and stretched, or anything. */
export function garbage(random: () => number): Buffer {
  const upTo = (most: number) => Math.floor(random() * most);
  const pieces: Buffer[] = [];
  for (let count = 1 + upTo(3); count > 0; count -= 1) {
    let piece = Buffer.from(seeds[upTo(seeds.length)] as Buffer);
    if (random() < 0.15) piece = Buffer.from(Array.from({ length: upTo(80) }, () => upTo(256)));
    for (let flips = upTo(4); flips > 0 && piece.length > 0; flips -= 1)
      piece[upTo(piece.length)] = upTo(256);
    if (random() < 0.3) piece = piece.subarray(0, upTo(piece.length + 1));
    if (random() < 0.2) piece = Buffer.concat([piece, piece.subarray(upTo(piece.length + 1))]);
    if (piece.length >= 16 && random() < 0.5) piece.writeUInt32BE(piece.length, 0);
    if (piece.length >= 16 && random() < 0.2) piece.writeUInt32BE(ids[upTo(ids.length)] as number, 4);
    if (piece.length >= 4 && random() < 0.05) piece.writeUInt32BE(upTo(2 * maxPduLength), 0);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** A connection without a network. */
class Wire extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly writableLength = 0;
  cork(): void {}
  uncork(): void {}
  destroy(): void {}
  write(bytes: Buffer): void {
    this.written.push(bytes);
  }
}

const quietly = { onRequest() {}, onMalformed() {}, onProgress() {}, onClosed() {} };
const probe = encodePdu({
  command: 'enquire_link',
  status: statuses.ok,
  sequence: 0x7654321,
  fields: {},
  options: noOptions,
});

/** Whether a session answers a request of its peer. */
function answers(wire: Wire): boolean {
  wire.written.length = 0;
  wire.emit('data', probe);
  return wire.written.some((bytes) => bytes.readUInt32BE(12) === 0x7654321);
}

/** Lets a session read garbage while a submission waits: whether it is left deaf, or the submission without an end. */
async function isDeafAfter(chunks: readonly Buffer[]): Promise<boolean> {
  const clock = new ManualClock(0);
  const wire = new Wire();
  const session = new Session(wire as unknown as Duplex, clock, 30_000, {
    ...quietly,
    onRequest: (request) => session.respond(request, statuses.ok),
  });
  let isEnded = false;
  const end = (error?: unknown) => {
    isEnded = error === undefined || error instanceof SessionLost;
  };
  const submitted = session.request('submit_sm', {}).then(() => end(), end);
  for (const chunk of chunks) wire.emit('data', chunk);
  if (!session.isClosed && !answers(wire)) {
    for (let passed = 0; passed < deadMs && !session.isClosed; passed += responseMs)
      clock.advance(responseMs);
    if (!session.isClosed && !answers(wire)) return true;
  }
  for (let passed = 0; passed < lateMs && !session.isClosed; passed += 2 * responseMs)
    clock.advance(2 * responseMs);
  session.close('the end');
  await submitted;
  const next = new Wire();
  const fresh = new Session(next as unknown as Duplex, clock, 30_000, quietly);
  const isHeard = answers(next);
  fresh.close('the end');
  return !isEnded || !isHeard;
}

/** Cuts bytes anywhere. */
function chunksOf(bytes: Buffer, random: () => number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(random() * random() * bytes.length);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

/** Everything that reads what a centre sends. */
function read(bytes: Buffer, chunks: readonly Buffer[], decode: Decode): void {
  const framing = new Framing();
  try {
    for (const chunk of chunks) {
      framing.push(chunk, (whole) => {
        try {
          readPdu(decode(whole));
        } catch (error) {
          if (!(error instanceof MalformedPdu)) throw error;
        }
      });
    }
  } catch (error) {
    if (!(error instanceof LostFraming)) throw error;
  }
  decodeUcs2(bytes);
  const text = decodeGsm(unpackSeptets(bytes)).slice(0, longestText);
  if (gsmCodes(decodeGsm(bytes)) === null && bytes.every((code) => code < 0x80 && code !== 0x1b))
    throw new Error('GSM text does not encode again');
  const segments = (['udh', 'sar', 'payload'] as const)[bytes.length % 3] ?? 'udh';
  const alphabet = (['gsm', 'latin1', 'ascii', 'ucs2'] as const)[bytes.length % 4] ?? 'gsm';
  segmentsOf(text, { segments, alphabet }, bytes.length);
}

function readPdu(whole: Pdu): void {
  for (const form of forms) {
    const read = readReceipt(whole, form);
    const id = carrierIdOf(whole.fields.message_id ?? '', form);
    for (const kept of [read?.carrierId, read?.to, id])
      if (kept && (/[\0-\x1f]/.test(kept) || kept.length > 400))
        throw new Error(`no engine keeps ${JSON.stringify(kept.slice(0, 50))}`);
  }
}

export async function playPduFuzz(
  seed: number,
  inputs: number,
  decode: Decode = decodePdu,
): Promise<FuzzFindings> {
  const random = seededRandom(seed);
  const findings: FuzzFindings = { inputs, crashes: 0, slow: 0, deaf: 0, grown: 0, example: '' };
  const before = heapNow();
  for (let input = 0; input < inputs; input += 1) {
    // What a session leaves for the next tick of the event loop.
    if (input % 100 === 0) await new Promise(setImmediate);
    const bytes = garbage(random);
    const chunks = chunksOf(bytes, random);
    const started = cpuTime();
    try {
      read(bytes, chunks, decode);
      if (await isDeafAfter(chunks)) findings.deaf += 1;
    } catch (error) {
      findings.crashes += 1;
      if (findings.example === '') findings.example = `${error} for ${bytes.toString('hex').slice(0, 200)}`;
    }
    if (cpuTime() - started > slowMs) findings.slow += 1;
  }
  findings.grown = Math.max(0, Math.round((heapNow() - before) / 1_000_000));
  return findings;
}

export function heapNow(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A control: it reads beyond the end. */
export const trusting: Decode = (bytes) => {
  try {
    return decodePdu(bytes);
  } catch (error) {
    if (error instanceof MalformedPdu) return decodePdu(bytes.subarray(0, bytes.readUInt8(bytes.length)));
    throw error;
  }
};
