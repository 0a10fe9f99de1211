import * as zlib from 'node:zlib';

/** CRC-32 of a block after those with the checksum `sum`. Node.js has its own from 20.15. */
export const checksum: (block: Uint8Array, sum: number) => number =
  (zlib as { crc32?: (block: Uint8Array, sum: number) => number }).crc32 ?? tableChecksum;

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value;
});

export function tableChecksum(block: Uint8Array, sum: number): number {
  let value = ~sum;
  for (const byte of block) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}
