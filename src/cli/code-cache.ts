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
import { basename, dirname, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { makeFolder } from './platform/make-folder.js';

export interface CodeCacheOptions {
  /** Private folder of the caches, made when missing; null works without. */
  folder: string | null;
  /** Names the build: another build's code is not used. */
  build: string;
  /** Letters and dashes that name the command: each runs other parts of a bundle, so each has its own code. */
  command: string;
  /** User id that must own the files. */
  user: number;
  /** Loads everything that is not a bundle of ours. */
  require: (id: string) => unknown;
}

interface Header {
  build: string;
  engine: string;
  /** Bytes of one copy. */
  length: number;
}

/** The header has a place of its own, so that the code behind it is aligned as V8 wants it. */
const headerLength = 4096;
const longestFile = 8 * 2 ** 20;
/** When there are more, all go; those still in use come back. */
const mostFiles = 64;
const engine = `${process.version}-${process.arch}`;
const opening = Buffer.from('(function (exports, require, module, __filename, __dirname) {');
const closing = Buffer.from('\n})');

/**
 * Loads CommonJS bundles with the code that V8 compiled for an earlier start. Nothing that goes wrong here is
 * an error: it is then compiled as ever. V8 does not notice damage in such code, it crashes, or worse, runs it;
 * so each is stored twice, and used when both copies are equal (a checksum would cost more than it saves).
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #modules = new Map<string, { exports: unknown }>();
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
      id.startsWith('.') ? this.load(resolve(folder, id)) : this.#options.require(id);
    this.#compile(file).runInThisContext()(module.exports, requireFrom, module, file, folder);
    return module.exports;
  }

  /** Stores the compiled code. For the end of a process that went well and was short. */
  save(): void {
    for (const [file, script] of this.#unsaved) this.#write(file, script);
  }

  #compile(file: string): Script {
    // The build keeps bundles ASCII, which V8 stores in half the space. Joined as bytes, they are one string alone.
    const source = Buffer.concat([opening, readFileSync(file), closing]).toString('latin1');
    const cachedData = this.#read(file);
    const script = new Script(source, {
      filename: file,
      columnOffset: -opening.length,
      ...(cachedData === null ? {} : { cachedData }),
    });
    if (cachedData === null || script.cachedDataRejected) this.#unsaved.set(file, script);
    return script;
  }

  #read(file: string): Buffer | null {
    const { folder, build } = this.#options;
    if (folder === null) return null;
    try {
      if (!this.#isPrivate(lstatSync(folder))) return null;
      const content = this.#readPrivate(this.#place(folder, file));
      const header = JSON.parse(content.toString('utf8', 0, headerLength)) as Header;
      if (header.build !== build || header.engine !== engine) return null;
      if (content.length !== headerLength + 2 * header.length) return null;
      const code = content.subarray(headerLength, headerLength + header.length);
      return code.equals(content.subarray(headerLength + header.length)) ? code : null;
    } catch {
      return null;
    }
  }

  #readPrivate(file: string): Buffer {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
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

  #write(file: string, script: Script): void {
    const { folder, build } = this.#options;
    if (folder === null) return;
    const code = script.createCachedData();
    if (headerLength + 2 * code.length > longestFile) return;
    const header = JSON.stringify({ build, engine, length: code.length } satisfies Header);
    const place = this.#place(folder, file);
    const beside = `${place}.${process.pid}`;
    try {
      makeFolder(folder);
      if (!this.#isPrivate(lstatSync(folder))) return;
      makeRoom(folder);
      const content = Buffer.concat([Buffer.from(header.padEnd(headerLength)), code, code]);
      writeFileSync(beside, content, { flag: 'wx', mode: 0o600 });
      renameSync(beside, place);
    } catch {
      discard(beside);
    }
  }

  /** A new build takes the place of the old. */
  #place(folder: string, file: string): string {
    const bundle = `${basename(dirname(file))}-${basename(file, '.cjs')}`;
    return join(folder, `${bundle}.${this.#options.command}.${engine}.code`);
  }
}

/** Versions of Node.js come and go, and leave their files. */
function makeRoom(folder: string): void {
  const names = readdirSync(folder);
  if (names.length < mostFiles) return;
  for (const name of names) discard(join(folder, name));
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}
