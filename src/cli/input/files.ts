import { createReadStream } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { inputError, machineError, usageError } from '../errors.js';
import type { Patience } from '../files/output-file.js';
import type { InputStream } from '../terminal/streams.js';

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

  /** The current folder may be gone, and is asked for only where it matters. */
  #path(name: string): string {
    return isAbsolute(name) ? name : resolve(this.#folder(), name);
  }

  /** Throws CliError (exit 13) when one of these files cannot be written; what was not named is left out. */
  async checkWritable(...names: (string | undefined)[]): Promise<void> {
    const { checkWritable } = await import('../files/output-file.js');
    for (const name of names) if (name !== undefined) await checkWritable(this.#path(name));
  }

  /** Writes a whole file. Throws CliError (exit 13) when the disk does not take it. */
  async write(name: string, blocks: AsyncIterable<string>): Promise<void> {
    const { writeNamedFile } = await import('../files/output-file.js');
    await writeNamedFile(this.#path(name), blocks, this.#patience);
  }

  /** The bytes of a file as they come. Throws CliError: exit 13 when it cannot be read. */
  async *bytes(name: string): AsyncGenerator<Uint8Array> {
    if (name === '-') {
      if (this.#stdinTaken)
        throw usageError('standard input (-) can be read only once', 'Give one of the two as a file.');
      this.#stdinTaken = true;
    }
    const source = name === '-' ? this.#stdin() : createReadStream(this.#path(name));
    try {
      for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    } catch (error) {
      const [what, hint] = reasonOf(error);
      throw machineError(`${name === '-' ? 'standard input' : name} ${what}`, error, hint);
    }
  }

  /** A whole file as it is. */
  async whole(name: string): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.bytes(name)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** A whole file as strict UTF-8 text, without a byte order mark. */
  async text(name: string): Promise<string> {
    const bytes = await this.whole(name);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw inputError(`${name === '-' ? 'standard input' : name} is not UTF-8 text`, 'Save it as UTF-8.');
    }
  }
}

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOENT: ['does not exist', 'Check the name, and the folder you are in.'],
  EISDIR: ['is a folder', 'Name a file in it.'],
  EACCES: ['may not be read: permission denied', 'Its owner can allow it.'],
};
const reasonOf = (error: unknown): readonly [what: string, hint: string] => {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return reasons[code] ?? [`could not be read: ${code}`, 'Check the disk or the network folder it is on.'];
};
