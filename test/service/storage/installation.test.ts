import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Core } from '../../../src/service/core.js';
import { DataError } from '../../../src/service/errors/data-error.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { lookEvery } from '../../../src/service/storage/sqlite/installation/guard.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { Cores, caller, outboxOf, requestsTo } from '../../support/cores.js';
import { downgrade } from '../../support/old-schema.js';

const cores = new Cores();
let directory: string;
let core: Core;
beforeEach(() => {
  directory = join(cores.folder(), 'data');
});
afterEach(() => cores.closeAll());

const { send, balance } = requestsTo(() => core);
const at = (name: string) => join(directory, name);
const epochs = () =>
  JSON.parse(readFileSync(at('installation.json'), 'utf8')) as { id: string; epoch: number };

async function use(): Promise<void> {
  core = await cores.open({ directory });
  await send('99112233', 'Hi');
  await core.close();
}

/** What the folder holds while a service has it open: after a copy of it, as after a kill. */
async function copyOfOpen(): Promise<void> {
  core = await cores.open({ directory });
  await send('99112234', 'Hi');
  const copy = `${directory}.copy`;
  cpSync(directory, copy, { recursive: true });
  await core.close();
  rmSync(directory, { recursive: true });
  renameSync(copy, directory);
}

/** The folder as it is, as after a kill of all that have it open. */
function copyAside(): void {
  cpSync(directory, `${directory}.copy`, { recursive: true });
  directory = `${directory}.copy`;
}

function remove(name: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(at(name) + suffix, { force: true });
}

async function foreign(name: string): Promise<void> {
  const other = join(cores.folder(), 'other');
  await (await cores.open({ directory: other })).close();
  remove(name);
  copyFileSync(join(other, name), at(name));
}

/** Uses the folder twice more, with the file as it was before. */
async function old(name: string, between: () => Promise<void> = use): Promise<void> {
  const kept = join(cores.folder(), 'kept');
  copyFileSync(at(name), kept);
  await between();
  await between();
  remove(name);
  copyFileSync(kept, at(name));
}

async function moveEpochs(operator: number, written: number): Promise<void> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(at('operator.db'));
  database.exec(`UPDATE installation SET epoch = epoch + (${operator})`);
  database.close();
  writeFileSync(at('installation.json'), JSON.stringify({ ...epochs(), epoch: epochs().epoch + written }));
}

const damage: [name: string, how: () => void | Promise<void>, told: RegExp][] = [
  ['service.db missing', () => remove('service.db'), /service\.db is missing/],
  ['service.db of no bytes', () => truncateSync(at('service.db'), 0), /service\.db is empty/],
  ['service.db of one page', () => truncateSync(at('service.db'), 4_096), /service\.db is damaged/],
  [
    'service.db cut off',
    () => use().then(() => truncateSync(at('service.db'), 40_960)),
    /service\.db was cut off/,
  ],
  [
    'operator.db cut off',
    () => use().then(() => truncateSync(at('operator.db'), 8_192)),
    /operator\.db was cut off/,
  ],
  ['service.db garbage', () => writeFileSync(at('service.db'), 'x'.repeat(9_000)), /service\.db is damaged/],
  ['service.db of another', () => foreign('service.db'), /do not belong together/],
  ['service.db of before', () => old('service.db'), /service\.db is an old copy/],
  ['operator.db missing', () => remove('operator.db'), /operator\.db is missing/],
  ['operator.db of no bytes', () => truncateSync(at('operator.db'), 0), /operator\.db is empty/],
  [
    'operator.db garbage',
    () => writeFileSync(at('operator.db'), 'x'.repeat(9_000)),
    /operator\.db is damaged/,
  ],
  ['operator.db of another', () => foreign('operator.db'), /operator\.db does not belong to service\.db/],
  ['operator.db of before', () => old('operator.db'), /operator\.db is an old copy/],
  ['secret missing', () => remove('secret'), /secret is missing/],
  ['secret cut off', () => truncateSync(at('secret'), 31), /secret is damaged/],
  ['secret of another', () => foreign('secret'), /secret is another one/],
  ['installation.json missing', () => remove('installation.json'), /installation\.json is missing/],
  [
    'installation.json of no bytes',
    () => truncateSync(at('installation.json'), 0),
    /installation\.json is damaged/,
  ],
  ['installation.json garbage', () => writeFileSync(at('installation.json'), '{"id":1}'), /json is damaged/],
  ['installation.json of another', () => foreign('installation.json'), /do not belong together/],
  ['installation.json of before', () => old('installation.json'), /installation\.json is an old copy/],
];

const refusal = async (): Promise<DataError> => {
  const error = await cores.open({ directory }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DataError);
  return error as DataError;
};

describe.each(damage)('%s', (_, how, told) => {
  it('is refused again and again, changes nothing, and is fine when the files are put back', async () => {
    await use();
    const whole = `${directory}.whole`;
    cpSync(directory, whole, { recursive: true });
    await how();
    expect((await refusal()).message).toMatch(told);
    expect((await refusal()).message).toMatch(told);
    cpSync(whole, `${directory}.again`, { recursive: true });
    rmSync(directory, { recursive: true });
    renameSync(`${directory}.again`, directory);
    core = await cores.open({ directory });
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('can be accepted, with word of what is forgotten, and is whole from then on', async () => {
    await use();
    await how();
    expect((await refusal()).forgotten).toMatch(/\w/);
    core = await cores.open({ directory, acceptData: true });
    await send('99112235', 'Hi');
    await core.close();
    core = await cores.open({ directory });
    expect((await outboxOf(core)).at(-1)).toMatchObject({ to: '99112235' });
  });
});

it('data that was accepted has no place behind an event any more: what was reported is not known', async () => {
  core = await cores.open({ directory });
  const { next: after } = await core.operations.listEvents(caller, {});
  await core.close();
  remove('installation.json');
  core = await cores.open({ directory, acceptData: true });
  const asked = core.operations.listEvents(caller, { after });
  await expect(asked).rejects.toMatchObject({ code: 'cursor_expired' });
});

describe('a service that was killed', () => {
  it.each([
    ['in its first run', 0],
    ['after others', 2],
  ])('is refused without its -wal, %s', async (_, before) => {
    for (let run = 0; run < before; run += 1) await use();
    await copyOfOpen();
    rmSync(at('service.db-wal'));
    expect((await refusal()).message).toMatch(/-wal/);
    expect((await refusal()).message).toMatch(/-wal/);
  });

  /** A copy of the folder while the service has it open and most is in service.db already. */
  async function copyAfterCheckpoint(): Promise<void> {
    await use();
    core = await cores.open({ directory });
    const to = Array.from({ length: 1_000 }, (_, index) => `${88_000_000 + index}`);
    const params = { to, text: 'Hi' };
    await core.operations.sendSmsBulk({ caller, params, idempotencyKey: null });
    const before = statSync(at('service.db')).size;
    while (statSync(at('service.db')).size === before)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await core.administration.idle();
    await send('99112234', 'Hi');
    cpSync(directory, `${directory}.copy`, { recursive: true });
    await core.close();
    directory = `${directory}.copy`;
  }

  it('is refused without its -wal also when most of that was in service.db already', async () => {
    await copyAfterCheckpoint();
    rmSync(at('service.db-wal'));
    expect((await refusal()).message).toMatch(/service\.db lacks its -wal file/);
    expect((await refusal()).message).toMatch(/service\.db lacks its -wal file/);
  });

  it('starts when somebody has brought its -wal into service.db, as every program with SQLite does', async () => {
    await copyAfterCheckpoint();
    const { DatabaseSync } = await loadEngine();
    const other = new DatabaseSync(at('service.db'));
    other.exec('SELECT 1 FROM messages');
    other.close();
    expect(existsSync(at('service.db-wal'))).toBe(false);
    core = await cores.open({ directory });
    expect(await balance()).toBe(100_000 - 10_020);
  });

  it('and whose secret was lost starts again when it is back, with its -wal folded in by the refusal', async () => {
    await use();
    await copyOfOpen();
    renameSync(at('secret'), `${directory}.secret`);
    await refusal();
    await refusal();
    renameSync(`${directory}.secret`, at('secret'));
    core = await cores.open({ directory });
    expect(await outboxOf(core)).toHaveLength(2);
  });
});

describe('the epoch', () => {
  it('is raised at each start, in all files', async () => {
    await use();
    const first = epochs();
    await use();
    await use();
    expect(epochs()).toMatchObject({ id: first.id, epoch: first.epoch + 2 });
  });

  it('a start that was cut short between service.db and the others is made up for', async () => {
    await use();
    const kept = readFileSync(at('installation.json'));
    await use();
    // What is on disk when only installation.json was not written any more.
    writeFileSync(at('installation.json'), kept);
    await use();
    await use();
    core = await cores.open({ directory });
    expect(await outboxOf(core)).toHaveLength(4);
  });

  it.each([
    ['', -1, -1],
    [', installation.json', 0, -1],
  ])(
    'a start that was cut short before it raised operator.db%s is made up for',
    async (_, operator, written) => {
      await use();
      await use();
      await moveEpochs(operator, written);
      await use();
      core = await cores.open({ directory });
      expect(await outboxOf(core)).toHaveLength(3);
    },
  );

  it.each([
    ['operator.db', -1, 0],
    ['operator.db', -2, -1],
    ['installation.json', 0, -2],
    ['service.db', 1, 0],
    ['service.db', 0, 1],
  ])(
    'that no cut short start leaves behind is refused, for %s is an old copy',
    async (name, operator, written) => {
      await use();
      await use();
      await use();
      await moveEpochs(operator, written);
      expect((await refusal()).message).toContain(`${name} is an old copy`);
    },
  );

  it('goes on where many open and close one folder at once', async () => {
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (let time = 0; time < 3; time += 1) {
          const one = await cores.open({ directory });
          await one.operations.getBalance(caller);
          await one.close();
        }
      }),
    );
    core = await cores.open({ directory });
    expect(epochs().epoch).toBe(37);
  });
});

describe('a folder of c7d7ad4, without an id', () => {
  async function forget(): Promise<void> {
    await use();
    const { DatabaseSync } = await loadEngine();
    downgrade(at('service.db'), migrations.slice(0, 1));
    for (const [name, version] of [
      ['operator.db', 2],
      ['rates.db', 1],
    ] as const) {
      const database = new DatabaseSync(at(name));
      database.exec(`DROP TABLE installation; PRAGMA user_version = ${version}`);
      database.close();
    }
    rmSync(at('installation.json'));
  }

  it('has keys without a prefix, which go on', async () => {
    const made = await cores.open({ directory });
    const { id, secret } = await made.administration.createKey({ label: 'lost' });
    await made.close();
    await forget();
    core = await cores.open({ directory });
    expect(await core.administration.listKeys()).toMatchObject([{ id, prefix: null, label: null }]);
    const { secret: other } = await core.administration.createKey({ label: 'new' });
    expect(await core.administration.listKeys()).toMatchObject([
      { id },
      { prefix: other.slice(0, 12), label: 'new' },
    ]);
    expect(other).not.toBe(secret);
    expect(await core.administration.revokeKey(id)).toBe(true);
  });

  it('is adopted once, and a copy of what its files were is kept', async () => {
    await forget();
    core = await cores.open({ directory });
    expect(await outboxOf(core)).toHaveLength(1);
    await core.close();
    expect(readdirSync(directory)).toEqual(
      expect.arrayContaining(['service.db.schema-1', 'operator.db.schema-2', 'installation.json']),
    );
    rmSync(at('installation.json'));
    expect((await refusal()).message).toMatch(/installation\.json is missing/);
  });

  it.each([
    ['secret', /secret is missing/],
    ['service.db', /service\.db is missing/],
  ])('is refused without its %s', async (name, told) => {
    await forget();
    remove(name);
    expect((await refusal()).message).toMatch(told);
  });

  it('is refused with nothing but its operator.db', async () => {
    await forget();
    for (const name of ['service.db', 'secret', 'rates.db']) remove(name);
    expect((await refusal()).message).toMatch(/service\.db is missing/);
  });
});

describe('files that go while the service runs', () => {
  it('are looked at more than once a second', () => expect(lookEvery).toBeLessThan(500));

  it.each([
    ['service.db deleted', () => rmSync(at('service.db'))],
    ['service.db-wal deleted', () => rmSync(at('service.db-wal'))],
    ['service.db cut off', () => truncateSync(at('service.db'), 100)],
    [
      'service.db replaced',
      () => {
        copyFileSync(at('service.db'), at('x'));
        renameSync(at('x'), at('service.db'));
      },
    ],
    ['operator.db deleted', () => rmSync(at('operator.db'))],
    ['operator.db-wal deleted', () => rmSync(at('operator.db-wal'))],
    ['operator.db-wal emptied', () => truncateSync(at('operator.db-wal'), 0)],
    [
      'secret replaced',
      () => {
        writeFileSync(at('x'), 'x'.repeat(32));
        renameSync(at('x'), at('secret'));
      },
    ],
    ['installation.json deleted', () => rmSync(at('installation.json'))],
    ['the folder deleted', () => rmSync(directory, { recursive: true })],
  ])('%s: noticed, and then nothing is answered', async (_, how) => {
    await use();
    core = await cores.open({ directory });
    how();
    expect((await core.lost).message).toMatch(/while the service was running/);
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    await expect(balance()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('a send is not answered as stored in a file that is gone, not even before that is noticed', async () => {
    await use();
    core = await cores.open({ directory });
    rmSync(directory, { recursive: true });
    await expect(send('99112233', 'Hi')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each<[string, () => void]>([
    ['gone', () => rmSync(at('service.db-wal'))],
    ['emptied', () => truncateSync(at('service.db-wal'), 0)],
    ['cut off', () => truncateSync(at('service.db-wal'), statSync(at('service.db-wal')).size - 1)],
  ])('nor in a -wal that is %s', async (_, take) => {
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    take();
    await expect(send('99112234', 'Hi')).rejects.toMatchObject({ code: 'unavailable' });
    expect((await core.lost).message).toMatch(/^service\.db-wal /);
  });

  it('a -wal that somebody has brought into service.db and emptied in order is not gone', async () => {
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    const { DatabaseSync } = await loadEngine();
    const other = new DatabaseSync(at('service.db'));
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    other.close();
    expect(statSync(at('service.db-wal')).size).toBe(0);
    expect(await send('99112234', 'Hi')).toMatchObject({ status: 200 });
    await new Promise((resolve) => setTimeout(resolve, lookEvery * 2));
    expect(await balance()).toBe(99_980);
  });

  it.runIf(existsSync('/proc/locks'))(
    'keeps its locks when a -wal is emptied, and when the process opens the data again',
    async () => {
      const locks = () =>
        ['service.db', 'service.db-shm', 'operator.db', 'operator.db-shm'].map((name) => [
          name,
          readFileSync('/proc/locks', 'latin1').match(
            new RegExp(` ${process.pid} .*:${statSync(at(name)).ino} `, 'g'),
          )?.length,
        ]);
      core = await cores.open({ directory });
      await send('99112233', 'Hi');
      const before = locks();
      expect(before.map(([, count]) => count)).toEqual([1, 1, 1, 1]);
      const { DatabaseSync } = await loadEngine();
      for (const name of ['service.db', 'operator.db']) {
        const other = new DatabaseSync(at(name));
        other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        other.close();
      }
      await new Promise((resolve) => setTimeout(resolve, lookEvery * 2));
      expect(locks()).toEqual(before);
      await (await cores.open({ directory })).close();
      expect(locks()).toEqual(before);
    },
  );
});

it('the -wal does not grow with the number of sends, however fast they are', async () => {
  core = await cores.open({ directory, rates: 'off' });
  for (let number = 0; number < 500; number += 1) await send(`${99_110_000 + number}`, 'Hi');
  expect(statSync(at('service.db-wal')).size).toBeLessThan(8_000_000);
});

describe('the -wal of a service that was closed', () => {
  const walSize = () => statSync(at('service.db-wal'), { throwIfNoEntry: false })?.size ?? 0;

  it('is empty: the next start has nothing to read and to copy again', async () => {
    for (const balanceThen of [99_990, 99_980, 99_970]) {
      await use();
      expect(walSize()).toBe(0);
      core = await cores.open({ directory });
      expect(await balance()).toBe(balanceThen);
      await core.close();
    }
  });

  it('is not asked for by service.db where another process was about to write it', async () => {
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    const { DatabaseSync } = await loadEngine();
    const other = new DatabaseSync(at('service.db'));
    other.exec('UPDATE installation SET wal_follows = 1');
    await core.close();
    copyAside();
    other.close();
    core = await cores.open({ directory });
    expect(await balance()).toBe(99_990);
  });
});

describe.skipIf(process.platform === 'win32')('files of the owner alone', () => {
  const modes = () =>
    Object.fromEntries(
      readdirSync(directory).map((name) => [name, (statSync(at(name)).mode & 0o777).toString(8)]),
    );
  const whileOpen = ['installation.json', 'operator.db', 'operator.db-shm', 'operator.db-wal', 'rates.db'];
  const expected = Object.fromEntries(
    [
      ...whileOpen,
      'rates.db-shm',
      'rates.db-wal',
      'secret',
      'service.db',
      'service.db-shm',
      'service.db-wal',
    ].map((name) => [name, '600']),
  );

  it('in a folder that others can read', async () => {
    mkdirSync(directory, { mode: 0o755 });
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    expect(modes()).toEqual(expected);
  });

  it('whatever the umask, in a folder of their own', async () => {
    const umask = process.umask(0);
    try {
      core = await cores.open({ directory });
      await send('99112233', 'Hi');
    } finally {
      process.umask(umask);
    }
    expect(modes()).toEqual(expected);
    expect((statSync(directory).mode & 0o777).toString(8)).toBe('700');
  });

  it.skipIf(process.getuid?.() !== 0)('stay those of their owner when root opens them', async () => {
    await use();
    const owner = 12_345;
    for (const name of ['', ...readdirSync(directory)]) chownSync(at(name), owner, owner);
    remove('rates.db');
    await use();
    const owners = readdirSync(directory).map((name) => [name, statSync(at(name)).uid]);
    expect(Object.fromEntries(owners)).toMatchObject({ 'installation.json': owner, 'rates.db': owner });
    expect([...new Set(owners.map(([, uid]) => uid))]).toEqual([owner]);
  });

  it.skipIf(process.getuid?.() !== 0)('give nothing away that a link of their owner leads to', async () => {
    await use();
    chownSync(directory, 12_345, 12_345);
    const other = `${directory}.other`;
    writeFileSync(other, '');
    symlinkSync(other, at('installation.json.new'));
    await use();
    expect(statSync(other).uid).toBe(0);
  });

  it('also the copy that is kept before a migration', async () => {
    await use();
    const { DatabaseSync } = await loadEngine();
    const database = new DatabaseSync(at('operator.db'));
    database.exec('DROP TABLE installation; PRAGMA user_version = 2');
    database.close();
    await refusal();
    expect((statSync(at('operator.db.schema-2')).mode & 0o777).toString(8)).toBe('600');
  });

  it('also those of a release that left them open to others', async () => {
    await use();
    await copyOfOpen();
    for (const name of readdirSync(directory)) chmodSync(at(name), 0o644);
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    expect(modes()).toEqual(expected);
  });

  it.each([0o777, 0o775, 0o1777, 0o722])('a folder that others can write to is refused: %o', async (mode) => {
    mkdirSync(directory);
    chmodSync(directory, mode);
    expect(await refusal()).toMatchObject({
      message: `${directory} can be written to by others`,
      hint: expect.stringContaining(`chmod go-w '${directory}'`),
    });
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('the first start', () => {
  it('that is cut short at any write is made up for by the next', { timeout: 120_000 }, async () => {
    // Each start of this process dies a little later.
    const script = `
      const fs = require('node:fs');
      let left = Number(process.argv[2]);
      for (const name of ['openSync', 'writeFileSync', 'renameSync', 'linkSync', 'rmSync', 'mkdirSync']) {
        const real = fs[name];
        fs[name] = (...args) => { if (left-- === 0) process.kill(process.pid, 'SIGKILL'); return real(...args); };
      }
      require(process.argv[3]).startSandbox({ directory: process.argv[4], port: null }).then((s) => s.close())
        .then(() => process.stdout.write('done'));`;
    const file = join(cores.folder(), 'dies.cjs');
    writeFileSync(file, script);
    const sandbox = join(import.meta.dirname, '../../../dist/sandbox/index.cjs');
    const run = (writes: number, folder: string) =>
      promisify(execFile)(process.execPath, [file, String(writes), sandbox, folder]).then(
        ({ stdout }) => stdout,
        () => 'killed',
      );
    let deaths = 0;
    for (let writes = 0; ; writes += 1) {
      const folder = join(cores.folder(), 'data');
      if ((await run(writes, folder)) === 'done') break;
      deaths += 1;
      const next = await cores.open({ directory: folder });
      expect(await next.operations.getBalance(caller)).toEqual({ balance: 100_000 });
      await next.close();
    }
    expect(deaths).toBeGreaterThan(5);
    expect(existsSync(sandbox)).toBe(true);
  });
});
