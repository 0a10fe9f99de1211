import { atMost, type Clock } from '../../clock.js';
import { type Random, randomInteger } from '../../random.js';
import type { Report } from '../../report.js';
import { Connection } from './connection.js';
import type { SmtpSettings } from './smtp-settings.js';

/** OpenSMTPD answers 452 after 100. */
const mailsEach = 90;
/** Milliseconds that an idle connection is kept. */
const idleMs = 10_000;
/**
 * Milliseconds that a mail of a batch waits: what was claimed for a second takes longer only if the relay has turned slow.
 * Then others may go first.
 */
const longestWait = 2_000;
/** Milliseconds to wait after a failed connection, doubled each time. */
const firstPause = 1_000;
const longestPause = 60_000;
/** Milliseconds that stopping waits for answers. */
const drainMs = 10_000;

export interface ConnectionsParts {
  settings: SmtpSettings;
  clock: Clock;
  random: Random;
  report: Report;
}

/** A connection lent for one mail, until it is released. */
export interface Lent {
  connection: Connection;
  /** Opens another in its place, within so many milliseconds; false if that fails. */
  renew(within: number): Promise<boolean>;
  release(): void;
}

type Waiter = (lent: Lent | null) => void;

/** The connections to a relay, opened as needed. */
export class Connections {
  readonly #parts: ConnectionsParts;
  readonly #idle: { connection: Connection; cancel: () => void }[] = [];
  readonly #lent = new Set<Connection>();
  /** Returned connections that are being closed with QUIT. */
  readonly #ending = new Set<Connection>();
  /** Single messages come before those of batches. */
  readonly #waiters = { single: [] as Waiter[], batch: [] as Waiter[] };
  #opening = 0;
  #failures = 0;
  #nextAt = Number.NEGATIVE_INFINITY;
  #cancelNext = () => {};
  #stopping: AbortController | null = null;
  #onDrained = () => {};

  constructor(parts: ConnectionsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#forgetFailures();
  }

  /** Whether mails can be submitted: it is connected, or may try to connect. */
  get isUp(): boolean {
    return this.isConnected || (this.#stopping !== null && this.#pausedFor <= 0);
  }

  /** True until a connection fails, then false until one works; meanwhile it may try to connect. */
  get isConnected(): boolean {
    return this.#stopping !== null && (this.#connected > 0 || this.#failures === 0);
  }

  /** Waits for a connection; null if there will be none, or none soon enough for a mail of a batch. */
  take(isSingle: boolean): Promise<Lent | null> {
    if (!this.isUp) return Promise.resolve(null);
    return new Promise((resolve) => {
      if (isSingle) this.#waiters.single.push(resolve);
      else this.#addOfBatch(resolve);
      this.#serve();
    });
  }

  #addOfBatch(resolve: Waiter): void {
    const { batch } = this.#waiters;
    const waiter: Waiter = (lent) => {
      cancel();
      resolve(lent);
    };
    const cancel = this.#parts.clock.after(longestWait, () => {
      batch.splice(batch.indexOf(waiter), 1);
      resolve(null);
    });
    batch.push(waiter);
  }

  /** Waits for mails that are being submitted, then closes everything. */
  async stop(): Promise<void> {
    const stopping = this.#stopping;
    this.#stopping = null;
    this.#cancelNext();
    this.#dismiss();
    for (const { connection, cancel } of this.#idle.splice(0)) {
      cancel();
      connection.close();
    }
    stopping?.abort();
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    if (this.#lent.size > 0) await atMost(this.#parts.clock, drainMs, drained);
    for (const connection of this.#lent) connection.close();
  }

  get #connected(): number {
    return this.#idle.length + this.#lent.size;
  }

  get #waiting(): number {
    return this.#waiters.single.length + this.#waiters.batch.length;
  }

  get #pausedFor(): number {
    return this.#nextAt - this.#parts.clock.monotonic();
  }

  #nextWaiter(): Waiter | undefined {
    return this.#waiters.single.shift() ?? this.#waiters.batch.shift();
  }

  #dismiss(): void {
    for (let waiter = this.#nextWaiter(); waiter !== undefined; waiter = this.#nextWaiter()) waiter(null);
  }

  #serve(): void {
    while (this.#waiting > 0) {
      // Takes the one used last, so that the others become idle and close.
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      idle.cancel();
      if (idle.connection.isOpen) this.#lend(idle.connection);
    }
    while (this.#mayOpen) void this.#open();
  }

  /** After a failure, only one is opened at a time. */
  get #mayOpen(): boolean {
    const { connections } = this.#parts.settings;
    const most = this.#failures > 0 ? 1 : connections;
    return (
      this.#stopping !== null &&
      this.#waiting > this.#opening &&
      this.#opening < most &&
      this.#connected + this.#opening < connections &&
      this.#pausedFor <= 0
    );
  }

  async #open(): Promise<void> {
    const { settings, clock } = this.#parts;
    const stopping = this.#stopping as AbortController;
    this.#opening += 1;
    try {
      const connection = await Connection.open(settings, clock, stopping.signal);
      this.#failures = 0;
      if (this.#stopping !== stopping) connection.close();
      else this.#lend(connection);
    } catch (error) {
      if (this.#stopping === stopping) this.#failed(error as Error);
    } finally {
      this.#opening -= 1;
    }
    this.#serve();
  }

  #failed(error: Error): void {
    const { settings, clock, random, report } = this.#parts;
    const { host, port } = settings;
    if (this.#failures === 0)
      report(new Error(`cannot connect to the SMTP relay ${host}:${port}`, { cause: error }), {
        level: 'warning',
      });
    // Failures of connections opened together count as one.
    if (this.#pausedFor <= 0) {
      const pause = Math.min(firstPause * 2 ** this.#failures, longestPause);
      this.#failures += 1;
      this.#nextAt = clock.monotonic() + pause / 2 + randomInteger(random, pause / 2);
      this.#cancelNext();
      this.#cancelNext = clock.after(this.#pausedFor, () => this.#serve());
    }
    if (this.#connected === 0 && this.#opening === 1) this.#dismiss();
  }

  #lend(connection: Connection): void {
    const waiter = this.#nextWaiter();
    if (waiter === undefined) {
      this.#keep(connection);
      return;
    }
    this.#lent.add(connection);
    const lent: Lent = {
      connection,
      renew: (within) => this.#renew(lent, within),
      release: () => void this.#takeBack(lent.connection),
    };
    waiter(lent);
  }

  async #renew(lent: Lent, within: number): Promise<boolean> {
    const { settings, clock } = this.#parts;
    const stopping = this.#stopping;
    if (stopping === null || within <= 0) return false;
    const ended = lent.connection;
    ended.close();
    try {
      lent.connection = await Connection.open(settings, clock, stopping.signal, within);
    } catch (error) {
      if (this.#stopping === stopping) this.#failed(error as Error);
      return false;
    }
    this.#lent.delete(ended);
    this.#lent.add(lent.connection);
    this.#failures = 0;
    return true;
  }

  async #takeBack(connection: Connection): Promise<void> {
    if (!this.#lent.has(connection) || this.#ending.has(connection)) return;
    this.#ending.add(connection);
    await connection.reset();
    if (connection.mails >= mailsEach && this.#stopping !== null) await this.#retire(connection);
    this.#ending.delete(connection);
    this.#lent.delete(connection);
    if (this.#stopping === null) {
      connection.close();
      if (this.#lent.size === 0) this.#onDrained();
      return;
    }
    if (connection.isOpen) this.#keep(connection);
    this.#serve();
  }

  #keep(connection: Connection): void {
    const cancel = this.#parts.clock.after(idleMs, () => {
      const index = this.#idle.findIndex((idle) => idle.connection === connection);
      if (index >= 0) this.#idle.splice(index, 1);
      void this.#retire(connection);
    });
    this.#idle.push({ connection, cancel });
  }

  /** A relay that refuses further connections may accept one that replaces another. */
  async #retire(connection: Connection): Promise<void> {
    await connection.quit();
    this.#forgetFailures();
  }

  #forgetFailures(): void {
    this.#failures = 0;
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }
}
