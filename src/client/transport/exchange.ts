import { onAbort } from '../../contract/on-abort.js';
import type { System } from '../system.js';
import { type Answer, isSuccess } from './answer.js';
import type { FetchBody, FetchLike, FetchRequest, FetchResponse } from './fetch.js';

/** A longer answer cannot be the service's. */
const maxAnswerBytes = 10 * 1024 * 1024;

/** The end of one attempt. */
export type AttemptEnd =
  | { answer: Answer }
  | {
      answer: null;
      code: 'timeout' | 'connection_error';
      cause: unknown;
      /** The head of an answer arrived, so the request was sent, whatever the cause says. */
      headReceived: boolean;
      /** The caller aborted the call. */
      aborted: boolean;
    };

/** When to give up waiting for an answer. */
export interface Limits {
  /** Milliseconds. */
  timeout: number;
  signal: AbortSignal | null;
  /** Of the answer's body; of a longer one nothing is returned. */
  mostBytes?: number;
}

/** Without the signal, which is new for every attempt. */
export type AttemptRequest = Omit<FetchRequest, 'signal'>;

/**
 * Makes one attempt: sends the request and reads the answer, for at most `timeout` milliseconds or until `signal`
 * aborts, even if `fetch` ignores its own signal. Never rejects.
 */
export function exchange(
  fetch: FetchLike,
  url: string,
  request: AttemptRequest,
  { timeout, signal, mostBytes = maxAnswerBytes }: Limits,
  system: Pick<System, 'after'>,
): Promise<AttemptEnd> {
  const controller = new AbortController();
  let source: ByteSource | null = null;
  let headReceived = false;

  async function receive(): Promise<Answer> {
    const response = await fetch(url, { ...request, signal: controller.signal });
    headReceived = true;
    const { status, body } = response;
    source = body === null ? null : openBody(body);
    if (controller.signal.aborted) source?.cancel();
    // Read only when needed: a header of a global Response takes a fifth of the time of the whole call.
    const header = (name: string) => headerOf(response, name);
    if (source !== null && mayBeOfService(status))
      return { status, header, body: await readAll(source, mostBytes) };
    source?.cancel();
    return { status, header, body: null };
  }

  return new Promise((resolve) => {
    const end = (ended: AttemptEnd) => {
      stopTimer();
      stopListening?.();
      resolve(ended);
    };
    const fail = (code: 'timeout' | 'connection_error', cause: unknown, aborted: boolean) =>
      end({ answer: null, code, cause, headReceived, aborted });
    const cancel = (code: 'timeout' | 'connection_error', cause: DOMException) => {
      // Set before resolving, since the fetch may mark the cause with `requestSent` (FetchLike).
      controller.abort(cause);
      fail(code, cause, code === 'connection_error');
      source?.cancel();
    };
    const stopTimer = system.after(timeout, () =>
      cancel('timeout', new DOMException(`No complete answer within ${timeout} ms`, 'TimeoutError')),
    );
    // Not the signal's reason: other calls may share it, with marks from their attempts.
    const abort = () => cancel('connection_error', new DOMException('The call was aborted', 'AbortError'));
    const stopListening = signal === null ? null : onAbort(signal, abort);
    receive().then(
      (answer) => end({ answer }),
      (cause: unknown) => fail('connection_error', cause, false),
    );
  });
}

function headerOf({ headers }: FetchResponse, name: string): string | null {
  try {
    const value: unknown = headers.get(name);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** The service sends neither 204 nor redirects. */
function mayBeOfService(status: number): boolean {
  return isSuccess(status) || status >= 400;
}

interface ByteSource {
  next(): Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }>;
  /** Frees the connection. */
  cancel(): void;
}

function openBody(body: FetchBody): ByteSource {
  if ('getReader' in body) {
    const reader = body.getReader();
    return { next: () => reader.read(), cancel: () => quietly(() => reader.cancel()) };
  }
  const iterator = body[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => quietly(() => iterator.return?.()) };
}

/** Null if the answer is too long. */
async function readAll(source: ByteSource, most: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await source.next();
    if (done || value === undefined) break;
    size += value.byteLength;
    if (size > most) {
      source.cancel();
      return null;
    }
    chunks.push(value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
}

/** Errors of a discarded answer do not matter. */
async function quietly(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch {}
}
