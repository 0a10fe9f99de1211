import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeGsm,
  decodeUcs2,
  encodeUcs2,
  gsmCodes,
  unpackSeptets,
} from '../../../../src/service/carriers/smpp/codec/alphabet.js';
import {
  type Command,
  commandIds,
  layouts,
  tags,
} from '../../../../src/service/carriers/smpp/codec/commands.js';
import { Framing, LostFraming, maxPduLength } from '../../../../src/service/carriers/smpp/codec/framing.js';
import {
  decodePdu,
  encodePdu,
  MalformedPdu,
  noOptions,
  type Pdu,
} from '../../../../src/service/carriers/smpp/codec/pdu.js';

/** The other side's codec. */
const { PDU } = createRequire(import.meta.url)('smpp') as {
  PDU: {
    new (command: string, fields: object): { toBuffer(): Buffer };
    fromBuffer(buffer: Buffer): Record<string, unknown>;
  };
};

const message = { command: 'submit_sm', status: 0, sequence: 7, options: noOptions } as const;

const arbitraryPdu = fc.constantFrom(...(Object.keys(commandIds) as Command[])).chain((command) =>
  fc.record({
    command: fc.constant(command),
    status: fc.constant(0),
    sequence: fc.integer({ min: 1, max: 0x7fffffff }),
    fields: fc.record(
      Object.fromEntries(
        layouts[command].map(({ name, kind }) => [
          name,
          kind === 'byte'
            ? fc.nat(255)
            : kind === 'string'
              ? fc.stringMatching(/^[\x01-\xff]{0,30}$/)
              : fc.uint8Array({ maxLength: 254 }).map((bytes) => Buffer.from(bytes)),
        ]),
      ),
    ),
    options: fc
      .array(fc.tuple(fc.nat(0xffff), fc.uint8Array({ maxLength: 300 })))
      .map((all) => new Map(all.map(([tag, value]) => [tag, Buffer.from(value)]))),
  }),
) as fc.Arbitrary<Pdu>;

describe('a PDU', () => {
  it('is the same after encoding and decoding', () => {
    fc.assert(
      fc.property(arbitraryPdu, (pdu) => {
        expect(decodePdu(encodePdu(pdu))).toEqual(pdu);
      }),
    );
  });

  it('is read by another codec', () => {
    const fields = {
      source_addr: '139911',
      source_addr_ton: 3,
      destination_addr: '97699112233',
      data_coding: 8,
      registered_delivery: 1,
      validity_period: '000001000000000R',
      short_message: encodeUcs2('Сайн уу'),
    };
    const options = new Map([[tags.userMessageReference, Buffer.from([0xab, 0xcd])]]);
    const read = PDU.fromBuffer(encodePdu({ ...message, fields, options }));
    expect(read).toMatchObject({
      command: 'submit_sm',
      sequence_number: 7,
      source_addr: '139911',
      source_addr_ton: 3,
      destination_addr: '97699112233',
      registered_delivery: 1,
      // As it reads a relative time.
      validity_period: expect.any(Date),
      user_message_reference: 0xabcd,
      short_message: { message: 'Сайн уу' },
    });
  });

  it.each(['bind_transceiver', 'bind_transmitter', 'bind_receiver'] as const)(
    '%s is read by another codec',
    (command) => {
      const fields = { system_id: 'urtuu', password: 'secret', system_type: 'x', interface_version: 0x34 };
      const read = PDU.fromBuffer(encodePdu({ ...message, command, fields }));
      expect(read).toMatchObject({ command, ...fields });
    },
  );

  it('data_sm of another codec is read', () => {
    const given = { source_addr: '97699112233', destination_addr: '139911', esm_class: 4, data_coding: 8 };
    const { fields, options, ...read } = decodePdu(
      new PDU('data_sm', { sequence_number: 9, ...given, receipted_message_id: 'A1' }).toBuffer(),
    );
    expect([read, fields]).toMatchObject([{ command: 'data_sm', status: 0, sequence: 9 }, given]);
    expect(options.get(tags.receiptedMessageId)?.toString()).toBe('A1\0');
  });

  it('of another codec is read', () => {
    const receipt = new PDU('deliver_sm', {
      sequence_number: 9,
      esm_class: 4,
      source_addr: '97699112233',
      short_message: 'id:1 stat:DELIVRD',
      receipted_message_id: 'A1',
      message_state: 2,
    }).toBuffer();
    const { fields, options, ...read } = decodePdu(receipt);
    expect(read).toEqual({ command: 'deliver_sm', status: 0, sequence: 9 });
    expect(fields).toMatchObject({ esm_class: 4, source_addr: '97699112233' });
    expect(fields.short_message?.toString()).toBe('id:1 stat:DELIVRD');
    expect(options.get(tags.receiptedMessageId)).toEqual(Buffer.from('A1\0'));
    expect(options.get(tags.messageState)).toEqual(Buffer.from([2]));
    const answer = decodePdu(new PDU('submit_sm_resp', { sequence_number: 3, message_id: 'f00' }).toBuffer());
    expect(answer).toMatchObject({ command: 'submit_sm_resp', sequence: 3, fields: { message_id: 'f00' } });
  });

  it.each([
    ['submit_sm_resp', ''],
    ['submit_sm_resp', '41'],
    ['bind_transceiver_resp', ''],
    ['submit_sm_resp', '4100021000'],
  ] as const)('%s whose body is %j is read as far as it goes', (command, body) => {
    const bytes = Buffer.from(body, 'hex');
    const head = encodePdu({ ...message, command: 'enquire_link', fields: {} });
    const pdu = Buffer.concat([head, bytes]);
    pdu.writeUInt32BE(pdu.length, 0);
    pdu.writeUInt32BE(commandIds[command], 4);
    expect(decodePdu(pdu)).toMatchObject({ command, sequence: 7, status: 0 });
  });

  it.each([
    ['deliver_sm', ''],
    ['deliver_sm', '00'.repeat(16)],
    // A short message longer than its PDU.
    ['deliver_sm', `${'00'.repeat(16)}ff41`],
    // An option that ends after its PDU.
    ['deliver_sm', `${'00'.repeat(17)}001e0009`],
    ['bind_transceiver', '4142'],
  ] as const)('%s whose body is %j is malformed', (command, body) => {
    const pdu = Buffer.concat([
      encodePdu({ ...message, command: 'enquire_link', fields: {} }),
      Buffer.from(body, 'hex'),
    ]);
    pdu.writeUInt32BE(commandIds[command], 4);
    expect(() => decodePdu(pdu)).toThrow(MalformedPdu);
  });

  it('that is random is read or malformed, nothing else', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 200 }),
        fc.constantFrom(...Object.values(commandIds)),
        (bytes, id) => {
          const pdu = Buffer.from(bytes);
          pdu.writeUInt32BE(id, 4);
          try {
            expect(decodePdu(pdu).sequence).toBe(pdu.readUInt32BE(12));
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedPdu);
          }
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('takes no string with U+0000', () => {
    expect(() => encodePdu({ ...message, fields: { source_addr: 'a\0b' } })).toThrow(RangeError);
  });
});

describe('framing', () => {
  const cut = (stream: Buffer, sizes: readonly number[]): Buffer[] => {
    const framing = new Framing();
    const found: Buffer[] = [];
    let at = 0;
    for (let cut = 0; at < stream.length; cut += 1) {
      const size = sizes[cut % sizes.length] as number;
      framing.push(stream.subarray(at, at + size), (pdu) => found.push(Buffer.from(pdu)));
      at += size;
    }
    return found;
  };

  it('finds the PDUs, however the bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryPdu, { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
        (pdus, sizes) => {
          const encoded = pdus.map(encodePdu);
          expect(cut(Buffer.concat(encoded), sizes)).toEqual(encoded);
        },
      ),
    );
  });

  it('finds them a byte at a time', () => {
    const large = encodePdu({
      ...message,
      fields: {},
      options: new Map([[tags.messagePayload, Buffer.alloc(60_000, 7)]]),
    });
    const small = encodePdu({ ...message, command: 'enquire_link', fields: {} });
    expect(cut(Buffer.concat([large, small]), [1])).toEqual([large, small]);
  });

  it.each([0, 4, 15, maxPduLength + 1, 0x7fffffff, 0xffffffff])('is lost at a length of %i', (length) => {
    const small = encodePdu({ ...message, command: 'enquire_link', fields: {} });
    const bad = Buffer.alloc(8);
    bad.writeUInt32BE(length);
    const found: Buffer[] = [];
    expect(() => new Framing().push(Buffer.concat([small, bad]), (pdu) => found.push(pdu))).toThrow(
      LostFraming,
    );
    expect(found).toEqual([small]);
  });
});

describe('the alphabets', () => {
  it.each([
    ['@', [0x00]],
    ['$', [0x02]],
    [' ', [0x20]],
    ['Δ', [0x10]],
    ['_', [0x11]],
    ['Æ', [0x1c]],
    ['É', [0x1f]],
    ['¡', [0x40]],
    ['A', [0x41]],
    ['§', [0x5f]],
    ['¿', [0x60]],
    ['à', [0x7f]],
    ['\n', [0x0a]],
    ['\r', [0x0d]],
    ['€', [0x1b, 0x65]],
    ['[', [0x1b, 0x3c]],
    ['|', [0x1b, 0x40]],
    ['\f', [0x1b, 0x0a]],
  ])('give %j the codes %j', (character, codes) => {
    expect(gsmCodes(character)).toEqual([codes]);
    expect(decodeGsm(Buffer.from(codes))).toBe(character);
  });

  it.each(['ү', 'Ө', '\x1b', '😀', 'ç'])('have no %j in the 7-bit one', (character) => {
    expect(gsmCodes(character)).toBeNull();
  });

  it('keep every text in UCS-2', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'ү', '😀', '\ud800', '\0') }), (text) => {
        expect(decodeUcs2(encodeUcs2(text))).toBe(text);
      }),
    );
  });

  it('unpack septets', () => {
    // "hellohello" of GSM 03.38, 6.1.2.1.
    expect(Buffer.from(unpackSeptets(Buffer.from('E8329BFD4697D9EC37', 'hex'))).toString()).toBe(
      'hellohello',
    );
  });
});
