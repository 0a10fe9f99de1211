import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../service-error.js';

/** How often a header stands in a request; Node.js joins or drops what stands twice. */
export function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((word, index) => index % 2 === 0 && word.toLowerCase() === name).length;
}

/** What is wrong with the head of a request, whatever it asks for; null when nothing is. */
export function headProblem(incoming: IncomingMessage, mostHeaders: number): ServiceError | null {
  const { httpVersion, headers, rawHeaders } = incoming;
  if (rawHeaders.length / 2 > mostHeaders) {
    return new ServiceError('invalid_request', `there are over ${mostHeaders} headers`, { status: 431 });
  }
  const hosts = countOf(incoming, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    return new ServiceError('invalid_request', 'Host: must stand once in a request');
  }
  const { expect } = headers;
  if (expect !== undefined && httpVersion !== '1.0' && expect.toLowerCase() !== '100-continue') {
    return new ServiceError('invalid_request', 'Expect: only 100-continue is known', { status: 417 });
  }
  return null;
}
