import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type AppOptions, createApp } from '../../../src/service/http/app.js';
import { type ListenOptions, listen } from '../../../src/service/http/listen.js';
import type { Answer, Operations } from '../../../src/service/operations/operations.js';
import type { ListenAddress } from '../../../src/service/service.js';
import { fakeOperations, goodKey, sms } from './fake-operations.js';

/** The app over a real socket, closed after the test; `open` connects to it. */
export async function serve(
  overrides: Partial<Operations> = {},
  {
    app: appOptions,
    host,
    tls,
    ...options
  }: ListenOptions & { app?: AppOptions } & Pick<ListenAddress, 'host' | 'tls'> = {},
) {
  const { operations, calls } = fakeOperations(overrides);
  const reports: unknown[] = [];
  const app = createApp(operations, { report: (error) => reports.push(error), ...appOptions });
  const address = {
    port: 0,
    ...(host === undefined ? {} : { host }),
    ...(tls === undefined ? {} : { tls }),
  };
  const listening = await listen(app.answer, address, {
    closeTimeout: 2_000,
    report: (error) => reports.push(error),
    ...options,
  });
  onTestFinished(() => listening.close());
  return { listening, calls, reports, open: () => new Client(Number(new URL(listening.url).port)) };
}

/** A raw connection: says exactly what it is told, and collects what comes back. */
export class Client {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<string>;
  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => {
      this.received += chunk.toString('utf8');
    });
    this.socket.on('end', () => this.socket.end());
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve(this.received)));
  }
  say(text: string): this {
    this.socket.write(text);
    return this;
  }
  async hears(what: string | RegExp): Promise<string> {
    while (this.received.search(what) === -1) await once(this.socket, 'data');
    return this.received;
  }
  statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  }
}

export const body = JSON.stringify({ to: '99112233', text: 'Сайн уу' });
export const bytes = Buffer.byteLength(body);
export function head(...lines: string[]): string {
  const all = ['Host: a', `Authorization: Bearer ${goodKey}`, 'Content-Type: application/json', ...lines];
  return `POST /v1/sms HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}
export const wholeSend = (key = 'k') => head(`Content-Length: ${bytes}`, `Idempotency-Key: ${key}`) + body;
export const read = (path = '/v1/balance') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\n\r\n`;
export const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
export const sends = (calls: unknown[][]) => calls.filter(([name]) => name === 'sendSms').length;

/** A send that waits until the test lets it go. */
export function heldSend() {
  const gate = new EventEmitter();
  const released = once(gate, 'release');
  const started = once(gate, 'start');
  let finished = 0;
  const sendSms = async (): Promise<Answer> => {
    gate.emit('start');
    await released;
    finished += 1;
    return { status: 200, body: sms, replayed: false };
  };
  return { sendSms, started, release: () => gate.emit('release'), finished: () => finished };
}
