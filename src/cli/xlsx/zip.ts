import { pipeline, Readable } from 'node:stream';
import { createDeflateRaw } from 'node:zlib';
import { checksum } from './checksum.js';

export interface ZipPart {
  name: string;
  content: AsyncIterable<string>;
}

/** A part's entry in the directory. */
interface Entry {
  name: Buffer;
  sum: number;
  packed: number;
  size: number;
  offset: number;
}

/** Larger numbers, and this one, are stored in a field of 8 bytes. */
const largestNarrow = 0xffff_ffff;
/** Sizes follow a part, and names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
/** 1 January 1980, like Excel: the same rows make the same bytes. */
const date = 0x21;
const version = 20;
const wideVersion = 45;

/**
 * A zip archive, written as its parts arrive, with the memory of one block. A part may have up to 4 GB. `most` is the
 * largest offset in 4 bytes.
 */
export async function* zipOf(
  parts: AsyncIterable<ZipPart>,
  { most = largestNarrow - 1 }: { most?: number } = {},
): AsyncGenerator<Buffer, void> {
  const entries: Entry[] = [];
  let offset = 0;
  for await (const { name, content } of parts) {
    const entry = { name: Buffer.from(name), sum: 0, packed: 0, size: 0, offset };
    const head = record('PK\x03\x04', [2, version], [2, flags], [2, deflated], [2, 0], [2, date]);
    yield Buffer.concat([
      head,
      record('', [4, 0], [4, 0], [4, 0], [2, entry.name.length], [2, 0]),
      entry.name,
    ]);
    const deflate = createDeflateRaw({ level: 3 });
    // Its error is also an error of the deflate, which is read below.
    pipeline(Readable.from(measured(content, entry)), deflate, () => {});
    for await (const block of deflate as AsyncIterable<Buffer>) {
      entry.packed += block.length;
      yield block;
    }
    yield record('PK\x07\x08', [4, entry.sum], [4, entry.packed], [4, entry.size]);
    offset += head.length + 16 + entry.name.length + entry.packed + 16;
    entries.push(entry);
  }
  const directory = Buffer.concat(entries.map((entry) => directoryEntry(entry, most)));
  yield directory;
  yield ending(entries.length, directory.length, offset, most);
}

async function* measured(content: AsyncIterable<string>, entry: Entry): AsyncGenerator<Buffer, void> {
  for await (const text of content) {
    const block = Buffer.from(text);
    entry.sum = checksum(block, entry.sum);
    entry.size += block.length;
    yield block;
  }
}

function directoryEntry({ name, sum, packed, size, offset }: Entry, most: number): Buffer {
  const isWide = offset > most;
  const extra = isWide ? record('', [2, 1], [2, 8], [8, offset]) : Buffer.alloc(0);
  const needed = isWide ? wideVersion : version;
  return Buffer.concat([
    record('PK\x01\x02', [2, needed], [2, needed], [2, flags], [2, deflated], [2, 0], [2, date]),
    record('', [4, sum], [4, packed], [4, size], [2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0]),
    record('', [4, 0], [4, isWide ? largestNarrow : offset]),
    name,
    extra,
  ]);
}

function ending(count: number, size: number, offset: number, most: number): Buffer {
  const isWide = offset > most;
  const wide = isWide
    ? [
        record('PK\x06\x06', [8, 44], [2, wideVersion], [2, wideVersion], [4, 0], [4, 0]),
        record('', [8, count], [8, count], [8, size], [8, offset]),
        record('PK\x06\x07', [4, 0], [8, offset + size], [4, 1]),
      ]
    : [];
  const counts = record('PK\x05\x06', [2, 0], [2, 0], [2, count], [2, count], [4, size]);
  return Buffer.concat([...wide, counts, record('', [4, isWide ? largestNarrow : offset], [2, 0])]);
}

function record(mark: string, ...fields: readonly [bytes: 2 | 4 | 8, value: number][]): Buffer {
  const bytes = Buffer.alloc(mark.length + fields.reduce((sum, [width]) => sum + width, 0));
  let at = bytes.write(mark, 'latin1');
  for (const [width, value] of fields) {
    if (width === 8) at = bytes.writeBigUInt64LE(BigInt(value), at);
    else at = bytes.writeUIntLE(value, at, width);
  }
  return bytes;
}
