import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Script } from 'node:vm';

export interface CodeCacheOptions {
  /** Private folder of the caches, made when missing; null works without. */
  folder: string | null;
  /** Names the build: another build's code is not used. */
  build: string;
  /** The shape of the command line; a new shape has probably run code that the cache does not hold yet. */
  shape: string;
  /** User id that must own what is read. */
  user: number;
  /** Loads everything that is not a bundle of ours. */
  require: (id: string) => unknown;
}

interface Header {
  build: string;
  engine: string;
  /** Bytes of one copy. */
  length: number;
  shapes: string[];
}

interface Entry {
  script: Script;
  shapes: string[];
}

/** The header has a place of its own, so that the code behind it is aligned as V8 wants it. */
const headerLength = 4096;
const mostShapes = 64;
const longestCache = 8 * 2 ** 20;
const engine = `${process.version} ${process.arch}`;
const wrapper = '(function (exports, require, module, __filename, __dirname) {';

/**
 * Loads CommonJS bundles with the code that V8 compiled for an earlier start. Nothing that goes wrong here is
 * an error: it is then compiled as ever. V8 does not notice damage in such code, it crashes, or worse, runs it;
 * so each is stored twice, and used when both copies are equal (a checksum would cost more than it saves).
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #unsaved = new Map<string, Entry>();

  constructor(options: CodeCacheOptions) {
    this.#options = options;
  }

  /** What the bundle exports. */
  load(file: string): unknown {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const folder = dirname(file);
    const requireFrom = (id: string) =>
      id.startsWith('.') ? this.load(resolve(folder, id)) : this.#options.require(id);
    this.#compile(file).runInThisContext()(module.exports, requireFrom, module, file, folder);
    return module.exports;
  }

  /** Stores what is new. For the end of a process that went well and was short. */
  save(): void {
    for (const [file, { script, shapes }] of this.#unsaved) {
      if (shapes.length < mostShapes) this.#write(file, script, [...shapes, this.#options.shape]);
    }
  }

  #compile(file: string): Script {
    // The build keeps bundles ASCII, which V8 stores in half the space.
    const source = `${wrapper}${fs.readFileSync(file, 'latin1')}\n})`;
    const stored = this.#read(file);
    const script = new Script(source, {
      filename: file,
      columnOffset: -wrapper.length,
      ...(stored === null ? {} : { cachedData: stored.code }),
    });
    const shapes = stored === null || script.cachedDataRejected ? [] : stored.shapes;
    if (!shapes.includes(this.#options.shape)) this.#unsaved.set(file, { script, shapes });
    return script;
  }

  #read(file: string): { code: Buffer; shapes: string[] } | null {
    const { folder, build } = this.#options;
    if (folder === null) return null;
    try {
      if (!this.#isPrivate(fs.lstatSync(folder))) return null;
      const content = this.#readPrivate(join(folder, nameOf(file)));
      const header = JSON.parse(content.toString('utf8', 0, headerLength)) as Header;
      const { length, shapes } = header;
      if (header.build !== build || header.engine !== engine) return null;
      if (content.length !== headerLength + 2 * length) return null;
      const code = content.subarray(headerLength, headerLength + length);
      return code.equals(content.subarray(headerLength + length)) ? { code, shapes } : null;
    } catch {
      return null;
    }
  }

  #readPrivate(file: string): Buffer {
    const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      const stats = fs.fstatSync(descriptor);
      if (!stats.isFile() || !this.#isPrivate(stats) || stats.size > longestCache)
        throw new Error('not ours');
      const content = Buffer.allocUnsafeSlow(stats.size);
      return content.subarray(0, fs.readSync(descriptor, content));
    } finally {
      fs.closeSync(descriptor);
    }
  }

  #isPrivate({ uid, mode }: fs.Stats): boolean {
    return uid === this.#options.user && (mode & 0o022) === 0;
  }

  #write(file: string, script: Script, shapes: string[]): void {
    const { folder, build } = this.#options;
    if (folder === null) return;
    const code = script.createCachedData();
    const header = JSON.stringify({ build, engine, length: code.length, shapes } satisfies Header);
    if (header.length > headerLength || headerLength + 2 * code.length > longestCache) return;
    const place = join(folder, nameOf(file));
    const beside = `${place}.${process.pid}`;
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!this.#isPrivate(fs.lstatSync(folder))) return;
      const content = Buffer.concat([Buffer.from(header.padEnd(headerLength)), code, code]);
      fs.writeFileSync(beside, content, { flag: 'wx', mode: 0o600 });
      fs.renameSync(beside, place);
    } catch {
      try {
        fs.rmSync(beside, { force: true });
      } catch {}
    }
  }
}

/** One file for each bundle and version of Node.js; a new build takes the place of the old. */
const nameOf = (file: string) =>
  `${file
    .split(/[/\\]/)
    .slice(-2)
    .join('-')
    .replace(/\.cjs$/, '')}-${process.version}-${process.arch}.code`;
