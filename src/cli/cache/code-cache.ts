import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Script } from 'node:vm';
import type { CacheFolder } from './cache-folder.js';

export interface CodeCacheOptions {
  files: CacheFolder;
  /** Identifies the build: another build's code is not used. */
  build: string;
  /** Letters and dashes that identify the command: each runs other parts of a bundle, so each has its own code. */
  command: string;
  /** Loads everything except our bundles. */
  require: (id: string) => unknown;
  /** Reads the bytes of a bundle. Default: from the file. */
  read?: (file: string) => Buffer;
}

interface Header {
  build: string;
  engine: string;
  /** Where the code of each bundle starts and ends. */
  places: Record<string, [begin: number, end: number]>;
}

/** The header is padded so that the code after it is aligned as V8 requires. */
const headerLength = 4096;
const alignment = 16;
const engine = `${process.version}-${process.arch}`;
const opening = Buffer.from('(function (exports, require, module, __filename, __dirname) {');
const closing = Buffer.from('\n})');

/**
 * Loads CommonJS bundles with the code that V8 compiled for an earlier start; without it, the code is compiled as usual.
 * V8 does not detect damage in such code; it crashes or, worse, runs it. One file has the code of all bundles that a
 * command needs, because few files are faster.
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #modules = new Map<string, { exports: unknown }>();
  /** By the bundle's folder and name. */
  #stored: Map<string, Buffer> | null = null;
  readonly #unsaved = new Map<string, Script>();
  /** Loaded with the first bundle: a kept page needs none. */
  #vm: typeof import('node:vm') | null = null;

  constructor(options: CodeCacheOptions) {
    this.#options = options;
  }

  /** The exports of a bundle. */
  load(file: string): unknown {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const folder = dirname(file);
    const requireFrom = (id: string) =>
      id.startsWith('.') ? this.load(join(folder, id)) : this.#options.require(id);
    this.#compile(file).runInThisContext()(module.exports, requireFrom, module, file, folder);
    return module.exports;
  }

  /** Stores the compiled code. Call it at the end of a short process that succeeded. */
  save(): void {
    if (this.#unsaved.size === 0) return;
    const copy = this.#copy();
    if (copy !== null) this.#options.files.write(this.#name, copy);
  }

  #compile(file: string): Script {
    // The build keeps bundles ASCII, which V8 stores in half the space. They must be joined as bytes.
    const { read } = this.#options;
    const source = (read === undefined ? wrappedFile(file) : wrapped(read(file))).toString('latin1');
    this.#stored ??= this.#read();
    const cachedData = this.#stored.get(nameOf(file));
    this.#vm ??= this.#options.require('node:vm') as typeof import('node:vm');
    const script = new this.#vm.Script(source, {
      filename: file,
      columnOffset: -opening.length,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (cachedData === undefined || script.cachedDataRejected) this.#unsaved.set(nameOf(file), script);
    return script;
  }

  #read(): Map<string, Buffer> {
    const { files, build } = this.#options;
    const codes = new Map<string, Buffer>();
    const copy = files.read(this.#name);
    if (copy === null) return codes;
    try {
      const header = JSON.parse(copy.toString('latin1', 0, headerLength)) as Header;
      if (header.build !== build || header.engine !== engine) return codes;
      for (const [name, place] of Object.entries(header.places)) codes.set(name, copy.subarray(...place));
      return codes;
    } catch {
      return new Map();
    }
  }

  /** The header and the stored and new code; null if the header is too long. */
  #copy(): Buffer | null {
    const codes = new Map(this.#stored);
    for (const [name, script] of this.#unsaved) codes.set(name, script.createCachedData());
    const places: Header['places'] = {};
    const parts: Buffer[] = [];
    let end = headerLength;
    for (const [name, code] of codes) {
      const begin = end + (-end & (alignment - 1));
      parts.push(Buffer.alloc(begin - end), code);
      end = begin + code.length;
      places[name] = [begin, end];
    }
    const { build } = this.#options;
    const header = JSON.stringify({ build, engine, places } satisfies Header).padEnd(headerLength);
    return header.length > headerLength ? null : Buffer.concat([Buffer.from(header), ...parts]);
  }

  /** A new build replaces the old one. */
  get #name(): string {
    return `cli.${this.#options.command}.${engine}.code`;
  }
}

const wrapped = (bundle: Buffer) => Buffer.concat([opening, bundle, closing]);

/** Read to where it belongs: to copy the service's code takes a fortieth of a command in the sandbox. */
function wrappedFile(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const source = Buffer.allocUnsafeSlow(opening.length + size + closing.length);
    opening.copy(source);
    closing.copy(source, opening.length + size);
    // A disk over a network may return less at once.
    const isWhole = readSync(descriptor, source, opening.length, size, 0) === size;
    return isWhole ? source : wrapped(readFileSync(file));
  } finally {
    closeSync(descriptor);
  }
}

/** `cli/main.cjs`: folders have bundles of the same name. */
const nameOf = (file: string) => `${basename(dirname(file))}/${basename(file)}`;
