import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors/service-error.js';

/** Occurrences of a header; Node.js joins or drops repeated ones. */
export function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((word, index) => index % 2 === 0 && word.toLowerCase() === name).length;
}

/** The problem with the head of a request; null if it is valid. */
export function headProblem(incoming: IncomingMessage, maxHeaders: number): ServiceError | null {
  const { httpVersion, headers, rawHeaders } = incoming;
  if (rawHeaders.length / 2 > maxHeaders) {
    return new ServiceError('invalid_request', `The request has over ${maxHeaders} headers`, { status: 431 });
  }
  const hosts = countOf(incoming, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    return new ServiceError('invalid_request', 'Host: must appear exactly once');
  }
  // Others, or two at once, are read in different ways: a proxy may see another end of the body.
  const coding = headers['transfer-encoding'];
  const isPlain = coding?.toLowerCase() === 'chunked' && countOf(incoming, 'transfer-encoding') === 1;
  if (coding !== undefined && (!isPlain || httpVersion === '1.0'))
    return new ServiceError('invalid_request', 'Transfer-Encoding: must be chunked, once, in HTTP/1.1');
  const { expect } = headers;
  if (expect !== undefined && httpVersion !== '1.0' && expect.toLowerCase() !== '100-continue') {
    return new ServiceError('invalid_request', 'Expect: must be 100-continue', { status: 417 });
  }
  return null;
}

/** The path as sent, byte for byte: a different spelling of a route does not match. */
export function pathOf(target: string): string {
  const [, path = '/'] = /^(?:[^/?#]*:\/\/[^/?#]*)?(\/[^?#]*)/.exec(target) ?? [];
  return path;
}
