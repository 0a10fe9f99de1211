import type { Duplex } from 'node:stream';
import type { Clock } from '../../../clock.js';
import { type Command, isDelivery, isResponse, statuses } from '../codec/commands.js';
import { Framing } from '../codec/framing.js';
import { decodePdu, encodePdu, MalformedPdu, noOptions, type Pdu } from '../codec/pdu.js';

/** Milliseconds. */
export const responseMs = 10_000;
/** How long a late response still counts: no doubt lasts longer. */
const lateMs = 300_000;
/** Unread bytes after which the peer counts as dead. */
const maxUnread = 1_000_000;

/** No answer will arrive, usually because the connection ended; the peer may have accepted the request. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

export interface SessionEvents {
  /** A request of the peer that the session does not answer itself. */
  onRequest(pdu: Pdu): void;
  /** A delivery that was malformed, and was refused. */
  onMalformed(): void;
  /** The peer is alive and may have answered something. */
  onProgress(): void;
  /** Called once: the connection is lost, or the peer unbinds. */
  onClosed(reason: string): void;
}

interface Pending {
  command: Command;
  /** When `onOverdue` is called, and later, when it is forgotten. */
  until: number;
  isOverdue: boolean;
  onOverdue: () => void;
  resolve(pdu: Pdu): void;
  reject(error: Error): void;
}

/** An SMPP connection: requests and their responses, and whether the peer is alive. */
export class Session {
  readonly #socket: Duplex;
  readonly #clock: Clock;
  /** Milliseconds of silence until the peer is asked whether it is alive. */
  readonly #silenceMs: number;
  readonly #events: SessionEvents;
  readonly #framing = new Framing();
  /** By sequence number, the oldest first. */
  readonly #pending = new Map<number, Pending>();
  #sequence = 0;
  #hasCarried = false;
  #heardAt: number;
  #isClosed = false;
  /** The peer wants to end it: it only accepts answers. */
  #isUnbound = false;
  #isSuspect = false;
  #isCorked = false;
  /** The last probe, until the peer is heard. */
  #probing: symbol | null = null;
  /** When the next sweep is due, on the monotonic clock. */
  #sweepAt = Number.POSITIVE_INFINITY;
  #cancelSweep: () => void = () => {};
  #cancelWatch: () => void = () => {};

  constructor(socket: Duplex, clock: Clock, silenceMs: number, events: SessionEvents) {
    this.#socket = socket;
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#events = events;
    this.#heardAt = clock.monotonic();
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.close(error.message));
    socket.on('close', () => this.close('the connection was closed'));
    socket.on('end', () => this.close('the connection was closed'));
    this.#watch(silenceMs);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether anything but binds and unbinds was exchanged. */
  get hasCarried(): boolean {
    return this.#hasCarried;
  }

  /** Whether requests may be sent: not while one is overdue and the peer has been silent since. */
  get isUsable(): boolean {
    return !this.#isClosed && !this.#isUnbound && !this.#isSuspect;
  }

  /**
   * Sends a request; resolves with its response, however late, and rejects with SessionLost. `onOverdue` is called
   * after 10 s without a response.
   */
  request(
    command: Command,
    fields: Pdu['fields'],
    options = noOptions,
    onOverdue: () => void = () => {},
  ): Promise<Pdu> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#isUnbound) throw new SessionLost('the connection is closed');
      this.#sequence = (this.#sequence % 0x7fffffff) + 1;
      const sequence = this.#sequence;
      const bytes = encodePdu({ command, status: statuses.ok, sequence, fields, options });
      const until = this.#clock.monotonic() + responseMs;
      this.#pending.set(sequence, { command, until, isOverdue: false, onOverdue, resolve, reject });
      this.#sweepBy(until);
      this.#write(bytes);
    });
  }

  respond({ command, sequence }: Pdu, status: number): void {
    this.#answer(`${command}_resp` as Command, sequence, status);
  }

  /** Asks for an orderly end, and waits for it as long as for any response. */
  async unbind(): Promise<void> {
    if (this.#isClosed) return;
    const end = () => this.close('unbound');
    await this.request('unbind', {}, noOptions, end).catch(() => {});
    end();
  }

  /** Ends the connection; everything unanswered rejects with SessionLost. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelWatch();
    this.#cancelSweep();
    this.#socket.uncork();
    this.#socket.destroy();
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(new SessionLost(reason));
    this.#events.onClosed(reason);
  }

  #read(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#framing.push(bytes, (pdu) => this.#receive(pdu));
    } catch (error) {
      this.close((error as Error).message);
    }
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    let pdu: Pdu;
    try {
      pdu = decodePdu(bytes);
    } catch (error) {
      if (!(error instanceof MalformedPdu)) throw error;
      const { command, sequence } = error;
      if (isDelivery(command)) {
        this.#answer(`${command}_resp` as Command, sequence, statuses.rejected);
        this.#events.onMalformed();
      } else
        this.#answer(
          'generic_nack',
          sequence,
          command === null ? statuses.invalidCommandId : statuses.systemError,
        );
      return;
    }
    this.#probing = null;
    this.#heardAt = this.#clock.monotonic();
    this.#isSuspect = false;
    if (isResponse(pdu.command)) this.#resolve(pdu);
    else if (pdu.command === 'enquire_link') this.respond(pdu, statuses.ok);
    else if (pdu.command === 'unbind') this.#unbound(pdu);
    else if (isDelivery(pdu.command)) {
      this.#hasCarried = true;
      this.#events.onRequest(pdu);
    } else this.#answer('generic_nack', pdu.sequence, statuses.invalidCommandId);
    this.#events.onProgress();
  }

  /** Ignores a response that matches no request, or comes twice. */
  #resolve(pdu: Pdu): void {
    const pending = this.#pending.get(pdu.sequence);
    if (pending === undefined) return;
    if (pdu.command !== 'generic_nack' && pdu.command !== `${pending.command}_resp`) return;
    this.#pending.delete(pdu.sequence);
    if (!pending.command.startsWith('bind_')) this.#hasCarried = true;
    pending.resolve(pdu);
    if (this.#isUnbound && this.#pending.size === 0) this.close(unboundByPeer);
  }

  /** The peer may still answer what it has accepted. */
  #unbound(pdu: Pdu): void {
    this.respond(pdu, statuses.ok);
    this.#isUnbound = true;
    if (this.#pending.size === 0) this.close(unboundByPeer);
    else {
      this.#cancelWatch();
      this.#cancelWatch = this.#clock.after(responseMs, () => this.close(unboundByPeer));
    }
  }

  #answer(command: Command, sequence: number, status: number): void {
    this.#write(encodePdu({ command, status, sequence, fields: {}, options: noOptions }));
  }

  #write(bytes: Buffer): void {
    if (this.#isClosed) return;
    // Everything written in one tick is sent together.
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(bytes);
    if (this.#socket.writableLength > maxUnread) this.close('its operator reads nothing');
  }

  /** One timer for all: a request that is overdue may be forgotten long after others become so. */
  #sweepBy(at: number): void {
    if (at >= this.#sweepAt) return;
    this.#cancelSweep();
    this.#sweepAt = at;
    this.#cancelSweep = this.#clock.after(at - this.#clock.monotonic(), () => this.#sweep());
  }

  /** Calls `onOverdue` once for each overdue request; a late response still resolves it. */
  #sweep(): void {
    this.#sweepAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    for (const [sequence, pending] of [...this.#pending]) {
      if (pending.until > now) continue;
      if (pending.isOverdue) {
        this.#pending.delete(sequence);
        pending.reject(new SessionLost('it was never answered'));
        continue;
      }
      pending.isOverdue = true;
      pending.until = now + lateMs;
      if (pending.command !== 'enquire_link') {
        this.#isSuspect = true;
        this.#probe();
      }
      pending.onOverdue();
    }
    if (this.#isClosed || this.#pending.size === 0) return;
    this.#sweepBy(Math.min(...[...this.#pending.values()].map(({ until }) => until)));
  }

  #watch(milliseconds: number): void {
    this.#cancelWatch = this.#clock.after(milliseconds, () => {
      const left = this.#heardAt + this.#silenceMs - this.#clock.monotonic();
      if (left <= 0) this.#probe();
      if (!this.#isClosed) this.#watch(left > 0 ? left : this.#silenceMs);
    });
  }

  /** Checks whether the peer is alive: the connection is dead if nothing at all is heard for 10 s. */
  #probe(): void {
    if (this.#isClosed || this.#isUnbound || this.#probing !== null) return;
    const probe = Symbol('probe');
    this.#probing = probe;
    const onOverdue = () => {
      if (this.#probing === probe) this.close('its operator does not answer');
    };
    this.request('enquire_link', {}, noOptions, onOverdue).catch(() => {});
  }
}

const unboundByPeer = 'its operator has ended it';
