// Not node:fs/promises, which would slow down every start by 2 ms.
import { createReadStream, stat } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { maxRequestBytes } from '../../contract/index.js';
import { CliError, inputError, machineError, usageError } from '../errors.js';
import type { InputStream } from '../terminal/streams.js';
import type { PipeWait } from './output-file.js';

/** Reads and writes the files named on the command line; `-` is standard input, which can be read once. */
export class Files {
  readonly #stdin: () => InputStream;
  readonly #folder: () => string;
  readonly #wait: PipeWait;
  #stdinTaken = false;

  constructor(stdin: () => InputStream, folder: () => string, wait: PipeWait) {
    this.#stdin = stdin;
    this.#folder = folder;
    this.#wait = wait;
  }

  /** Throws CliError (exit 13) if one of the named files cannot be written. */
  async checkWritable(...names: (string | undefined)[]): Promise<void> {
    const { checkWritable } = await import('./output-file.js');
    for (const name of names) if (name !== undefined) await checkWritable(this.#path(name));
  }

  /** Writes a whole file. Throws CliError (exit 13). */
  async write(name: string, blocks: AsyncIterable<string | Uint8Array>): Promise<void> {
    const { writeNamedFile } = await import('./output-file.js');
    await writeNamedFile(this.#path(name), blocks, this.#wait);
  }

  /** Streams the bytes of a file. Throws CliError (exit 13) if it cannot be read. */
  async *bytes(name: string): AsyncGenerator<Uint8Array> {
    if (name === '-') {
      if (this.#stdinTaken)
        throw usageError('standard input (-) can be read only once', 'Give one of the two as a file.');
      this.#stdinTaken = true;
    }
    const begun = new AbortController();
    try {
      const path = name === '-' ? null : this.#path(name);
      const source = path === null ? this.#stdin() : createReadStream(path);
      void this.#noteWaiting(name, path, begun.signal);
      for await (const chunk of source) {
        begun.abort();
        yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      }
    } catch (error) {
      if (error instanceof CliError) throw error;
      const [what, hint] = reasonOf(error);
      throw machineError(`cannot read ${nameOf(name)}: ${what}`, error, hint);
    } finally {
      begun.abort();
    }
  }

  /** Used only for relative names, because the current folder may have been deleted. */
  #path(name: string): string {
    return isAbsolute(name) ? name : resolve(this.#folder(), name);
  }

  /** A pipe without a writer would keep a command waiting for ever, so it is reported. */
  async #noteWaiting(name: string, path: string | null, begun: AbortSignal): Promise<void> {
    if (path !== null && !(await isNamedPipe(path))) return;
    await this.#wait.sleep(noteAfter, begun).then(
      () => this.#wait.note(waitingFor(name, name === '-' && this.#stdin().isTTY === true)),
      () => {},
    );
  }

  /** Reads a whole file. Throws CliError (exit 8) once it exceeds the limit. */
  async whole(
    name: string,
    limit = maxRequestBytes,
    hint = 'No message can be that long. Is it the right file?',
  ): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of this.bytes(name)) {
      size += part.length;
      if (size > limit) throw inputError(`${nameOf(name)} has over ${megabytes(limit)}`, hint);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  /** Reads a whole file as strict UTF-8 text without its byte order mark; at most 1 MB, like a request. */
  async text(name: string): Promise<string> {
    const bytes = await this.whole(name);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw inputError(`${nameOf(name)} is not UTF-8 text`, 'Save it as UTF-8.');
    }
  }
}

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`;
const noteAfter = 1_000;

/** The name of a file in an error. */
export const nameOf = (name: string): string => (name === '-' ? 'standard input' : name);

function waitingFor(name: string, terminal: boolean): string {
  if (terminal) return 'reading from the terminal; end with Ctrl-D on a line of its own';
  return name === '-' ? 'waiting for standard input' : `waiting for a writer of ${name}`;
}

const isNamedPipe = (path: string) =>
  new Promise<boolean>((resolve) => {
    stat(path, (error, stats) => resolve(error === null && stats.isFIFO()));
  });

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOENT: ['it does not exist', 'Check the name and the current folder.'],
  EISDIR: ['it is a folder', 'Name a file in it.'],
  EACCES: ['permission denied', 'Ask its owner for access.'],
};
const reasonOf = (error: unknown): readonly [what: string, hint: string] => {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return reasons[code] ?? [code, 'Check the disk or the network folder it is on.'];
};
