import { fstatSync, writeSync } from 'node:fs';
import type { OutputStream } from './streams.js';

type Failed = (error: NodeJS.ErrnoException) => void;

/**
 * Standard output or error. Into a pipe or a file Node.js writes at once, waiting for the reader; this does the
 * same without the stream that Node.js would load for it, which costs a short command a tenth of its start.
 */
export function outputOf(descriptor: number, open: () => NodeJS.WriteStream): OutputStream {
  return isPipeOrFile(descriptor) ? new DirectOutput(descriptor, open) : open();
}

function isPipeOrFile(descriptor: number): boolean {
  if (process.platform === 'win32') return false;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false;
  }
}

class DirectOutput implements OutputStream {
  readonly isTTY = false;
  readonly #descriptor: number;
  readonly #open: () => NodeJS.WriteStream;
  readonly #listeners: Failed[] = [];
  #stream: NodeJS.WriteStream | null = null;

  constructor(descriptor: number, open: () => NodeJS.WriteStream) {
    this.#descriptor = descriptor;
    this.#open = open;
  }

  on(_event: 'error', listener: Failed): this {
    this.#listeners.push(listener);
    return this;
  }

  write(text: string, done: (error?: Error | null) => void = () => {}): boolean {
    if (this.#stream !== null) return this.#stream.write(text, done);
    let rest: Uint8Array = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
    } catch (thrown) {
      const error = thrown as NodeJS.ErrnoException;
      // Somebody made the pipe non-blocking, and it is full: only the stream can wait.
      if (error.code === 'EAGAIN') return this.#openStream().write(rest, done);
      for (const listener of this.#listeners) listener(error);
      done(error);
      return false;
    }
    done();
    return true;
  }

  #openStream(): NodeJS.WriteStream {
    this.#stream = this.#open();
    for (const listener of this.#listeners) this.#stream.on('error', listener);
    return this.#stream;
  }
}
