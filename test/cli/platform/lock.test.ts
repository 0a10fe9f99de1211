import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder, lockHolder } from '../../../src/cli/platform/lock.js';
import { fileFolder } from '../../support/folders.js';

const root = fileFolder();
const holder = join(root, 'holder.mjs');
const taker = join(root, 'taker.mjs');
beforeAll(async () => {
  await bundle(
    holder,
    `const lock = await lockFolder(process.argv[2]);
     console.log(lock.held ? 'held' : 'busy ' + lock.pid);
     if (lock.held) setInterval(() => {}, 1000);`,
  );
  await bundle(
    taker,
    `import { closeSync, openSync, unlinkSync } from 'node:fs';
     const inside = process.argv[3];
     for (let taken = 0; taken < 100; ) {
       const lock = await lockFolder(process.argv[2]);
       if (!lock.held) continue;
       taken += 1;
       closeSync(openSync(inside, 'wx'));
       await new Promise((resolve) => setTimeout(resolve, 1));
       unlinkSync(inside);
       await lock.release();
     }
     console.log('alone');`,
  );
  chmodSync(root, 0o755);
});

/** A program that knows `lockFolder`. */
async function bundle(outfile: string, text: string): Promise<void> {
  const contents = `import { lockFolder } from './src/cli/platform/lock.ts';\n${text}`;
  const stdin = { contents, resolveDir: process.cwd() };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile });
}

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(root, 'job-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Another process that asks for the lock; with what it says. */
async function another(
  place = folder,
  [program, ...args]: [program: string, ...args: string[]] = [holder],
): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [program, place, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { child, said: String(said).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function held(place = folder): Promise<() => Promise<void>> {
  const lock = await lockFolder(place);
  expect(lock.held).toBe(true);
  return lock.held ? lock.release : async () => {};
}

const numbers = () => readdirSync(folder).filter((name) => /^lock\.\d+$/.test(name));

describe('the lock of a job', () => {
  it('is held by one process at a time, which says who it is', async () => {
    expect(await lockHolder(folder)).toBe(null);
    const release = await held();
    expect(await lockFolder(folder)).toEqual({ held: false, pid: process.pid });
    expect(await lockHolder(folder)).toEqual({ pid: process.pid });
    await release();
    expect(await lockHolder(folder)).toBe(null);
    await (await held())();
  });

  it('is freed by kill -9', async () => {
    const { child, said } = await another();
    expect(said).toBe('held');
    expect(await lockFolder(folder)).toEqual({ held: false, pid: child.pid });
    await kill(child);
    expect(await lockHolder(folder)).toBe(null);
    await (await held())();
  });

  it('goes to one of many processes when its holder was killed', async () => {
    const { child } = await another();
    await kill(child);
    const said = await Promise.all(Array.from({ length: 6 }, () => another().then((each) => each.said)));
    expect(said.filter((each) => each === 'held')).toHaveLength(1);
  });

  it('goes to one of many takers in one process, again and again', async () => {
    for (let round = 0; round < 20; round += 1) {
      const locks = await Promise.all(Array.from({ length: 8 }, () => lockFolder(folder)));
      const winners = locks.filter((lock) => lock.held);
      expect(winners).toHaveLength(1);
      for (const lock of winners) if (lock.held) await lock.release();
    }
  });

  it('is held by one of many processes that take and release it without a pause', async () => {
    const inside = join(root, 'inside');
    const takers = Array.from({ length: 4 }, () => another(folder, [taker, inside]));
    const said = await Promise.all(takers);
    expect(said.map((each) => each.said)).toEqual(Array(4).fill('alone'));
  });

  it('stays with a process that is paused', async () => {
    const { child } = await another();
    child.kill('SIGSTOP');
    expect(await lockFolder(folder)).toEqual({ held: false, pid: null });
  });

  it('takes each number once, and leaves one file behind, which can be copied', async () => {
    for (const number of [1, 2, 3]) {
      const release = await held();
      expect(numbers()).toEqual([`lock.${number}`]);
      await release();
      expect(numbers()).toEqual([`lock.${number}`]);
    }
    cpSync(folder, join(folder, '../copy'), { recursive: true });
    expect(statSync(join(folder, '../copy/lock.3')).size).toBe(0);
  });

  it('clears away what killed processes left', async () => {
    for (let life = 0; life < 2; life += 1) await kill((await another()).child);
    writeFileSync(join(folder, 'lock.new-1-abcd'), '');
    const release = await held();
    expect(readdirSync(folder)).toEqual(['lock.3']);
    await release();
  });

  it('is not lost to a process that looked long ago: the highest number counts', async () => {
    const release = await held();
    // What such a process would do: link the number that was the next one when it looked.
    symlinkSync('nowhere', join(folder, 'lock.7'));
    expect(await lockHolder(folder)).toBe(null);
    const later = await held();
    expect(numbers()).toEqual(['lock.8']);
    await release();
    expect(await lockHolder(folder)).toEqual({ pid: process.pid });
    await later();
  });

  it('works in a folder whose path is longer than the address of a socket', async () => {
    folder = join(folder, 'a'.repeat(100), 'b'.repeat(60));
    mkdirSync(folder, { recursive: true });
    const { child, said } = await another();
    expect(said).toBe('held');
    expect(await lockFolder(folder)).toEqual({ held: false, pid: child.pid });
    await kill(child);
    await (await held())();
    expect(readdirSync(folder)).toEqual(['lock.2']);
  });

  it('is the same by every path to the folder', async () => {
    symlinkSync(folder, `${folder}-link`);
    const release = await held();
    expect(await lockFolder(`${folder}-link`)).toEqual({ held: false, pid: process.pid });
    await release();
  });

  it('is not taken in a folder that is gone', async () => {
    await expect(lockFolder(join(folder, 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(process.platform === 'linux')('is no name that another user can take first', async () => {
    // An earlier release listened on this name, which any process of the machine can have.
    const hash = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
    const outsider = createServer((socket) => socket.end('1'));
    outsider.listen(`\0urtuu-${process.getuid?.() ?? 0}-${hash}`);
    await once(outsider, 'listening');
    await (await held())();
    outsider.close();
  });

  it.runIf(process.getuid?.() === 0)('cannot be taken, kept or freed by another user', async () => {
    chownSync(folder, 1234, 1234);
    chmodSync(folder, 0o700);
    const asUser = (uid: number) =>
      new Promise<string>((resolve) => {
        const child = spawn(process.execPath, [holder, folder], { uid, gid: uid, cwd: '/' });
        children.push(child);
        child.stdout.on('data', (data) => resolve(String(data).trim()));
        child.on('exit', () => resolve('failed'));
      });
    expect(await asUser(4321)).toBe('failed');
    expect(await asUser(1234)).toBe('held');
    expect(lstatSync(join(folder, 'lock.1')).uid).toBe(1234);
  });
});

describe('the lock of a job where no socket can be made', () => {
  it.runIf(process.platform === 'linux')(
    'is none, and the job goes on: the keys are the safety',
    async () => {
      await (await held('/proc/self'))();
    },
  );
});
