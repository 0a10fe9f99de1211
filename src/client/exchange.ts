import type { Answer } from './answer.js';
import type { FetchBody, FetchLike, FetchRequest } from './options.js';
import type { System } from './system.js';

/** Bytes of an answer that are read; a longer one did not come from the service. */
const maxAnswerBytes = 10 * 1024 * 1024;

/** How one attempt ended: with an answer, or without one and why. */
export type Exchange =
  | { answer: Answer }
  | { answer: null; code: 'timeout' | 'connection_error'; cause: unknown };

/**
 * One attempt: request sent, answer read, in `timeout` milliseconds all together, even where `fetch` does not
 * heed its signal. Never rejects.
 */
export function exchange(
  fetch: FetchLike,
  url: string,
  request: Omit<FetchRequest, 'signal'>,
  timeout: number,
  system: System,
): Promise<Exchange> {
  const controller = new AbortController();
  let source: ByteSource | null = null;

  async function receive(): Promise<Answer> {
    const response = await fetch(url, { ...request, signal: controller.signal });
    const { status, body } = response;
    source = body === null ? null : openBody(body);
    if (controller.signal.aborted) source?.cancel();
    const success = status >= 200 && status < 300;
    const retryAfter = success ? null : response.headers.get('retry-after');
    if (source === null) return { status, retryAfter, body: null };
    if (status < 200 || status === 204 || (status >= 300 && status < 400)) {
      source.cancel();
      return { status, retryAfter, body: null };
    }
    return { status, retryAfter, body: await readAll(source) };
  }

  return new Promise((resolve) => {
    const stopTimer = system.after(timeout, () => {
      const cause = new DOMException(`No complete answer within ${timeout} ms`, 'TimeoutError');
      resolve({ answer: null, code: 'timeout', cause });
      controller.abort(cause);
      source?.cancel();
    });
    receive().then(
      (answer) => {
        stopTimer();
        resolve({ answer });
      },
      (cause: unknown) => {
        stopTimer();
        resolve({ answer: null, code: 'connection_error', cause });
      },
    );
  });
}

interface ByteSource {
  next(): Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }>;
  /** Frees the connection; what fails in doing so is nobody's business. */
  cancel(): void;
}

function openBody(body: FetchBody): ByteSource {
  if ('getReader' in body) {
    const reader = body.getReader();
    return { next: () => reader.read(), cancel: () => void reader.cancel().catch(ignore) };
  }
  const iterator = body[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => void iterator.return?.().then(ignore, ignore) };
}

/** All bytes, or null when there are more than the client reads. */
async function readAll(source: ByteSource): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await source.next();
    if (done || value === undefined) break;
    size += value.byteLength;
    if (size > maxAnswerBytes) {
      source.cancel();
      return null;
    }
    chunks.push(value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
}

function ignore(): void {}
