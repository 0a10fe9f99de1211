import { fstatSync, type Stats, writeSync } from 'node:fs';
import type { OutputStream } from './streams.js';

type Failed = (error: NodeJS.ErrnoException) => void;

/** Every system's empty pipe accepts this much without blocking. */
const directBytes = 16_384;

/**
 * Standard output or error. Short output is written directly to a pipe, socket, file or /dev/null, because loading
 * Node.js's stream takes a tenth of a short command's start. Longer output goes through the stream, which waits for a
 * slow reader without blocking.
 */
export function outputOf(descriptor: number, open: () => NodeJS.WriteStream): OutputStream {
  return takesDirectOutput(descriptor) ? new DirectOutput(descriptor, open) : open();
}

/** Whether it is a pipe, a socket, a file or /dev/null. */
export function takesDirectOutput(descriptor: number): boolean {
  if (process.platform === 'win32') return false;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket() || stats.isFile() || isNull(stats);
  } catch {
    return false;
  }
}

/** By its number on Linux; elsewhere it takes the stream. */
const isNull = (stats: Stats) =>
  process.platform === 'linux' && stats.isCharacterDevice() && stats.rdev === 0x103;

class DirectOutput implements OutputStream {
  readonly isTTY = false;
  readonly #descriptor: number;
  readonly #open: () => NodeJS.WriteStream;
  readonly #listeners: Failed[] = [];
  #stream: NodeJS.WriteStream | null = null;
  #left = directBytes;

  constructor(descriptor: number, open: () => NodeJS.WriteStream) {
    this.#descriptor = descriptor;
    this.#open = open;
  }

  on(_event: 'error', listener: Failed): this {
    this.#listeners.push(listener);
    this.#stream?.on('error', listener);
    return this;
  }

  write(text: string, done: (error?: Error | null) => void = () => {}): boolean {
    let rest: Uint8Array = Buffer.from(text);
    this.#left -= rest.length;
    if (this.#left < 0) return this.#opened().write(rest, done);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
    } catch (thrown) {
      const error = thrown as NodeJS.ErrnoException;
      // The pipe is non-blocking and full: only the stream can wait.
      if (error.code === 'EAGAIN') {
        this.#left = -1;
        return this.#opened().write(rest, done);
      }
      for (const listener of this.#listeners) listener(error);
      done(error);
      return false;
    }
    done();
    return true;
  }

  #opened(): NodeJS.WriteStream {
    if (this.#stream === null) {
      this.#stream = this.#open();
      for (const listener of this.#listeners) this.#stream.on('error', listener);
    }
    return this.#stream;
  }
}
