import type { Socket } from 'node:net';

export interface Fault {
  name: string;
  /** What the service gets of the request: `twice` is a proxy that repeats it, each time on its own connection. */
  passes: 'nothing' | 'half' | 'all' | 'twice';
  /** What the client gets when the answer comes, or at once where nothing was passed on. */
  answer(client: Socket, answer: Buffer): void;
}

const html = '<html><body><h1>Bad Gateway</h1></body></html>';

function page(status: string, type = 'text/html', body = html): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
const redirect = (status: string) =>
  `HTTP/1.1 ${status}\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;

/** Longer than the clients of the harness wait. */
const tooLate = 1_000;

const endings: readonly Omit<Fault, 'passes'>[] = [
  { name: 'drop', answer: (client) => client.destroy() },
  { name: 'reset', answer: (client) => client.resetAndDestroy() },
  { name: 'hang', answer: () => {} },
  { name: 'a page with 502', answer: (client) => client.end(page('502 Bad Gateway')) },
  { name: 'a page with 503', answer: (client) => client.end(page('503 Service Unavailable')) },
  { name: 'a page with 200', answer: (client) => client.end(page('200 OK')) },
  {
    name: 'JSON of somebody else with 500',
    answer: (client) => client.end(page('500 Oops', 'application/json', '{"error":"oops"}')),
  },
  { name: 'a list with 200', answer: (client) => client.end(page('200 OK', 'application/json', '[]')) },
  { name: '204', answer: (client) => client.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n') },
  { name: '302', answer: (client) => client.end(redirect('302 Found')) },
  { name: '307', answer: (client) => client.end(redirect('307 Temporary Redirect')) },
  { name: 'garbage', answer: (client) => client.end('\u0000\u0001 no http at all\r\n\r\n') },
];

const answerFaults: readonly Fault[] = [
  {
    name: 'cut',
    passes: 'all',
    answer: (client, answer) => client.end(answer.subarray(0, Math.floor(answer.length / 2))),
  },
  {
    name: 'truncate by one byte',
    passes: 'all',
    answer: (client, answer) => client.end(answer.subarray(0, answer.length - 1)),
  },
  {
    name: 'reset in the middle',
    passes: 'all',
    answer: (client, answer) =>
      client.write(answer.subarray(0, answer.length - 2), () => client.resetAndDestroy()),
  },
  {
    name: 'garbage behind the answer',
    passes: 'all',
    answer: (client, answer) => client.end(Buffer.concat([answer, Buffer.from('HTTP/1.1 200 OK\r\nX')])),
  },
  {
    name: 'too late',
    passes: 'all',
    answer: (client, answer) => void setTimeout(() => client.end(answer), tooLate),
  },
  { name: 'drip', passes: 'all', answer: (client, answer) => void drip(client, answer) },
  { name: 'half of the request', passes: 'half', answer: (client) => client.destroy() },
  { name: 'the request twice', passes: 'twice', answer: (client, answer) => client.end(answer) },
  { name: 'the request twice, no answer', passes: 'twice', answer: (client) => client.destroy() },
];

async function drip(client: Socket, answer: Buffer): Promise<void> {
  const piece = Math.ceil(answer.length / 40);
  for (let at = 0; at < answer.length && !client.destroyed; at += piece) {
    client.write(answer.subarray(at, at + piece));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  client.end();
}

/** What can happen to a request: before the service sees it, or after it has done what it asks. */
export const faults: readonly Fault[] = [
  ...endings.map((ending): Fault => ({ ...ending, name: `${ending.name}, before`, passes: 'nothing' })),
  ...endings.map((ending): Fault => ({ ...ending, name: `${ending.name}, after`, passes: 'all' })),
  ...answerFaults,
];

/** Faults that make two requests out of one, which is harmless only for those that carry a key. */
export const needsKey = ({ passes }: Fault): boolean => passes === 'twice';
