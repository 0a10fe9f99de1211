import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { makeFolder } from './platform/make-folder.js';

export interface CodeCacheOptions {
  /** Private folder of the caches, created if missing; null to work without. */
  folder: string | null;
  /** Identifies the build: another build's code is not used. */
  build: string;
  /** Letters and dashes that identify the command: each runs other parts of a bundle, so each has its own code. */
  command: string;
  /** The user id that must own the files. */
  user: number;
  /** Loads everything except our bundles. */
  require: (id: string) => unknown;
  /** Reads the bytes of a bundle. Default: from the file. */
  read?: (file: string) => Buffer;
}

interface Header {
  build: string;
  engine: string;
  /** Where the code of each bundle starts and ends in a copy. */
  places: Record<string, [begin: number, end: number]>;
}

/** The code of the bundles in a folder, by file name. */
type Codes = Map<string, Buffer>;

/** The header is padded so that the code after it is aligned as V8 requires. */
const headerLength = 4096;
const alignment = 16;
const longestFile = 8 * 2 ** 20;
/** If there are more, all are deleted; those still in use return. */
const mostFiles = 64;
const engine = `${process.version}-${process.arch}`;
const opening = Buffer.from('(function (exports, require, module, __filename, __dirname) {');
const closing = Buffer.from('\n})');

/**
 * Loads CommonJS bundles with the code that V8 compiled for an earlier start. A failure here is not an error: the
 * code is then compiled as usual. V8 does not detect damage in such code; it crashes or, worse, runs it. So each file
 * has two copies, and is used only if they are equal (a checksum would cost more than it saves). A file has the code
 * of all bundles that a command needs from a folder, because few files are faster.
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #modules = new Map<string, { exports: unknown }>();
  /** By folder. */
  readonly #stored = new Map<string, Codes>();
  readonly #unsaved = new Map<string, Script>();

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
    this.#compile(file, folder).runInThisContext()(module.exports, requireFrom, module, file, folder);
    return module.exports;
  }

  /** Stores the compiled code. Call it at the end of a short process that succeeded. */
  save(): void {
    for (const folder of new Set([...this.#unsaved.keys()].map(dirname))) this.#write(folder);
  }

  #compile(file: string, folder: string): Script {
    // The build keeps bundles ASCII, which V8 stores in half the space. They must be joined as bytes.
    const { read = readFileSync } = this.#options;
    const source = Buffer.concat([opening, read(file), closing]).toString('latin1');
    const cachedData = this.#codesOf(folder).get(basename(file));
    const script = new Script(source, {
      filename: file,
      columnOffset: -opening.length,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (cachedData === undefined || script.cachedDataRejected) this.#unsaved.set(file, script);
    return script;
  }

  #codesOf(folder: string): Codes {
    const codes = this.#stored.get(folder) ?? this.#read(folder);
    this.#stored.set(folder, codes);
    return codes;
  }

  #read(bundles: string): Codes {
    const { folder, build } = this.#options;
    const codes: Codes = new Map();
    if (folder === null) return codes;
    try {
      if (!this.#isPrivate(lstatSync(folder))) return codes;
      const content = this.#readPrivate(this.#place(folder, bundles));
      const copy = content.subarray(0, content.length / 2);
      if (!copy.equals(content.subarray(copy.length))) return codes;
      const header = JSON.parse(copy.toString('latin1', 0, headerLength)) as Header;
      if (header.build !== build || header.engine !== engine) return codes;
      for (const [name, place] of Object.entries(header.places)) codes.set(name, copy.subarray(...place));
      return codes;
    } catch {
      return new Map();
    }
  }

  #readPrivate(file: string): Buffer {
    // O_NONBLOCK: opening a named pipe would hang.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile() || !this.#isPrivate(stats) || stats.size > longestFile) throw new Error('not ours');
      const content = Buffer.allocUnsafeSlow(stats.size);
      return content.subarray(0, readSync(descriptor, content));
    } finally {
      closeSync(descriptor);
    }
  }

  #isPrivate({ uid, mode }: Stats): boolean {
    return uid === this.#options.user && (mode & 0o022) === 0;
  }

  #write(bundles: string): void {
    const { folder } = this.#options;
    if (folder === null) return;
    const place = this.#place(folder, bundles);
    const beside = `${place}.${process.pid}`;
    try {
      const copy = this.#copyOf(bundles);
      if (copy === null) return;
      makeFolder(folder);
      if (!this.#isPrivate(lstatSync(folder))) return;
      makeRoom(folder);
      writeFileSync(beside, Buffer.concat([copy, copy]), { flag: 'wx', mode: 0o600 });
      renameSync(beside, place);
    } catch {
      discard(beside);
    }
  }

  /** The header and the stored and new code; null if it is too long. */
  #copyOf(bundles: string): Buffer | null {
    const codes: Codes = new Map(this.#stored.get(bundles));
    for (const [file, script] of this.#unsaved)
      if (dirname(file) === bundles) codes.set(basename(file), script.createCachedData());
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
    if (header.length > headerLength || 2 * end > longestFile) return null;
    return Buffer.concat([Buffer.from(header), ...parts]);
  }

  /** A new build replaces the old one. */
  #place(folder: string, bundles: string): string {
    return join(folder, `${basename(bundles)}.${this.#options.command}.${engine}.code`);
  }
}

/**
 * Versions of Node.js come and go and leave their files. If the XDG folders are the same folder, other files are
 * beside them.
 */
function makeRoom(folder: string): void {
  const names = readdirSync(folder).filter((name) => /\.code(?:\.\d+)?$/.test(name));
  if (names.length < mostFiles) return;
  for (const name of names) discard(join(folder, name));
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}
