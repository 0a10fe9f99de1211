import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build } from 'rolldown';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CacheFolder } from '../../../src/cli/cache/cache-folder.js';
import { CodeCache, type CodeCacheOptions } from '../../../src/cli/cache/code-cache.js';
import { emptyFolder, fileFolder } from '../../support/folders.js';

// Every start has a V8 of its own, which remembers in memory, too, what it has compiled: a thread, or a process.
const tools = fileFolder();
const starter = join(tools, 'start.cjs');
beforeAll(async () => {
  const sources = resolve(import.meta.dirname, '../../../src/cli/cache');
  const input = ['cache-folder', 'code-cache'].map((name) => join(sources, `${name}.ts`));
  const output = { dir: tools, format: 'cjs', entryFileNames: '[name].cjs' } as const;
  await build({ input, platform: 'node', output });
  writeFileSync(
    starter,
    `const { CacheFolder } = require('./cache-folder.cjs');
    const { CodeCache } = require('./code-cache.cjs');
    const given = require('node:worker_threads').workerData ?? JSON.parse(process.argv[2]);
    const { bundle, mode, folder, user, ...options } = given;
    const cache = new CodeCache({ ...options, files: new CacheFolder(folder, user), require });
    const main = cache.load(bundle);
    if (main.sum(40, 2) !== 42 || main.path !== require('node:path')) throw new Error('wrong code');
    if (mode === 'save') cache.save();`,
  );
});

const home = emptyFolder();
let folder: string;

beforeEach(() => {
  folder = join(home, 'cache', 'urtuu');
  writeFileSync(
    join(home, 'main.cjs'),
    "const other = require('./other.cjs');\nexports.sum = (a, b) => other.add(a, b);\nexports.path = require('node:path');",
  );
  writeFileSync(join(home, 'other.cjs'), 'exports.add = function add(a, b) { return a + b; };');
});

const user = process.geteuid?.() ?? -1;

type Start = Partial<Omit<CodeCacheOptions, 'files'>> & {
  folder?: string | null;
  user?: number;
  bundle?: string;
  mode?: 'save' | 'leave';
};

const optionsOf = (given: Start) => ({
  folder,
  build: 'one',
  command: 'sms-send',
  user,
  bundle: join(home, 'main.cjs'),
  mode: 'save',
  ...given,
});

/** Starts the program, which has to work whatever its cache is like. */
async function start(given: Start = {}): Promise<void> {
  const worker = new Worker(starter, { workerData: optionsOf(given), execArgv: [] });
  await once(worker, 'exit');
}

/** Starts it as a process, which V8 ends where it is given code that is none. */
function startProcess(given: Start = {}): void {
  const { status, stderr } = spawnSync(process.execPath, [starter, JSON.stringify(optionsOf(given))]);
  if (status !== 0) throw new Error(`the start failed: ${stderr}`);
}

const stored = () => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []);
const first = () => stored()[0] ?? '';

/** Whether a start finds nothing to add to what is stored. */
async function isUsed(given: Start = {}): Promise<boolean> {
  const old = new Date(1_000_000_000_000);
  for (const file of stored()) utimesSync(file, old, old);
  await start(given);
  return stored().every((file) => statSync(file).mtimeMs === old.getTime());
}

describe('the code cache', () => {
  it('stores the bundles of a command in a private file and uses it from the next start on', async () => {
    await start();
    expect(stored()).toHaveLength(1);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of stored()) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await isUsed()).toBe(true);
  });

  it('keeps the code of each command by itself', async () => {
    await start();
    await start({ command: 'balance' });
    expect(stored()).toHaveLength(2);
    expect(await isUsed()).toBe(true);
    expect(await isUsed({ command: 'balance' })).toBe(true);
  });

  it('takes another build for another program', async () => {
    await start();
    expect(await isUsed({ build: 'two' })).toBe(false);
    expect(await isUsed({ build: 'two' })).toBe(true);
  });

  it.each<[string, (content: Buffer) => Uint8Array]>([
    ['nothing', () => Buffer.alloc(0)],
    ['half of it', (content) => content.subarray(0, content.length / 2)],
    ['a header without code', (content) => content.subarray(0, 4096)],
    ['one bit turned in the first header', (content) => turned(content, 20)],
    ['one bit turned in the second header', (content) => turned(content, content.length / 2 + 20)],
    ['zeros', (content) => Buffer.alloc(content.length)],
    ['zeros behind the header', (content) => Buffer.from(content).fill(0, 4096)],
    ['another text', () => Buffer.from('{"build":"one"}'.padEnd(9000))],
    ['one bit turned in the first copy', (content) => turned(content, 4096 + 100)],
    ['one bit turned in the second copy', (content) => turned(content, content.length - 100)],
    ['one byte more', (content) => Buffer.concat([content, Buffer.from('x')])],
  ])('compiles as ever where the file holds %s', async (_, damage) => {
    await start();
    for (const file of stored()) writeFileSync(file, damage(readFileSync(file)));
    expect(await isUsed()).toBe(false);
    expect(await isUsed()).toBe(true);
  });

  it.each<[string, () => void]>([
    ['a file that others can write', () => chmodSync(first(), 0o606)],
    ['a file that its group can write', () => chmodSync(first(), 0o660)],
    ['a folder that others can write', () => chmodSync(folder, 0o777)],
    [
      'a link to a file',
      () => {
        const file = first();
        renameSync(file, join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), file);
      },
    ],
    [
      'a link to a folder',
      () => {
        renameSync(folder, join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), folder);
      },
    ],
  ])('does not trust %s', (_, loosen) => {
    startProcess();
    writeFileSync(first(), poisoned(readFileSync(first())));
    expect(() => startProcess({ mode: 'leave' })).toThrow('the start failed');
    loosen();
    startProcess({ mode: 'leave' });
  });

  it('does not trust what another user owns', async () => {
    startProcess({ user: user + 1 });
    expect(stored()).toEqual([]);
    startProcess();
    expect(await isUsed({ user: user + 1 })).toBe(true);
    writeFileSync(first(), poisoned(readFileSync(first())));
    startProcess({ user: user + 1 });
  });

  it.each<[string, () => void]>([
    ['a file stands in the place of the folder', () => writeFileSync(join(home, 'cache'), '')],
    ['a folder stands in the place of the file', () => {}],
  ])('starts without where %s', async (name, make) => {
    if (name.startsWith('a folder')) {
      await start();
      for (const file of stored()) {
        rmSync(file);
        mkdirSync(file);
      }
    }
    make();
    await start();
    await start();
  });

  it('starts without a folder', async () => {
    await start({ folder: null });
    expect(stored()).toEqual([]);
  });

  it('loads a bundle once, also from a folder without a drive, as \\cli on Windows', () => {
    const sources: Record<string, string> = {
      'main.cjs': "exports.other = require('./other.cjs');",
      'other.cjs': "exports.main = require('./main.cjs');",
    };
    const read = (file: string) => Buffer.from(sources[basename(file)] ?? '');
    const cache = new CodeCache({
      files: new CacheFolder(null, user),
      build: '',
      command: '',
      require,
      read,
    });
    const main = cache.load('cli/main.cjs') as { other: { main: unknown } };
    expect(main.other.main).toBe(main);
  });

  it('lets many processes store at once', async () => {
    const options = JSON.stringify({
      folder,
      build: 'one',
      user,
      bundle: join(home, 'main.cjs'),
      mode: 'save',
    });
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => {
        const child = spawn(process.execPath, [starter, options]);
        return new Promise((settle) => child.on('close', settle));
      }),
    );
    expect(codes).toEqual(Array(8).fill(0));
    expect(stored()).toHaveLength(1);
    await start();
    expect(await isUsed()).toBe(true);
  });

  it('does not grow without end', async () => {
    await start();
    for (let number = 0; number < 63; number += 1) writeFileSync(join(folder, `old-${number}.code`), '');
    await start({ command: 'balance' });
    expect(stored()).toHaveLength(1);
    expect(await isUsed({ command: 'balance' })).toBe(true);
  });

  it('removes nothing that is not its own: all XDG folders may be one', async () => {
    await start();
    const others = ['config.json', 'used-keys', 'history.ndjson', 'recent-ids', 'x.code.bak'];
    for (const name of others) writeFileSync(join(folder, name), name);
    for (let number = 0; number < 99; number += 1) writeFileSync(join(folder, `own-${number}`), '');
    for (let number = 0; number < 63; number += 1) writeFileSync(join(folder, `old-${number}.code.17`), '');
    await start({ command: 'balance' });
    const left = readdirSync(folder);
    expect(left).toEqual(expect.arrayContaining(others));
    expect(left.filter((name) => name.startsWith('own-'))).toHaveLength(99);
    expect(left.filter((name) => /\.code(?:\.17)?$/.test(name))).toHaveLength(1);
  });

  it('does not wait for a writer where a named pipe stands in the place of the file', async () => {
    await start();
    const file = first();
    rmSync(file);
    execFileSync('mkfifo', ['-m', '600', file]);
    await start();
    expect(statSync(file).isFile()).toBe(true);
  });

  it('adds the bundles that a start needs beside those of an earlier one', async () => {
    await start();
    writeFileSync(
      join(home, 'more.cjs'),
      "exports.sum = require('./main.cjs').sum; exports.path = require('node:path');",
    );
    const more = { bundle: join(home, 'more.cjs') };
    expect(await isUsed(more)).toBe(false);
    expect(await isUsed(more)).toBe(true);
    expect(await isUsed()).toBe(true);
  });

  it('keeps the code of a command in one file, also of bundles that have one name in two folders', async () => {
    mkdirSync(join(home, 'parts'));
    writeFileSync(
      join(home, 'parts', 'other.cjs'),
      'exports.add = (a, b) => require("../other.cjs").add(a, b);',
    );
    const main = join(home, 'main.cjs');
    writeFileSync(main, readFileSync(main, 'utf8').replace('./other.cjs', './parts/other.cjs'));
    await start();
    expect(stored()).toHaveLength(1);
    expect(await isUsed()).toBe(true);
  });

  it('keeps stack traces that point into the bundle', async () => {
    writeFileSync(join(home, 'other.cjs'), 'exports.add = () => { throw new Error("from here"); };');
    const stack = expect.stringContaining(`${join(home, 'other.cjs')}:1:29`);
    await expect(start()).rejects.toMatchObject({ stack });
  });
});

function turned(content: Buffer, at: number): Buffer {
  const copy = Buffer.from(content);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Both copies damaged alike: V8 would crash on it, if it were given to V8. */
function poisoned(content: Buffer): Buffer {
  const half = content.length / 2;
  const { places } = JSON.parse(content.toString('utf8', 0, 4096));
  const copy = Buffer.from(content);
  for (const [begin, end] of Object.values<[number, number]>(places))
    for (const start of [0, half]) copy.fill(0xff, start + begin + 64, start + end);
  return copy;
}
