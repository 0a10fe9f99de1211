import type { Client } from 'pg';
import { checkTerms, destroy, newClient } from './connection.js';
import { endsAllConnections, failureOf, StatementError } from './failure.js';

/** Milliseconds that a statement waits for a free connection. */
const patienceMs = 900;
/** The shortest and longest milliseconds between attempts to connect; they double each time. */
const firstPause = 100;
const longestPause = 2_000;

/** Runs a statement of a transaction. */
export type Send = (text: string, values: readonly unknown[]) => Promise<unknown[]>;

interface Waiting {
  resolve(client: Client): void;
  reject(error: unknown): void;
}

export interface ConnectionsOptions {
  url: string;
  size: number;
  /** Until this one has a connection, there is no more than one of these: where connections are short, it goes first. */
  after?: Connections;
  /** Called for connections that fail while unused, and once for each outage. */
  report(error: unknown): void;
  /** Called when the server has no connection left for this one. */
  onShort?(): void;
  /** Called when a connection is made after all others were lost. */
  onConnected?(): void;
}

/**
 * A few connections. Each statement runs alone and unnamed on one of them, so that a pooler may be in between. After
 * any error a connection is closed. While none can be made, statements fail within a second.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Client>();
  readonly #idle: Client[] = [];
  #waiting: Waiting[] = [];
  #connecting = 0;
  #failures = 0;
  #retryAt = 0;
  #lastError: unknown = null;
  #isClosed = false;
  #isToSpare = false;
  #notices = new WeakMap<Client, unknown>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Runs one statement. Rejects with StatementError. */
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#on(async (client) => (await client.query(text, values as unknown[])).rows as Row[]);
  }

  /**
   * Does the work in a transaction. Rejects with StatementError, which knows that nothing was committed unless the commit
   * itself was lost.
   */
  transact<Result>(work: (send: Send) => Promise<Result>): Promise<Result> {
    let isCommitting = false;
    const transaction = this.#on(async (client) => {
      await client.query("BEGIN; SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '2s'");
      const result = await work(async (text, values) => (await client.query(text, [...values])).rows);
      isCommitting = true;
      await client.query('COMMIT');
      return result;
    });
    return transaction.catch((error: StatementError) => {
      if (error.failure !== 'unknown' || isCommitting) throw error;
      throw new StatementError('unavailable', error.cause);
    });
  }

  async #on<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await this.#take().catch((error) => {
      throw new StatementError('not_sent', error);
    });
    try {
      const result = await work(client);
      const notice = this.#notices.get(client);
      if (notice !== undefined) throw notice;
      this.#give(client);
      return result;
    } catch (error) {
      const isNotice = error === this.#notices.get(client);
      this.#drop(client);
      if (endsAllConnections(error)) this.#dropIdle();
      throw new StatementError(isNotice ? 'unknown' : failureOf(error), error);
    }
  }

  /** Closes one of several connections, once it is free: another needs it more. */
  spare(): void {
    const client = this.#idle.pop();
    this.#isToSpare = client === undefined;
    if (client !== undefined && this.#all.size > 1) this.#drop(client);
    else if (client !== undefined) this.#idle.push(client);
  }

  get isConnected(): boolean {
    return this.#all.size > 0;
  }

  /** Closes all connections, used or not. */
  close(): void {
    this.#isClosed = true;
    this.#refuseAll(new Error('the store is closed'));
    for (const client of this.#all) this.#drop(client);
    this.#idle.length = 0;
  }

  get #hasRoom(): boolean {
    const { size, after } = this.#options;
    const most = after === undefined || after.isConnected ? size : 1;
    return this.#all.size + this.#connecting < most;
  }

  #take(): Promise<Client> {
    if (this.#isClosed) return Promise.reject(new Error('the store is closed'));
    const client = this.#idle.pop();
    if (client !== undefined) return Promise.resolve(client);
    const hasRoom = this.#hasRoom;
    if (hasRoom && this.#all.size === 0 && performance.now() < this.#retryAt)
      return Promise.reject(this.#lastError);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { resolve: end(resolve), reject: end(reject) };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(this.#lastError ?? new Error(`no connection was free for ${patienceMs} ms`));
      }, patienceMs);
      function end<Value>(resolve: (value: Value) => void): (value: Value) => void {
        return (value) => {
          clearTimeout(timer);
          resolve(value);
        };
      }
      this.#waiting.push(waiting);
      if (hasRoom) void this.#connect();
    });
  }

  #give(client: Client): void {
    if (!this.#all.has(client)) return;
    if (this.#isToSpare && this.#all.size > 1) {
      this.#isToSpare = false;
      this.#drop(client);
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(client);
    else this.#idle.push(client);
  }

  async #connect(): Promise<void> {
    this.#connecting += 1;
    let client: Client | null = null;
    try {
      client = this.#newClient();
      await client.connect();
      await checkTerms(client);
      this.#notices.delete(client);
      if (this.#isClosed) return destroy(client);
      const isFirst = this.#all.size === 0;
      this.#all.add(client);
      this.#failures = 0;
      this.#retryAt = 0;
      this.#lastError = null;
      if (isFirst) this.#options.onConnected?.();
      this.#give(client);
    } catch (error) {
      if (client !== null) destroy(client);
      if ((error as { code?: unknown }).code === '53300') this.#options.onShort?.();
      this.#lastError = error;
      const now = performance.now();
      // Failures of attempts made together count as one.
      if (now >= this.#retryAt) {
        this.#retryAt = now + Math.min(firstPause * 2 ** this.#failures, longestPause);
        if (this.#failures === 0) this.#options.report(error);
        this.#failures += 1;
      }
      if (this.#all.size === 0) this.#refuseAll(error);
    } finally {
      this.#connecting -= 1;
    }
  }

  #newClient(): Client {
    const client = newClient(this.#options.url);
    // Without a listener, the end of its backend would end this process.
    client.on('error', (error) => this.#lose(client, error));
    client.on('notice', (notice) => {
      // A warning about a commit that may not have reached the standby.
      if (notice.code === '01000') this.#notices.set(client, notice);
    });
    return client;
  }

  #lose(client: Client, error: unknown): void {
    const index = this.#idle.indexOf(client);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.#drop(client);
    if (endsAllConnections(error)) this.#dropIdle();
    this.#options.report(error);
  }

  #drop(client: Client): void {
    this.#all.delete(client);
    destroy(client);
    if (this.#waiting.length > 0 && !this.#isClosed && this.#hasRoom) void this.#connect();
  }

  #dropIdle(): void {
    for (const client of this.#idle.splice(0)) this.#drop(client);
  }

  #refuseAll(error: unknown): void {
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
  }
}
