import type { IncomingMessage } from 'node:http';
import { maxRequestBytes } from '../../../contract/index.js';
import { ServiceError } from '../../service-error.js';
import type { HttpContext } from '../context.js';

/**
 * The bytes of a request's body, counted as they come: the length a request claims can only refuse it.
 * Throws `request_too_large`, or `invalid_request` when the body breaks off.
 */
export async function readBody(context: HttpContext): Promise<Uint8Array> {
  const claimed = context.req.header('content-length');
  if (claimed !== undefined && Number(claimed) > maxRequestBytes) throw tooLarge();
  const { plain } = context.env;
  return plain === undefined ? readStream(context.req.raw.body) : plain.readBody();
}

async function readStream(stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const reader = stream?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await reader?.read().catch(() => {
      throw brokenOff();
    });
    if (chunk?.value === undefined) return Buffer.concat(chunks);
    size += chunk.value.byteLength;
    if (size > maxRequestBytes) {
      reader?.cancel().catch(() => {});
      throw tooLarge();
    }
    chunks.push(chunk.value);
  }
}

/** The bytes of a text, when there are not too many. */
export async function readText(text: string): Promise<Uint8Array> {
  const bytes = Buffer.from(text);
  if (bytes.length > maxRequestBytes) throw tooLarge();
  return bytes;
}

/** Reads Node's stream by its events: several times cheaper than a web stream around it. */
export function readIncoming(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxRequestBytes) settle(() => reject(tooLarge()));
    };
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onBroken = () => settle(() => reject(brokenOff()));
    if (incoming.errored !== null || incoming.destroyed) reject(brokenOff());
    else incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const tooLarge = () =>
  new ServiceError('request_too_large', `the request body is over ${maxRequestBytes} bytes`);
const brokenOff = () => new ServiceError('invalid_request', 'the request body broke off');
