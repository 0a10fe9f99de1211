import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../../src/service/carriers/smpp/codec/commands.js';
import { readIncoming } from '../../../../src/service/carriers/smpp/incoming.js';
import type { SmppRoute } from '../../../../src/service/carriers/smpp/route-settings.js';
import { segmentsOf } from '../../../../src/service/carriers/smpp/segments.js';

const incoming = (
  fields: Partial<Fields>,
  options: [number, Buffer][] = [],
  alphabet: SmppRoute['alphabet'] = 'gsm',
) =>
  readIncoming(
    {
      command: 'deliver_sm',
      status: 0,
      sequence: 1,
      fields: { source_addr: '97699112233', destination_addr: '139911', ...fields },
      options: new Map(options),
    },
    alphabet,
  );
const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('an incoming SMS', () => {
  it.each<[string, Partial<Fields>, string]>([
    ['GSM 7-bit', { data_coding: 0, short_message: bytes('00 53 1b 65') }, '@S€'],
    ['GSM 7-bit with a class', { data_coding: 0xf1, short_message: bytes('53') }, 'S'],
    ['ASCII', { data_coding: 1, short_message: bytes('40 24') }, '@$'],
    ['Latin-1', { data_coding: 3, short_message: bytes('e9') }, 'é'],
    ['GSM 7-bit of a message waiting', { data_coding: 0xc8, short_message: bytes('00') }, '@'],
    ['8 bits with a class', { data_coding: 0xf5, short_message: bytes('40 e9') }, '@é'],
    ['ISO-8859-5', { data_coding: 6, short_message: bytes('c1 c2 be bf') }, 'СТОП'],
    ['ISO-8859-8', { data_coding: 7, short_message: bytes('f9') }, 'ש'],
    ['KS C 5601', { data_coding: 14, short_message: bytes('b0 a1') }, '가'],
    ['UCS-2 of a message waiting', { data_coding: 0xe0, short_message: bytes('0422') }, 'Т'],
    ['UCS-2', { data_coding: 8, short_message: bytes('0422 04e9 d83d de00') }, 'Тө😀'],
    ['half a character of UCS-2', { data_coding: 8, short_message: bytes('0422 04') }, 'Т'],
    ['half a pair of UCS-2', { data_coding: 8, short_message: bytes('0422 d83d') }, 'Т\ufffd'],
    ['zeros', { data_coding: 3, short_message: bytes('41 00 42') }, 'AB'],
    ['no text', {}, ''],
  ])('in %s is read', (_, fields, text) => {
    expect(incoming(fields)).toEqual({ from: '99112233', to: '139911', text, part: null });
  });

  it.each([
    ['gsm', '¡'],
    ['ucs2', '¡'],
    ['latin1', '@'],
    ['ascii', '@'],
  ] as const)('in the default alphabet of its operator, %s, is read', (alphabet, text) => {
    expect(incoming({ short_message: bytes('40') }, [], alphabet).text).toBe(text);
  });

  it('has its text in message_payload too', () => {
    expect(incoming({ data_coding: 8 }, [[0x0424, bytes('0422')]]).text).toBe('Т');
  });

  it('comes from foreign numbers and from names as they are written', () => {
    expect(incoming({ source_addr: '4915112345678' }).from).toBe('4915112345678');
    expect(incoming({ source_addr: 'Bank' }).from).toBe('Bank');
  });

  it('has no more of a sender, a number or a reference than a store takes', () => {
    const long = 'x'.repeat(60_000);
    const options: [number, Buffer][] = [
      [0x020c, Buffer.alloc(5_000)],
      [0x020e, bytes('02')],
      [0x020f, bytes('01')],
    ];
    const { from, to, part } = incoming({ source_addr: long, destination_addr: long }, options);
    expect([from.length, to.length, part]).toEqual([255, 255, null]);
  });

  it.each<[string, string, object | null]>([
    ['a short reference', '05 00 03 a7 02 01', { reference: 'a7', number: 1, total: 2 }],
    ['a long reference', '06 08 04 01a7 02 02', { reference: '01a7', number: 2, total: 2 }],
    ['other elements before it', '0a 05 03 010203 00 03 a7 02 01', { reference: 'a7', number: 1, total: 2 }],
    ['only other elements', '05 05 03 010203', null],
    ['a single part', '05 00 03 a7 01 01', null],
    ['a number over the total', '05 00 03 a7 02 03', null],
    ['number 0', '05 00 03 a7 02 00', null],
    ['an element that is cut', '04 00 03 a7 02', null],
  ])('with a user data header of %s says which part it is', (_, header, part) => {
    const read = incoming({
      esm_class: 0x40,
      data_coding: 8,
      short_message: Buffer.concat([bytes(header), bytes('0422')]),
    });
    expect(read).toMatchObject({ text: 'Т', part });
  });

  it.each(['udh', 'sar'] as const)('in parts by %s is what was written', (how) => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abcЖөüӨ €{'), maxLength: 400 }), (text) => {
        const read = segmentsOf(text, { segments: how, alphabet: 'gsm' }, 0xa7).map(({ fields, options }) =>
          incoming(fields, [...options]),
        );
        expect(read.map((each) => each.text).join('')).toBe(text);
        if (read.length > 1)
          expect(read.map((each) => each.part?.number)).toEqual(read.map((_, index) => index + 1));
        expect(read.every(({ part }) => part === null)).toBe(read.length === 1);
      }),
    );
  });

  it('of any bytes is read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 140 }), fc.nat(255), fc.nat(255), (message, esm, coding) => {
        const read = incoming({ esm_class: esm, data_coding: coding, short_message: Buffer.from(message) });
        expect(Buffer.from(read.text).toString()).toBe(read.text);
        expect(read.text).not.toContain('\0');
      }),
    );
  });
});
