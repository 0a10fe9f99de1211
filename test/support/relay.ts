import { createServer, type Server, type Socket } from 'node:net';

/** Moments at which a relay answers. */
export type Step =
  | 'greeting'
  | 'EHLO'
  | 'HELO'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'body'
  | 'RSET'
  | 'QUIT';

/** A reply without its line end; `cut` before it, or `silent` from then on. */
export type Reaction = string | 'cut' | 'silent';

export interface RelayOptions {
  isPipelining?: boolean;
  extensions?: string[];
  /** Null for the usual reply. `count` counts the step, from 0; `to` and `from` are those of the mail, once known. */
  react?(step: Step, count: number, to: string, from: string): Reaction | null;
  /** Milliseconds before the reply. */
  delayMs?(step: Step): number;
  /** Writes each byte of its replies on its own. */
  inBytes?: boolean;
  /** Called before each reply. */
  onStep?(step: Step): void;
  /** Cuts the connection before this reply of all, from 1. */
  cutAtReply?: number;
  /** Cuts the connection once so many bytes of a mail after DATA came, of the mail with this index. */
  cutAtByte?: { mail: number; byte: number };
  /** Takes what came before that cut for a mail, which no relay may. */
  keepsHalves?: boolean;
}

export interface TakenMail {
  from: string;
  to: string;
  raw: string;
}

const usual: Record<Step, string> = {
  greeting: '220 relay.test ESMTP',
  EHLO: '250 relay.test',
  HELO: '250 relay.test',
  AUTH: '235 2.7.0 Accepted',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 End data with <CR><LF>.<CR><LF>',
  body: '250 2.0.0 Ok: queued',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 2.0.0 Bye',
};

/** A mail relay on loopback whose every reply can fail. */
export class Relay {
  readonly options: RelayOptions;
  /** Mails with their final dot that were not refused, whether or not the answer got through. */
  readonly taken: TakenMail[] = [];
  /** Commands, in order. */
  readonly heard: string[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;
  replies = 0;
  bodies = 0;
  readonly #counts = new Map<Step, number>();
  readonly #server: Server;

  constructor(options: RelayOptions = {}) {
    this.options = options;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  listen(port = 0): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        resolve((this.#server.address() as { port: number }).port);
      });
    });
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    // No reply waits for a delayed acknowledgement: tests move their own clock.
    socket.setNoDelay(true);
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    let pending = Buffer.alloc(0);
    let body: Buffer | null = null;
    let transaction = { from: '', to: '' };
    let isSilent = false;
    /** Its sender was accepted. */
    let isOpen = false;
    let writing = Promise.resolve();

    const answer = (step: Step): string | null => {
      if (isSilent || socket.destroyed) return null;
      this.replies += 1;
      const count = this.#counts.get(step) ?? 0;
      this.#counts.set(step, count + 1);
      this.options.onStep?.(step);
      const { to, from } = transaction;
      const reaction = this.options.react?.(step, count, to, from) ?? null;
      const isTaken = step === 'body' && (reaction === null || !/^[45]/.test(reaction));
      if (isTaken) this.taken.push({ ...transaction, raw: (body ?? Buffer.alloc(0)).toString() });
      if (reaction === 'cut' || this.replies === this.options.cutAtReply) {
        socket.resetAndDestroy();
        return null;
      }
      if (reaction === 'silent') {
        isSilent = true;
        return null;
      }
      const reply = reaction ?? usual[step];
      const extensions = [
        ...(this.options.isPipelining === true ? ['PIPELINING'] : []),
        ...(this.options.extensions ?? []),
      ];
      const isGreeted = step === 'EHLO' && reaction === null;
      const lines = isGreeted ? ['relay.test', ...extensions] : [];
      const text = isGreeted
        ? lines.map((line, index) => `250${index === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
        : reply;
      const delay = this.options.delayMs?.(step) ?? 0;
      if (this.options.inBytes === true) writing = writing.then(() => writeBytes(socket, `${text}\r\n`));
      else if (delay === 0) socket.write(`${text}\r\n`);
      else setTimeout(() => socket.write(`${text}\r\n`), delay);
      return text;
    };

    const command = (line: string): void => {
      this.heard.push(line);
      const verb = line.slice(0, 4).toUpperCase();
      const [, address = ''] = /<(.*)>/.exec(line) ?? [];
      if (verb === 'MAIL') transaction = { from: address, to: '' };
      if (verb === 'RCPT' && !isOpen) {
        socket.write('503 5.5.1 No sender\r\n');
        return;
      }
      if (verb === 'RCPT') transaction.to = address;
      if (!(verb in usual)) {
        socket.write('500 5.5.1 Unknown\r\n');
        return;
      }
      if (verb === 'DATA' && transaction.to === '') {
        socket.write('503 5.5.1 No valid recipients\r\n');
        return;
      }
      const reply = answer(verb as Step);
      if (verb === 'RCPT' && !reply?.startsWith('250')) transaction.to = '';
      if (verb === 'MAIL') isOpen = reply?.startsWith('250') === true;
      if (verb === 'DATA' && reply?.startsWith('354')) body = Buffer.alloc(0);
      if (verb === 'QUIT') {
        this.sockets.delete(socket);
        socket.end();
      }
      if (reply?.startsWith('421')) socket.end();
    };

    answer('greeting');
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (!socket.destroyed) {
        if (body !== null) {
          const { cutAtByte } = this.options;
          if (cutAtByte?.mail === this.bodies && pending.length >= cutAtByte.byte) {
            const isWhole = pending.subarray(0, cutAtByte.byte).includes('\r\n.\r\n');
            if (!isWhole) {
              this.bodies += 1;
              if (this.options.keepsHalves === true) this.taken.push({ ...transaction, raw: `${pending}` });
              socket.resetAndDestroy();
              return;
            }
          }
          const end = pending.indexOf('\r\n.\r\n');
          if (end < 0) return;
          body = pending.subarray(0, end + 2);
          pending = pending.subarray(end + 5);
          this.bodies += 1;
          const reply = answer('body');
          body = null;
          if (reply?.startsWith('421')) socket.end();
          continue;
        }
        const end = pending.indexOf('\r\n');
        if (end < 0) return;
        const line = pending.subarray(0, end).toString();
        pending = pending.subarray(end + 2);
        command(line);
      }
    });
  }
}

async function writeBytes(socket: Socket, text: string): Promise<void> {
  for (const byte of text) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
}
