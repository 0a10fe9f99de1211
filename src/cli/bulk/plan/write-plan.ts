import { setImmediate } from 'node:timers/promises';
import { maxBatchRecipients, maxRequestBytes } from '../../../contract/index.js';
import type { PriceOf } from './cost.js';
import type { Duplicates } from './duplicates.js';
import type { PlanFolder } from './files/plan-folder.js';
import { noRequest, requestBytes } from './files/plan-format.js';
import {
  blockRows,
  excludedRow,
  noMessage,
  type RowStore,
  rowFields,
  skippedRow,
} from './files/row-store.js';
import type { Layout, RequestLayout } from './layout.js';
import type { MessageStore } from './message-store.js';
import type { PairSet } from './pair-set.js';
import type { RecipientStore } from './recipient-store.js';
import type { RowPlanner } from './row-planner.js';

/** Recipients in memory at once, 8 bytes each. */
const defaultWindow = 1_000_000;
/** Bytes of bodies written before the event loop runs. */
const bytesAtOnce = 4_000_000;

/** A plan in memory, before it is written. */
export interface PlanDraft {
  rows: RowStore;
  duplicates: Duplicates;
  messages: MessageStore;
  recipients: RecipientStore;
  layout: Layout;
  priceOf: PriceOf;
}

export interface WriteOptions {
  windowRecipients?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Recipients and their lines in request order, from position `first` to `end`. */
interface Window {
  first: number;
  end: number;
  recipients: Uint32Array;
  lines: Uint32Array;
}

/**
 * Writes the requests. Rows are in file order, requests in message order: each pass over the rows fills a window, which
 * begins with a request.
 */
export async function writeRequests(
  draft: PlanDraft,
  files: PlanFolder,
  { windowRecipients = defaultWindow, signal }: WriteOptions,
): Promise<void> {
  const size = Math.min(Math.max(windowRecipients, maxBatchRecipients), draft.layout.recipients);
  const window = { first: 0, end: 0, recipients: new Uint32Array(size), lines: new Uint32Array(size) };
  const encode = requestEncoder(draft, files);
  let written = 0;
  for (const request of draft.layout.requestsInOrder()) {
    if (request.first + request.recipients > window.end) fill(draft, window, request.first);
    written += encode(request, window);
    if (written > bytesAtOnce) {
      written = 0;
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
}

function fill({ rows: rowStore, duplicates, layout }: PlanDraft, window: Window, begin: number): void {
  layout.restart();
  const { recipients, lines } = window;
  const end = begin + recipients.length;
  window.first = begin;
  window.end = end;
  rowStore.scan((rows, first) => {
    for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
      const message = rows[at + 2] ?? 0;
      if (message >= noMessage || duplicates.isUnsent(row)) continue;
      layout.next(message);
      if (layout.position < begin || layout.position >= end) continue;
      recipients[layout.position - begin] = rows[at + 1] ?? 0;
      lines[layout.position - begin] = rows[at] ?? 0;
    }
  });
}

/** Encodes one request into the files, and returns the size of its body. */
function requestEncoder({ messages, recipients, priceOf }: PlanDraft, files: PlanFolder) {
  const bodies = files.dataFile('bodies');
  const requests = files.dataFile('chunks');
  const lines = files.dataFile('lines');
  const body = Buffer.allocUnsafeSlow(maxRequestBytes);
  const record = Buffer.alloc(requestBytes);
  return (request: RequestLayout, window: Window): number => {
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

const placeOfUnsent = (message: number): number =>
  message === skippedRow
    ? noRequest.skipped
    : message === excludedRow
      ? noRequest.excluded
      : noRequest.rejected;

/** Writes the place of every row of the input; see `places` in plan-format. */
export function writePlaces({ rows: rowStore, duplicates, layout }: PlanDraft, files: PlanFolder): void {
  layout.restart();
  const file = files.dataFile('places');
  const places = new Uint32Array(blockRows * 2);
  rowStore.scan((rows, first) => {
    let end = 0;
    const put = (request: number, index: number) => {
      places[end] = request;
      places[end + 1] = index;
      end += 2;
    };
    for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
      const message = rows[at + 2] ?? 0;
      if (message >= noMessage) put(placeOfUnsent(message), 0);
      else if (duplicates.isUnsent(row)) put(...duplicates.placeOf(rows[at + 1] ?? 0, message));
      else {
        layout.next(message);
        duplicates.place(row, layout.request, layout.index);
        put(layout.request, layout.index);
      }
    }
    file.append(new Uint8Array(places.buffer, 0, end * 4));
  });
  duplicates.finish();
}

/** Leaves all out but the first recipients, once all rows have been checked; returns how many. */
export function takeFirst(
  most: number,
  planner: RowPlanner,
  duplicates: Duplicates,
  sentBefore: { pairs: Pick<PairSet, 'leaveOut'> } | null | undefined,
): number {
  const later = duplicates.limit(most, planner.rows, planner.messages.counts);
  planner.leaveOut((row, pair) => {
    const isLater = later.rows.has(row);
    if (isLater) sentBefore?.pairs.leaveOut(pair);
    return isLater;
  });
  return later.recipients;
}
