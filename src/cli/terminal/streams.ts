import { narrowed } from './narrow.js';

/** The part of `process.stdout` that the command line uses. */
export interface OutputStream {
  write(text: string, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): OutputStream;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The part of `process.stdin` that the command line uses. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined;
}

/**
 * An output that never throws. After its first failure it drops all writes, so that a closed pipe (EPIPE) or a full
 * disk does not stop a send half-way. `main` checks `failure` at the end.
 */
export class Sink {
  failure: NodeJS.ErrnoException | null = null;
  /** Called before each write, to clear a drawing on the same terminal. */
  makeRoom: () => void = () => {};
  readonly #open: () => OutputStream;
  #opened: OutputStream | null = null;

  readonly #isLog: boolean;

  /** Opened when first used: most commands never write to standard error. `isLog`: only a closed pipe ends it. */
  constructor(open: () => OutputStream, { isLog = false } = {}) {
    this.#open = open;
    this.#isLog = isLog;
  }

  get #stream(): OutputStream {
    this.#opened ??= this.#open().on('error', (error) => {
      this.failure ??= error;
    });
    return this.#opened;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  get columns(): number {
    return this.#stream.columns || 80;
  }

  /** Nobody reads it any more, or it cannot be written. */
  get hasFailed(): boolean {
    return this.failure !== null;
  }

  /** Resolves when all earlier writes have been flushed or dropped. */
  async flushed(): Promise<void> {
    if (this.#opened !== null) await this.write('');
  }

  /** Writes a page of help for the terminal's width. */
  page(text: string): Promise<void> {
    return this.write(this.isTerminal ? narrowed(text, this.columns) : text);
  }

  /** Resolves when the text has been flushed or dropped. */
  write(text: string): Promise<void> {
    // A service writes its log for months, and a full disk may have space again.
    const isOver = this.failure !== null && !(this.#isLog && this.failure.code !== 'EPIPE');
    if (isOver) return Promise.resolve();
    this.makeRoom();
    return new Promise((resolve) => {
      this.#stream.write(text, (error) => {
        if (error) this.failure ??= error;
        resolve();
      });
    });
  }
}
