import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxBatchRecipients, maxRequestBytes } from '../../../contract/index.js';
import type { BlockFile } from './buffered-file.js';
import type { PriceOf } from './cost.js';
import type { Repeats } from './duplicates.js';
import type { Layout, PlannedRequest } from './layout.js';
import type { Messages } from './message-store.js';
import { noRequest, requestBytes } from './plan-format.js';
import type { Recipients } from './recipient-store.js';
import { type RowSpool, rejectedRow, rowFields, rowNotChosen } from './row-store.js';

/** Recipients that are held at once while requests are put together: 8 bytes each. */
const defaultWindow = 1_000_000;
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
  layout.restart();
  const repeated = repeats.walk();
  spool.scan((rows, first) => {
    const count = rows.length / rowFields;
    const places = new Uint32Array(count * 2);
    for (let index = 0; index < count; index += 1) {
      const recipient = rows[index * rowFields + 1] ?? 0;
      const message = rows[index * rowFields + 2] ?? 0;
      const put = (request: number, within: number) => {
        places[index * 2] = request;
        places[index * 2 + 1] = within;
      };
      if (message === rejectedRow) {
        put(noRequest.rejected, 0);
      } else if (message === rowNotChosen) {
        put(noRequest.notChosen, 0);
      } else {
        const met = repeated?.meet(first + index, recipient, message) ?? null;
        if (met === null) {
          layout.next(message);
          repeated?.placed(first + index, layout.request, layout.index);
          put(layout.request, layout.index);
        } else if ('request' in met) put(met.request, met.index);
        else put(noRequest.conflict, met.conflictWith);
      }
    }
    file.append(new Uint8Array(places.buffer));
  });
  repeats.finish();
}

export interface WriteOptions {
  windowRecipients?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface RequestFiles {
  bodies: BlockFile;
  requests: BlockFile;
  lines: BlockFile;
}

/** Recipients and their lines in the order of the requests, from the place `first` on. */
interface Window {
  first: number;
  recipients: Uint32Array;
  lines: Uint32Array;
}

/**
 * Writes the requests. The rows are in the order of the file and the requests in that of the messages, so as
 * many requests as the window holds are filled in one pass over the rows.
 */
export async function writeRequests(
  parts: PlanParts,
  files: RequestFiles,
  { windowRecipients = defaultWindow, signal }: WriteOptions,
): Promise<void> {
  const size = Math.min(Math.max(windowRecipients, maxBatchRecipients), parts.layout.recipients);
  const window: Window = { first: 0, recipients: new Uint32Array(size), lines: new Uint32Array(size) };
  const encode = requestEncoder(parts, files);
  const ahead = parts.layout.inOrder();
  const requests = parts.layout.inOrder();
  let written = 0;
  for (let next = ahead.next(); next.done !== true; ) {
    let held = 0;
    let count = 0;
    for (; next.done !== true && held + next.value.recipients <= size; next = ahead.next()) {
      held += next.value.recipients;
      count += 1;
    }
    fill(parts, window, held);
    for (; count > 0; count -= 1) {
      const request = requests.next().value;
      if (request === undefined) throw new Error('the layout has changed');
      written += encode(request, window);
      if (written > turnBytes) {
        written = 0;
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
    window.first += held;
  }
}

function fill({ spool, repeats, layout }: PlanParts, window: Window, held: number): void {
  layout.restart();
  const { first: begin, recipients, lines } = window;
  const end = begin + held;
  spool.scan((rows, first) => {
    for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
      const message = rows[at + 2] ?? 0;
      if (message === rejectedRow || message === rowNotChosen) continue;
      const recipient = rows[at + 1] ?? 0;
      if (repeats.isLeftOut(row)) continue;
      layout.next(message);
      if (layout.position < begin || layout.position >= end) continue;
      recipients[layout.position - begin] = recipient;
      lines[layout.position - begin] = rows[at] ?? 0;
    }
  });
}

/** Puts one request into the files; returns the bytes of its body. */
function requestEncoder(
  { messages, recipients, priceOf }: PlanParts,
  { bodies, requests, lines }: RequestFiles,
) {
  const body = Buffer.allocUnsafeSlow(maxRequestBytes);
  const record = Buffer.alloc(requestBytes);
  return (request: PlannedRequest, window: Window): number => {
    const from = request.first - window.first;
    let at = body.write(request.batch ? '{"to":[' : '{"to":', 0);
    for (let index = 0; index < request.recipients; index += 1) {
      if (index > 0) body[at++] = 0x2c;
      at = recipients.write(window.recipients[from + index] ?? 0, body, at);
    }
    at += body.write(request.batch ? '],' : ',', at);
    const tail = messages.tail(request.message);
    if (at + tail.length > maxRequestBytes) throw new RangeError('a request body is over its limit');
    at += tail.copy(body, at);
    record.writeDoubleLE(bodies.size, 0);
    record.writeDoubleLE(priceOf(request.message) * request.recipients, 8);
    record.writeUInt32LE(request.first, 16);
    record.writeUInt32LE(request.batch ? 1 : 0, 20);
    requests.append(record);
    lines.append(new Uint8Array(window.lines.buffer, from * 4, request.recipients * 4));
    bodies.append(body.subarray(0, at));
    return at;
  };
}
