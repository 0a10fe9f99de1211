import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { maxRequestBytes } from '../../contract/index.js';
import { CliError, inputError, machineError, usageError } from '../errors.js';
import type { InputStream } from '../terminal/streams.js';
import type { Patience } from './output-file.js';

/** Reads and writes the files a person names; `-` is standard input, which only one of them can be. */
export class Files {
  readonly #stdin: () => InputStream;
  readonly #folder: () => string;
  readonly #patience: Patience;
  #stdinTaken = false;

  constructor(stdin: () => InputStream, folder: () => string, patience: Patience) {
    this.#stdin = stdin;
    this.#folder = folder;
    this.#patience = patience;
  }

  /** Throws CliError (exit 13) when one of these files cannot be written; what was not named is left out. */
  async checkWritable(...names: (string | undefined)[]): Promise<void> {
    const { checkWritable } = await import('./output-file.js');
    for (const name of names) if (name !== undefined) await checkWritable(this.#path(name));
  }

  /** Writes a whole file. Throws CliError (exit 13) when the disk does not take it. */
  async write(name: string, blocks: AsyncIterable<string>): Promise<void> {
    const { writeNamedFile } = await import('./output-file.js');
    await writeNamedFile(this.#path(name), blocks, this.#patience);
  }

  /** The bytes of a file as they come. Throws CliError: exit 13 when it cannot be read. */
  async *bytes(name: string): AsyncGenerator<Uint8Array> {
    if (name === '-') {
      if (this.#stdinTaken)
        throw usageError('standard input (-) can be read only once', 'Give one of the two as a file.');
      this.#stdinTaken = true;
    }
    const told = new AbortController();
    try {
      const path = name === '-' ? null : this.#path(name);
      const source = path === null ? this.#stdin() : createReadStream(path);
      void this.#tellOfWaiting(name, path, told.signal);
      for await (const chunk of source) {
        told.abort();
        yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      }
    } catch (error) {
      if (error instanceof CliError) throw error;
      const [what, hint] = reasonOf(error);
      throw machineError(`${nameOf(name)} ${what}`, error, hint);
    } finally {
      told.abort();
    }
  }

  /** Where a file is; the working folder is asked for only where it matters, since it may be gone. */
  #path(name: string): string {
    return isAbsolute(name) ? name : resolve(this.#folder(), name);
  }

  /** A pipe that nobody writes to keeps a command waiting without end. */
  async #tellOfWaiting(name: string, path: string | null, begun: AbortSignal): Promise<void> {
    if (path !== null && !(await isNamedPipe(path))) return;
    await this.#patience.sleep(noteAfter, begun).then(
      () => this.#patience.note(waitingFor(name, name === '-' && this.#stdin().isTTY === true)),
      () => {},
    );
  }

  /** A whole file as it is. A larger one than may be is refused (exit 8) before the rest of it is read. */
  async whole(
    name: string,
    most = mostBytes,
    hint = 'That is more than any message can hold: is it the right file?',
  ): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of this.bytes(name)) {
      size += part.length;
      if (size > most) throw inputError(`${nameOf(name)} has over ${megabytes(most)}`, hint);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  /** A whole file as strict UTF-8 text, without a byte order mark; of at most 1 MB, which no request exceeds. */
  async text(name: string): Promise<string> {
    const bytes = await this.whole(name);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw inputError(`${nameOf(name)} is not UTF-8 text`, 'Save it as UTF-8.');
    }
  }
}

const mostBytes = maxRequestBytes;
const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`;
const noteAfter = 1_000;

/** A file as an error names it. */
export const nameOf = (name: string): string => (name === '-' ? 'standard input' : name);

function waitingFor(name: string, terminal: boolean): string {
  if (terminal) return 'reading what you type; end it with Ctrl-D on a line of its own';
  return name === '-' ? 'waiting for standard input' : `waiting for somebody to write to ${name}`;
}

const isNamedPipe = (path: string) =>
  stat(path).then(
    (stats) => stats.isFIFO(),
    () => false,
  );

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOENT: ['does not exist', 'Check the name, and the folder you are in.'],
  EISDIR: ['is a folder', 'Name a file in it.'],
  EACCES: ['may not be read: permission denied', 'Its owner can allow it.'],
};
const reasonOf = (error: unknown): readonly [what: string, hint: string] => {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return reasons[code] ?? [`could not be read: ${code}`, 'Check the disk or the network folder it is on.'];
};
