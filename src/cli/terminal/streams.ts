/** What the command line needs of an output stream; `process.stdout` is one. */
export interface OutputStream {
  write(text: string, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): OutputStream;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What it needs of an input stream; `process.stdin` is one. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined;
}

/**
 * An output that never throws and never crashes: after its first failure it drops what is written, so that a
 * reader who left (EPIPE) or a full disk does not stop a send half-way. `main` looks at `failure` at the end.
 */
export class Sink {
  failure: NodeJS.ErrnoException | null = null;
  /** Makes room for a line where something is drawn on the same terminal. */
  makeRoom: () => void = () => {};
  readonly #open: () => OutputStream;
  #opened: OutputStream | null = null;

  /** The stream is opened when it is asked for; most commands never write to standard error. */
  constructor(open: () => OutputStream) {
    this.#open = open;
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

  /** Nobody reads this any more. */
  get closed(): boolean {
    return this.failure !== null;
  }

  /** Resolves when all before was handed over, or dropped. */
  async settled(): Promise<void> {
    if (this.#opened !== null) await this.write('');
  }

  /** Resolves when the text was handed over, or dropped. */
  write(text: string): Promise<void> {
    if (this.failure !== null) return Promise.resolve();
    this.makeRoom();
    return new Promise((resolve) => {
      this.#stream.write(text, (error) => {
        if (error) this.failure ??= error;
        resolve();
      });
    });
  }
}
