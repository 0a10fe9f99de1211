import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxRequestBytes } from '../../../contract/index.js';
import type { Recipients } from '../input/recipients.js';
import type { BlockFile } from './block-file.js';
import type { PriceOf } from './cost.js';
import type { Layout, PlannedChunk } from './layout.js';
import type { Messages } from './messages.js';
import { chunkBytes, noChunk, placeBytes } from './plan-files.js';
import type { Repeats } from './repeats.js';
import { type RowSpool, rejectedRow, rowNotChosen } from './row-spool.js';

/** Recipients that are held at once while chunks are put together: 8 bytes each. */
const windowRecipients = 2_000_000;
/** Bytes of bodies that are written before others get a turn. */
const turnBytes = 4_000_000;

export interface PlanParts {
  spool: RowSpool;
  repeats: Repeats;
  messages: Messages;
  recipients: Recipients;
  layout: Layout;
  priceOf: PriceOf;
}

/** Writes where every row of the input went. */
export function writePlaces({ spool, repeats, layout }: PlanParts, file: BlockFile): void {
  const place = layout.walk();
  const repeated = repeats.walk();
  const entry = new Uint32Array(placeBytes / 4);
  const bytes = new Uint8Array(entry.buffer);
  const put = (chunk: number, index: number) => {
    entry[0] = chunk;
    entry[1] = index;
    file.append(bytes);
  };
  spool.scan((row, _, recipient, message) => {
    if (message === rejectedRow) return put(noChunk.rejected, 0);
    if (message === rowNotChosen) return put(noChunk.notChosen, 0);
    const met = repeated.meet(row, recipient);
    if (met !== null) {
      return 'chunk' in met ? put(met.chunk, met.index) : put(noChunk.conflict, met.conflictWith);
    }
    const { chunk, index } = place(message);
    repeated.placed(row, chunk, index);
    put(chunk, index);
  });
}

export interface ChunkFiles {
  bodies: BlockFile;
  chunks: BlockFile;
  lines: BlockFile;
}

/**
 * Writes the chunks. The rows are in the order of the file and the chunks in that of the messages, so as
 * many chunks as the window holds are filled in one pass over the rows.
 */
export async function writeChunks(parts: PlanParts, files: ChunkFiles, signal?: AbortSignal): Promise<void> {
  const size = Math.min(windowRecipients, parts.layout.recipients);
  const window = { first: 0, recipients: new Uint32Array(size), lines: new Uint32Array(size) };
  const encode = chunkEncoder(parts, files);
  let waiting: PlannedChunk[] = [];
  let held = 0;
  const flush = async () => {
    fill(parts, window, held);
    let written = 0;
    for (const chunk of waiting) {
      const from = chunk.first - window.first;
      const to = from + chunk.recipients;
      written += encode(chunk, window.recipients.subarray(from, to), window.lines.subarray(from, to));
      if (written > turnBytes) {
        written = 0;
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
    window.first += held;
    waiting = [];
    held = 0;
  };
  for (const chunk of parts.layout.inOrder()) {
    if (held + chunk.recipients > size) await flush();
    waiting.push(chunk);
    held += chunk.recipients;
  }
  await flush();
}

function fill(
  { spool, repeats, layout }: PlanParts,
  window: { first: number; recipients: Uint32Array; lines: Uint32Array },
  held: number,
): void {
  const place = layout.walk();
  const repeated = repeats.walk();
  const end = window.first + held;
  spool.scan((row, line, recipient, message) => {
    if (message === rejectedRow || message === rowNotChosen) return;
    if (repeated.meet(row, recipient) !== null) return;
    const { chunk, index, position } = place(message);
    repeated.placed(row, chunk, index);
    if (position < window.first || position >= end) return;
    window.recipients[position - window.first] = recipient;
    window.lines[position - window.first] = line;
  });
}

/** Puts one chunk into the files; returns the bytes of its body. */
function chunkEncoder({ messages, recipients, priceOf }: PlanParts, { bodies, chunks, lines }: ChunkFiles) {
  const body = Buffer.allocUnsafeSlow(maxRequestBytes);
  const record = Buffer.alloc(chunkBytes);
  return (chunk: PlannedChunk, references: Uint32Array, rowLines: Uint32Array): number => {
    let at = body.write(chunk.batch ? '{"to":[' : '{"to":', 0);
    for (let index = 0; index < references.length; index += 1) {
      if (index > 0) body[at++] = 0x2c;
      at = recipients.write(references[index] ?? 0, body, at);
    }
    at += body.write(chunk.batch ? '],' : ',', at);
    const tail = messages.tail(chunk.message);
    if (at + tail.length > maxRequestBytes) throw new RangeError('a request body is over its limit');
    at += tail.copy(body, at);
    record.writeDoubleLE(bodies.size, 0);
    record.writeDoubleLE(priceOf(chunk.message) * chunk.recipients, 8);
    record.writeUInt32LE(chunk.first, 16);
    record.writeUInt32LE(chunk.batch ? 1 : 0, 20);
    chunks.append(record);
    lines.append(new Uint8Array(rowLines.buffer, rowLines.byteOffset, rowLines.byteLength));
    bodies.append(body.subarray(0, at));
    return at;
  };
}
