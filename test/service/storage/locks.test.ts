import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { GroupCommit } from '../../../src/service/storage/sqlite/database/group-commit.js';
import { openDatabase } from '../../../src/service/storage/sqlite/database/open.js';
import { Machine } from '../../support/binary.js';
import { Cores, requestsTo, takeToken } from '../../support/cores.js';
import { fileFolder } from '../../support/folders.js';

const { DatabaseSync } = await loadEngine();
const cores = new Cores();
const machine = new Machine();
const folder = fileFolder();
afterEach(() => cores.closeAll());
afterAll(() => machine.remove());

let core: Core;
const { send, balance } = requestsTo(() => core);

/** What another program does to a file: it writes, and takes its time. */
function lock(path: string): () => void {
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  return () => {
    other.exec('ROLLBACK');
    other.close();
  };
}

/** Milliseconds; a lock is never waited for, but the machine that runs this may be busy. */
const tooLong = 500;

/** The longest time in which the process did nothing else, while `work` was going on. */
async function longestStandstill(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let over = false;
  void work.finally(() => {
    over = true;
  });
  while (!over) {
    await new Promise(setImmediate);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return longest;
}

describe('a file that another process has locked', () => {
  it('service.db: a send waits for it while reads are answered, and is then done once', async () => {
    const directory = cores.folder();
    core = await cores.open({ directory });
    const unlock = lock(join(directory, 'service.db'));
    const sending = send('99112233', 'Hi', 'k');
    expect(await balance()).toBe(100_000);
    unlock();
    expect(await sending).toMatchObject({ status: 200, replayed: false });
    expect(await balance()).toBe(99_990);
  });

  it('service.db: nothing blocks meanwhile', async () => {
    const directory = cores.folder();
    core = await cores.open({ directory });
    const unlock = lock(join(directory, 'service.db'));
    const waiting = Promise.all(
      Array.from({ length: 50 }, (_, index) => send(`${99_000_100 + index}`, 'Hi')),
    );
    const looking = (async () => {
      for (let reads = 0; reads < 200; reads += 1) {
        await balance();
        await new Promise(setImmediate);
      }
    })();
    expect(await longestStandstill(looking)).toBeLessThan(tooLong);
    unlock();
    expect((await waiting).every(({ status }) => status === 200)).toBe(true);
  });

  it('for too long: the write is refused with 503 and Retry-After, and nothing is written', async () => {
    const path = join(folder, 'refused.db');
    const database = await openDatabase(path, { synchronous: 'off', migrations: ['CREATE TABLE t (x)'] });
    const commits = new GroupCommit(database, { patience: 60 });
    const insert = database.prepare('INSERT INTO t VALUES (?)');
    const unlock = lock(path);
    const refused = [1, 2, 3].map((x) => commits.run(() => insert.run(x)));
    for (const result of await Promise.allSettled(refused)) {
      expect(result).toMatchObject({ reason: { code: 'unavailable', status: 503, retryAfter: 1 } });
    }
    unlock();
    await commits.run(() => insert.run(4));
    expect(database.prepare('SELECT x FROM t').all()).toEqual([{ x: 4 }]);
    await commits.close();
    database.close();
  });

  it('a waiting write is done before the store closes', async () => {
    const path = join(folder, 'closing.db');
    const database = await openDatabase(path, { synchronous: 'off', migrations: ['CREATE TABLE t (x)'] });
    const commits = new GroupCommit(database);
    const insert = database.prepare('INSERT INTO t VALUES (?)');
    const unlock = lock(path);
    const written = commits.run(() => insert.run(1));
    const closed = commits.close();
    await expect(commits.run(() => insert.run(2))).rejects.toThrow('closed');
    unlock();
    await Promise.all([written, closed]);
    expect(database.prepare('SELECT x FROM t').all()).toEqual([{ x: 1 }]);
    database.close();
  });

  it('rates.db: requests go on, at the rate', async () => {
    const directory = cores.folder();
    const clock = new ManualClock();
    core = await cores.open({ directory, clock });
    const unlock = lock(join(directory, 'rates.db'));
    const take = () => takeToken(core, 'sending');
    const taking = (async () => {
      let allowed = 0;
      for (let request = 0; request < 60; request += 1) if ((await take()).allowed) allowed += 1;
      return allowed;
    })();
    expect(await longestStandstill(taking)).toBeLessThan(tooLong);
    expect(await taking).toBe(40);
    clock.advance(500);
    expect(await take()).toMatchObject({ allowed: true, remaining: 9 });
    unlock();
    // The file was not told of the 41 before.
    expect(await take()).toMatchObject({ allowed: true, remaining: 8 });
  });

  it('while it is opened: another opener waits for it', async () => {
    const directory = cores.folder();
    await (await cores.open({ directory })).close();
    const unlock = lock(join(directory, 'service.db'));
    const opening = cores.open({ directory });
    expect(await longestStandstill(new Promise((resolve) => setTimeout(resolve, 30)))).toBeLessThan(tooLong);
    unlock();
    core = await opening;
    expect(await balance()).toBe(100_000);
  });
});

describe('rates.db that cannot be used', () => {
  const garbage = 'This is no database. '.repeat(500);
  const damage = (path: string) => {
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    writeFileSync(path, garbage);
  };
  const taken = async (requests: number) => {
    let allowed = 0;
    for (let request = 0; request < requests; request += 1)
      if ((await takeToken(core, 'reading')).allowed) allowed += 1;
    return allowed;
  };

  it('is moved away, reported, and created anew', async () => {
    const directory = cores.folder();
    await (await cores.open({ directory })).close();
    const path = join(directory, 'rates.db');
    damage(path);
    const reports: unknown[] = [];
    const clock = new ManualClock();
    core = await cores.open({ directory, clock, report: (error) => reports.push(error) });
    expect(await taken(11)).toBe(10);
    expect(readFileSync(`${path}.damaged`, 'utf8')).toBe(garbage);
    // A line without frames: nothing is wrong with the program.
    expect(reports).toMatchObject([
      {
        level: 'warning',
        stack: `Error: ${path} was moved to ${path}.damaged and created anew: file is not a database`,
      },
    ]);
    const other = await cores.open({ directory, clock });
    expect((await takeToken(other, 'reading')).allowed).toBe(false);
  });

  it('because it belongs to another installation is moved away', async () => {
    const directory = cores.folder();
    const foreign = cores.folder();
    const clock = new ManualClock();
    core = await cores.open({ directory: foreign, clock });
    await taken(10);
    await core.close();
    await (await cores.open({ directory })).close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory, `rates.db${suffix}`), { force: true });
    const mine = new DatabaseSync(join(foreign, 'rates.db'));
    mine.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    mine.close();
    writeFileSync(join(directory, 'rates.db'), readFileSync(join(foreign, 'rates.db')));
    core = await cores.open({ directory, clock });
    expect(await taken(11)).toBe(10);
    expect(existsSync(join(directory, 'rates.db.damaged'))).toBe(true);
  });

  it('because it is a folder: rates live in memory', async () => {
    const directory = cores.folder();
    await (await cores.open({ directory })).close();
    const path = join(directory, 'rates.db');
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    execFileSync('mkdir', ['-p', join(path, 'x')]);
    const reports: unknown[] = [];
    core = await cores.open({ directory, clock: new ManualClock(), report: (error) => reports.push(error) });
    expect(await taken(11)).toBe(10);
    expect(reports).toHaveLength(1);
    expect(statSync(path).isDirectory()).toBe(true);
  });
});

const hasPrlimit = existsSync('/usr/bin/prlimit');

describe.skipIf(!hasPrlimit)('a full disk', () => {
  // A limit on the size of files fills up just as a disk does.
  it('answers reads, refuses sends with 503, and goes on when there is room', async () => {
    const data = join(machine.home, 'service');
    const { child, base_url, api_key } = await machine.serve(['--data', data]);
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
    const read = async () => (await fetch(`${base_url}/balance`, { headers })).status;
    const post = async () => {
      const body = JSON.stringify({ to: '99112233', text: 'Hi' });
      return (await fetch(`${base_url}/sms`, { method: 'POST', headers, body })).status;
    };
    const room = (bytes: string) =>
      execFileSync('/usr/bin/prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
    try {
      expect([await read(), await post()]).toEqual([200, 200]);
      room('1');
      expect([await read(), await read(), await post(), await read()]).toEqual([200, 200, 503, 200]);
      room('unlimited');
      expect([await read(), await post()]).toEqual([200, 200]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
