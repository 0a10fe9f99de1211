import { describe, expect, it } from 'vitest';
import { encodeUcs2 } from '../../../../src/service/carriers/smpp/codec/alphabet.js';
import { tags } from '../../../../src/service/carriers/smpp/codec/commands.js';
import type { Pdu } from '../../../../src/service/carriers/smpp/codec/pdu.js';
import { carrierIdOf, readReceipt } from '../../../../src/service/carriers/smpp/receipts.js';

function deliver(text: string | Buffer, fields: Pdu['fields'] = {}, options: [number, Buffer][] = []): Pdu {
  return {
    command: 'deliver_sm',
    status: 0,
    sequence: 1,
    fields: {
      source_addr: '97699112233',
      esm_class: 4,
      short_message: Buffer.from(text as string),
      ...fields,
    },
    options: new Map(options),
  };
}

/** Eight 7-bit codes in seven bytes. */
function pack(text: string): Buffer {
  const bits = [...Buffer.from(text)]
    .map((code) => code.toString(2).padStart(7, '0'))
    .reverse()
    .join('');
  const padded = bits.padStart(Math.ceil(bits.length / 8) * 8, '0');
  const bytes = padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  return Buffer.from(bytes.reverse());
}

const written =
  'id:0123 sub:001 dlvrd:001 submit date:2611220102 done date:2611220103 stat:DELIVRD err:000 text:Hi';

describe('a receipt', () => {
  it.each([
    [written, '123', 'delivered'],
    [written.replaceAll(' ', ''), '123', 'delivered'],
    [
      'id:0123sub:001dlvrd:001submit date:26done date:26stat:UNDELIVerr:001text:stat:DELIVRD',
      '123',
      'undelivered',
    ],
    ['ID: a-b_C/9 STAT: EXPIRED', 'a-b_c/9', 'undelivered'],
    ['id:1 stat:DELETED', '1', 'undelivered'],
    ['id:1 stat:REJECTD', '1', 'undelivered'],
    ['id:1 stat:UNKNOWN', '1', 'unknown'],
    ['id:1 stat:FAILED err:001', '1', 'undelivered'],
    ['id:1 stat:FAILEDerr:001', '1', 'undelivered'],
    ['id:1 stat:DELIVERED', '1', 'delivered'],
    ['id:1 stat: deliverederr:000', '1', 'delivered'],
    ['id:1 stat:REJECTED', '1', 'undelivered'],
    ['id:1 stat:UNDELIVERABLE', '1', 'undelivered'],
    ['id:1 stat:UNDELIVERED', '1', 'undelivered'],
    ['id:1 stat:BUFFRED', '1', null],
    ['id:1 stat:ACKED   err:000', '1', null],
    ['id:1 stat:ENROUTE', '1', null],
    ['id:1 stat:ACCEPTD', '1', null],
    ['id:1 stat:SCHEDULED', '1', null],
    ['id:1 stat:NEWSTATE', '1', null],
    ['id:7', '7', null],
    ['stat:DELIVRD', null, 'delivered'],
    ['id: sub:001 dlvrd:001 stat:DELIVRD', null, 'delivered'],
    ['id:sub:001 stat:DELIVRD', null, 'delivered'],
    ['', null, null],
  ] as const)('%j', (text, carrierId, state) => {
    expect(readReceipt(deliver(text), 'same')).toMatchObject({
      carrierId,
      state,
      to: '99112233',
      reference: '',
    });
  });

  it.each([
    [written, Date.UTC(2026, 10, 22, 1, 2)],
    [written.replaceAll(' ', ''), Date.UTC(2026, 10, 22, 1, 2)],
    ['id:1 submit date:261122010203 stat:DELIVRD', Date.UTC(2026, 10, 22, 1, 2)],
    ['id:1 submit date:0000000000 stat:DELIVRD', null],
    ['id:1 submit date:202611220102 stat:DELIVRD', null],
    ['id:1 submit date: done date:2611220103 stat:DELIVRD', null],
    ['id:1 stat:DELIVRD', null],
  ])('%j has the time of its submission', (text, submittedAt) => {
    expect(readReceipt(deliver(text), 'same')).toMatchObject({ submittedAt });
  });

  const networkError = (...bytes: number[]): [number, Buffer][] => [
    [tags.networkErrorCode, Buffer.from(bytes)],
  ];
  it.each<[string, [number, Buffer][], string | null]>([
    ['id:1 stat:UNDELIV err:042 text:Hi', [], '042'],
    ['id:1stat:UNDELIVerr:1234text:Hi', [], '1234'],
    ['id:1 stat:REJECTD err: EC_7', [], 'EC_7'],
    [written, [], null],
    ['id:1 stat:UNDELIV err: text:err:99', [], null],
    ['id:1 stat:UNDELIV text:err:99', [], null],
    [`id:1 stat:UNDELIV err:${'9'.repeat(17)}`, [], null],
    ['id:1 stat:UNDELIV err:000', networkError(3, 8, 2), '2050'],
    ['id:1 stat:UNDELIV err:042', networkError(3, 0, 1), '042'],
    ['id:1 stat:UNDELIV', networkError(3, 0, 0), null],
    ['id:1 stat:UNDELIV', networkError(3, 1), null],
  ])('%j with options %o has the code of its operator', (text, options, code) => {
    expect(readReceipt(deliver(text, {}, options), 'same')).toMatchObject({ code });
  });

  it.each([
    ['UCS-2', encodeUcs2(written), 8],
    ['UCS-2 that does not say so', encodeUcs2(written), 0],
    ['packed 7-bit codes', pack(written), 0],
    ['a byte for each code', Buffer.from(written), 3],
    ['a byte for each code that says UCS-2', Buffer.from(written), 8],
  ])('in %s', (_, short_message, data_coding) => {
    const read = readReceipt(deliver('', { short_message, data_coding }), 'same');
    expect(read).toMatchObject({ carrierId: '123', state: 'delivered' });
  });

  it.each([
    [2, 'delivered'],
    [3, 'undelivered'],
    [4, 'undelivered'],
    [5, 'undelivered'],
    [6, null],
    [7, 'unknown'],
    [8, 'undelivered'],
    [1, null],
    [9, 'undelivered'],
    // No state: what the text says counts.
    [0, 'delivered'],
    [99, 'delivered'],
  ])('in options, with state %i', (state, expected) => {
    const options: [number, Buffer][] = [
      [tags.receiptedMessageId, Buffer.from('A1\0')],
      [tags.messageState, Buffer.from([state])],
      [tags.userMessageReference, Buffer.from('00ff', 'hex')],
    ];
    // Without the class of a receipt, and with a text that says something else.
    const read = readReceipt(deliver('id:2 stat:DELIVRD', { esm_class: 0 }, options), 'same');
    expect(read).toMatchObject({
      carrierId: 'a1',
      otherId: '2',
      state: expected,
      to: '99112233',
      reference: '00ff',
    });
  });

  it.each([
    ['id:1 stat:DELIVRD', null],
    ['id:1 stat:ENROUTE', null],
    ['id:1 stat:NEWSTATE', 'state'],
    ['id:1', 'state'],
    ['stat:DELIVRD', 'fields'],
  ])('%j lacks %s', (text, unread) => {
    expect(readReceipt(deliver(text), 'same')).toMatchObject({ unread });
  });

  it('in a payload', () => {
    const read = readReceipt(deliver('', {}, [[tags.messagePayload, Buffer.from(written)]]), 'same');
    expect(read).toMatchObject({ carrierId: '123', state: 'delivered' });
  });

  it.each(['97699112233', '+97699112233', '99112233'])('from %s has its number', (source_addr) => {
    expect(readReceipt(deliver(written, { source_addr }), 'same')?.to).toBe('99112233');
  });

  it('that is intermediate says nothing final', () => {
    expect(readReceipt(deliver(written, { esm_class: 0x20 }), 'same')).toMatchObject({ state: null });
  });

  it('is not an incoming message', () => {
    expect(readReceipt(deliver(written, { esm_class: 0 }), 'same')).toBeNull();
    expect(readReceipt(deliver('STOP', { esm_class: 0x40 }), 'same')).toBeNull();
  });

  it.each([
    ['same', 'A1b', 'A1b'],
    ['same', '00B8BE19', 'B8BE19'],
    ['same', '00b8be19', '00B8BE19'],
    ['same', '123', '0000000123'],
    ['same', '000', '0'],
    ['same', '5F4DCC3B-AA76', '5f4dcc3b-aa76'],
    ['hex_to_dec', 'NOT-a-number', '0not-A-number'],
    ['hex_to_dec', '1a', '26'],
    ['hex_to_dec', '1A', '0000000026'],
    ['hex_to_dec', 'ffffffffffffffff', '18446744073709551615'],
    ['dec_to_hex', '26', '1a'],
    ['dec_to_hex', '0026', '1A'],
    ['dec_to_hex', '26', '0x1A'],
    ['hex_to_dec', '0X1a', '26'],
    ['hex_to_dec', 'not a number', 'not a number'],
  ] as const)('with ids %s joins %s and %s', (form, submitted, received) => {
    const state = deliver('stat:DELIVRD', {}, [[tags.receiptedMessageId, Buffer.from(`${received}\0`)]]);
    expect(readReceipt(state, form)?.carrierId).toBe(carrierIdOf(submitted, form));
  });

  it.each([
    ['1E240', 'id:0001e240 stat:DELIVRD', '1e240', null],
    ['1E240', 'id:123456 stat:DELIVRD', '1e240', '123456'],
    ['', 'id:123456 stat:DELIVRD', '123456', null],
    ['a\u0001b', 'id:123456 stat:DELIVRD', '123456', null],
  ])('with the id %j in its option and %j names both, if they differ', (option, text, carrierId, otherId) => {
    const read = readReceipt(deliver(text, {}, [[tags.receiptedMessageId, Buffer.from(option)]]), 'same');
    expect(read).toMatchObject({ carrierId, otherId, state: 'delivered' });
  });

  it.each(['', ' ', 'a\u0001b', 'x'.repeat(256)])('cannot join the id %j', (id) => {
    expect(carrierIdOf(id, 'same')).toBeNull();
  });

  it.each(['id:1\0 stat:DELIVRD', `id:${'1'.repeat(256)} stat:DELIVRD`])('names none in %j', (text) => {
    expect(readReceipt(deliver(text), 'same')).toMatchObject({ carrierId: null, state: 'delivered' });
  });

  it('is from no number where that cannot be one', () => {
    expect(readReceipt(deliver('id:1', { source_addr: '9'.repeat(256) }), 'same')?.to).toBe('');
  });
});
