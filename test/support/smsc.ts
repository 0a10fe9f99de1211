import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { decodeGsm, decodeUcs2 } from '../../src/service/carriers/smpp/codec/alphabet.js';
import {
  type Command,
  type Fields,
  isResponse,
  statuses,
  tags,
} from '../../src/service/carriers/smpp/codec/commands.js';
import { Framing, LostFraming } from '../../src/service/carriers/smpp/codec/framing.js';
import { decodePdu, encodePdu, noOptions, type Pdu } from '../../src/service/carriers/smpp/codec/pdu.js';

/** A segment that the centre took. */
export interface TakenSegment {
  id: string;
  to: string;
  text: string;
  /** The user_message_reference, as four hexadecimal digits. */
  reference: string;
  /** 1 for a message of one. */
  number: number;
  total: number;
  pdu: Pdu;
}

/**
 * The reaction to a submit_sm. `lost`: neither taken nor answered; `unanswered`: taken. `cut_before`, `cut_after`: the
 * connection ends before or after it is taken. `held`: taken, answered by `release`. A number refuses it with a status.
 */
export type Reaction =
  | 'take'
  | 'take_twice_answered'
  | 'take_without_id'
  | 'lost'
  | 'unanswered'
  | 'cut_before'
  | 'cut_after'
  | 'held'
  | 'nack'
  | number;

export interface SmscOptions {
  react?(segment: TakenSegment, index: number): Reaction;
  /** The id in a submit_sm_resp; the number counts from 1. */
  idOf?(number: number): string;
  /** Called for what was taken, before the answer goes out. */
  onTaken?(segment: TakenSegment, answer: () => void, socket: Socket): void;
  /** Called for what a status refuses, before the answer goes out. */
  onRefused?(answer: () => void): void;
  /** The connections that receive requests; all where absent. */
  receives?(socket: Socket): boolean;
  /** The status of a bind. */
  bindStatus?(): number;
  /** Listens with TLS: key and certificate. */
  tls?: { key: Buffer; cert: Buffer };
  /** Cuts the connection at the n-th point: see `#point`. */
  cutAt?: number;
  /** Called for each PDU that came in, before anything is done about it. */
  onHeard?(pdu: Pdu): void;
}

/** A short message centre on loopback, with faults. */
export class Smsc {
  readonly taken: TakenSegment[] = [];
  /** Every PDU that came in. */
  readonly heard: Pdu[] = [];
  /** Statuses of deliver_sm_resp, in their order. */
  readonly acknowledged: number[] = [];
  readonly sockets = new Set<Socket>();
  /** Those that receive. */
  readonly receivers = new Set<Socket>();
  options: SmscOptions;
  /** Segments that wait for `release`, by sequence. */
  held: (() => void)[] = [];
  points = 0;
  #server: Server | null = null;
  #submits = 0;
  #sequence = 0;
  readonly #delivering = new Map<number, { socket: Socket; end(status: number | null): void }>();

  constructor(options: SmscOptions = {}) {
    this.options = options;
  }

  async listen(port = 0): Promise<number> {
    const { tls } = this.options;
    const accept = (socket: Socket) => this.#accept(socket);
    const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return (server.address() as { port: number }).port;
  }

  /** Connections end without a word. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) =>
      this.#server === null ? resolve() : this.#server.close(() => resolve()),
    );
    this.#server = null;
  }

  release(): void {
    for (const answer of this.held.splice(0)) answer();
  }

  /** Sends a request to every connection that can receive. */
  request(command: Command, fields: Partial<Fields> = {}, options = noOptions): void {
    this.#sequence += 1;
    const pdu = { command, status: statuses.ok, sequence: this.#sequence, fields, options };
    for (const socket of this.sockets)
      if (this.options.receives?.(socket) !== false) this.#write(socket, pdu);
  }

  /** A receipt, in text as most centres write it. */
  sendReceipt(
    segment: TakenSegment,
    stat = 'DELIVRD',
    id = segment.id,
    reference: string | null = null,
    submittedAt?: string,
  ): void {
    this.request('deliver_sm', ...receiptOf(segment, stat, id, reference, submittedAt));
  }

  /** Sends a receipt over one connection that receives: the answer's status, null where none came. */
  deliverReceipt(segment: TakenSegment, stat: string, id: string): Promise<number | null> {
    const receivers = [...this.receivers];
    const socket = receivers[this.#sequence % receivers.length];
    if (socket === undefined) return Promise.resolve(null);
    this.#sequence += 1;
    const sequence = this.#sequence;
    const [fields, options] = receiptOf(segment, stat, id, null);
    return new Promise((end) => {
      this.#delivering.set(sequence, { socket, end });
      this.#write(socket, { command: 'deliver_sm', status: statuses.ok, sequence, fields, options });
    });
  }

  /** Bytes as they are. */
  writeRaw(bytes: Buffer): void {
    for (const socket of this.sockets) socket.write(bytes);
  }

  #accept(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    const framing = new Framing();
    let isPeer = false;
    socket.on('data', (bytes) => {
      try {
        framing.push(bytes, (pdu) => {
          isPeer = true;
          if (!socket.destroyed) this.#receive(socket, decodePdu(pdu));
        });
      } catch (error) {
        // A program beside this one still asks an HTTP server that had the port before.
        if (isPeer || !(error instanceof LostFraming)) throw error;
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.receivers.delete(socket);
      for (const [sequence, { socket: other }] of this.#delivering)
        if (other === socket) this.#delivered(sequence, null);
    });
  }

  #delivered(sequence: number, status: number | null): void {
    const { end } = this.#delivering.get(sequence) ?? {};
    this.#delivering.delete(sequence);
    end?.(status);
  }

  /** Each PDU in is two points, before and after it is taken; each one out is one, in the middle of its bytes. */
  #point(socket: Socket): boolean {
    this.points += 1;
    if (this.points !== this.options.cutAt) return false;
    socket.destroy();
    return true;
  }

  #receive(socket: Socket, pdu: Pdu): void {
    this.heard.push(pdu);
    this.options.onHeard?.(pdu);
    if (this.#point(socket)) return;
    if (pdu.command === 'deliver_sm_resp' || pdu.command === 'data_sm_resp') {
      this.acknowledged.push(pdu.status);
      this.#delivered(pdu.sequence, pdu.status);
    }
    if (isResponse(pdu.command)) return;
    if (pdu.command === 'submit_sm') {
      this.#submit(socket, pdu);
      return;
    }
    const isBind = pdu.command.startsWith('bind_');
    const status = isBind ? (this.options.bindStatus?.() ?? statuses.ok) : statuses.ok;
    if (this.#point(socket)) return;
    if (status === statuses.ok && /^bind_(?:transceiver|receiver)$/.test(pdu.command))
      this.receivers.add(socket);
    this.#respond(socket, pdu, status, isBind ? { system_id: 'smsc' } : {});
  }

  #submit(socket: Socket, pdu: Pdu): void {
    const index = this.#submits;
    this.#submits += 1;
    const number = this.taken.length + 1;
    const segment = segmentOf(pdu, this.options.idOf?.(number) ?? `${1_000 + number}`);
    const reaction = this.options.react?.(segment, index) ?? 'take';
    if (reaction === 'cut_before') socket.destroy();
    else if (reaction === 'nack') this.#nack(socket, pdu);
    else if (typeof reaction === 'number') this.#refuse(socket, pdu, reaction);
    else if (reaction !== 'lost') this.#take(socket, pdu, segment, reaction);
  }

  #take(socket: Socket, pdu: Pdu, segment: TakenSegment, reaction: Exclude<Reaction, number>): void {
    this.taken.push(segment);
    if (this.#point(socket)) return;
    const answer = () => {
      const fields = { message_id: reaction === 'take_without_id' ? '' : segment.id };
      this.#respond(socket, pdu, statuses.ok, fields);
      if (reaction === 'take_twice_answered')
        this.#respond(socket, pdu, statuses.ok, { message_id: 'other' });
    };
    if (reaction === 'cut_after') socket.destroy();
    else if (reaction === 'held') this.held.push(answer);
    else if (reaction === 'unanswered') return;
    else if (this.options.onTaken === undefined) answer();
    else this.options.onTaken(segment, answer, socket);
  }

  #refuse(socket: Socket, pdu: Pdu, status: number): void {
    const answer = () => this.#respond(socket, pdu, status, {});
    if (this.options.onRefused === undefined) answer();
    else this.options.onRefused(answer);
  }

  #nack(socket: Socket, { sequence }: Pdu): void {
    const status = statuses.invalidCommandId;
    this.#write(socket, { command: 'generic_nack', status, sequence, fields: {}, options: noOptions });
  }

  #respond(socket: Socket, { command, sequence }: Pdu, status: number, fields: Partial<Fields>): void {
    this.#write(socket, {
      command: `${command}_resp` as Command,
      status,
      sequence,
      fields,
      options: noOptions,
    });
  }

  #write(socket: Socket, pdu: Pdu): void {
    if (socket.destroyed) return;
    const bytes = encodePdu(pdu);
    this.points += 1;
    if (this.points !== this.options.cutAt) socket.write(bytes);
    else socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.destroy());
  }
}

function segmentOf(pdu: Pdu, id: string): TakenSegment {
  const { destination_addr = '', esm_class = 0, data_coding, short_message = Buffer.alloc(0) } = pdu.fields;
  const hasHeader = (esm_class & 0x40) !== 0;
  // With a reference of one or two bytes.
  const header = hasHeader ? 1 + (short_message[0] as number) : 0;
  const bytes = pdu.options.get(tags.messagePayload) ?? short_message.subarray(header);
  return {
    id,
    to: destination_addr.replace(/^976/, ''),
    text: data_coding === 8 ? decodeUcs2(bytes) : decodeGsm(bytes),
    reference: pdu.options.get(tags.userMessageReference)?.toString('hex') ?? '',
    number: hasHeader
      ? (short_message[header - 1] as number)
      : (pdu.options.get(tags.segmentNumber)?.[0] ?? 1),
    total: hasHeader ? (short_message[header - 2] as number) : (pdu.options.get(tags.segmentTotal)?.[0] ?? 1),
    pdu,
  };
}

/** `submittedAt`: as most centres without a clock write it. */
function receiptOf(
  segment: TakenSegment,
  stat: string,
  id: string,
  reference: string | null,
  submittedAt = '0000000000',
) {
  const text = `id:${id} sub:001 dlvrd:001 submit date:${submittedAt} done date:0000000000 stat:${stat} err:000 text:`;
  return [
    { source_addr: segment.to, esm_class: 4, short_message: Buffer.from(text) },
    reference === null ? noOptions : new Map([[tags.userMessageReference, Buffer.from(reference, 'hex')]]),
  ] as const;
}
