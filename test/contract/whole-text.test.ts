import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wholeTextDecoder } from '../../src/contract/index.js';
import { allHighBytes, highBytes } from '../support/high-bytes.js';

it.each(Object.entries(highBytes))(
  'a decoder of %s knows every byte, time and again',
  (encoding, letters) => {
    for (const fatal of [true, false]) {
      const decoder = wholeTextDecoder(encoding, { fatal });
      for (const _ of [1, 2]) expect(decoder.decode(allHighBytes)).toBe(letters);
    }
  },
);

it('a fatal decoder refuses a text that ends within a character, and decodes the next one', () => {
  const decoder = wholeTextDecoder('utf-8', { fatal: true });
  expect(() => decoder.decode(Buffer.from('ө').subarray(0, 1))).toThrow(TypeError);
  expect(decoder.decode(Buffer.from('ө'))).toBe('ө');
  expect(() => wholeTextDecoder('x-nobody-knows')).toThrow(RangeError);
});

it('a decoder of UTF-8 reads any bytes as in pieces', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.boolean(), (bytes, hasMark) => {
      const whole = hasMark ? Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes) : bytes;
      const pieces = new TextDecoder();
      const read = [...whole].map((byte) => pieces.decode(Uint8Array.of(byte), { stream: true }));
      expect(wholeTextDecoder('utf-8').decode(whole)).toBe(read.join('') + pieces.decode());
    }),
  );
});
