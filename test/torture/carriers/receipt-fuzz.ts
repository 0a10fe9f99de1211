import { encodeUcs2 } from '../../../src/service/carriers/smpp/codec/alphabet.js';
import { tags } from '../../../src/service/carriers/smpp/codec/commands.js';
import type { Pdu } from '../../../src/service/carriers/smpp/codec/pdu.js';
import { readIncoming } from '../../../src/service/carriers/smpp/incoming.js';
import { carrierIdOf, readReceipt } from '../../../src/service/carriers/smpp/receipts.js';
import { changedText, type Dice, playInputs } from './fuzz-inputs.js';

type Read = typeof readReceipt;

/** What an engine keeps of an id or a number. */
const longestKept = 400;

const states = {
  DELIVRD: 'delivered',
  UNDELIV: 'undelivered',
  EXPIRED: 'undelivered',
  DELETED: 'undelivered',
  REJECTD: 'undelivered',
  UNKNOWN: 'unknown',
  ENROUTE: null,
  ACCEPTD: null,
} as const;
const stats = Object.keys(states) as (keyof typeof states)[];
const words = [
  'id:',
  'stat:',
  'sub:',
  'submit date:',
  'err:',
  'text:',
  ' ',
  '\0',
  '\n',
  'DELIVRD',
  ':',
  'ид',
];

/** Seven bits a character, packed: the other way round than the carrier reads it. */
function packed(text: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil((text.length * 7) / 8));
  for (let index = 0; index < text.length; index += 1) {
    const at = (index * 7) >> 3;
    const shift = (index * 7) & 7;
    const code = text.charCodeAt(index) << shift;
    bytes[at] = (bytes[at] as number) | (code & 0xff);
    if (at + 1 < bytes.length) bytes[at + 1] = code >> 8;
  }
  return bytes;
}

interface Written {
  pdu: Pdu;
  /** Null for one whose text was changed. */
  truth: { id: string; stat: keyof typeof states } | null;
}

/** A receipt in one of the ways that centres write it, or something like one. */
function receipt(dice: Dice): Written {
  const { random, upTo, one } = dice;
  const truth = {
    id: Array.from({ length: 1 + upTo(20) }, () => one([...'0123456789abcdefABCDEF'])).join(''),
    stat: one(stats),
  };
  const gap = one(['', ' ']);
  const end = one([' ', ' ', '']);
  const cased = one([(key: string) => key, (key: string) => key.toUpperCase()]);
  const date = `26112${1 + upTo(9)}0102`;
  const fields = [
    ['id', truth.id],
    ['sub', '001'],
    ['dlvrd', '001'],
    ['submit date', date],
    ['done date', date],
    ['stat', truth.stat],
    ['err', '000'],
    ['text', one(['', 'Hi', 'id:1 stat:UNDELIV'])],
  ];
  let text = fields.map(([key = '', value]) => `${cased(key)}:${gap}${value}`).join(end);
  const isChanged = random() < 0.6;
  if (isChanged) text = changedText(text, words, dice);
  if (isChanged && random() < 0.0005) text = one(words).repeat(20_000).slice(0, 64_000);
  const [bytes, data_coding] = one([
    () => [Buffer.from(text, 'latin1'), 0] as const,
    () => [encodeUcs2(text), 8] as const,
    () => [packed(text), 0] as const,
  ])();
  const isLong = bytes.length > 255 || random() < 0.1;
  return {
    truth: isChanged ? null : truth,
    pdu: {
      command: 'deliver_sm',
      status: 0,
      sequence: 1,
      fields: {
        source_addr: '97699112233',
        esm_class: 4,
        data_coding,
        short_message: isLong ? Buffer.alloc(0) : bytes,
      },
      options: new Map(isLong ? [[tags.messagePayload, bytes]] : []),
    },
  };
}

function textOf({ pdu }: Written): string {
  const bytes = pdu.options.get(tags.messagePayload) ?? pdu.fields.short_message ?? Buffer.alloc(0);
  return bytes.toString('latin1');
}

/** Receipts as centres write them, and texts that look like some; `untrue` counts those that were read as another. */
export function playReceiptFuzz(seed: number, inputs: number, read: Read = readReceipt) {
  const wrongIn = ({ pdu, truth }: Written) => {
    const { carrierId, to, state } = read(pdu, 'same') ?? { carrierId: null, to: '', state: null };
    readIncoming(pdu, 'gsm');
    if (/\p{Cc}/u.test(`${carrierId}${to}`) || `${carrierId}${to}`.length > longestKept)
      throw new Error(`no engine keeps ${JSON.stringify(carrierId)}`);
    const isTrue =
      truth === null || (carrierId === carrierIdOf(truth.id, 'same') && state === states[truth.stat]);
    return isTrue ? null : `${carrierId} is ${state}`;
  };
  return playInputs(seed, inputs, receipt, wrongIn, textOf);
}

/** A control: it ends an id at a space, in whatever alphabet. */
export const naive: Read = (pdu, form) => {
  const bytes = pdu.options.get(tags.messagePayload) ?? pdu.fields.short_message;
  const read = readReceipt(pdu, form);
  return read && { ...read, carrierId: carrierIdOf(/id:\s*(\S+)/i.exec(`${bytes}`)?.[1] ?? '', form) };
};
