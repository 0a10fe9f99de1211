import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alignOutbox } from '../../../src/service/carriers/simulated/align-outbox.js';
import {
  openOutboxDatabase,
  outboxMigrations,
} from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import type { Core } from '../../../src/service/core.js';
import { backup, restore } from '../../../src/service/data/data-copies.js';
import { DataError, DataInUseError } from '../../../src/service/errors/data-error.js';
import { restoreData } from '../../../src/service/storage/sqlite/backup/restore.js';
import { verifyFiles } from '../../../src/service/storage/sqlite/backup/verify.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { rename } from '../../../src/service/storage/sqlite/database/rename.js';
import { Cores, caller, outboxOf, requestsTo } from '../../support/cores.js';

const cores = new Cores();
let root: string;
let directory: string;
let target: string;
let core: Core;
beforeEach(() => {
  root = cores.folder();
  directory = join(root, 'data');
  target = join(root, 'backup');
});
afterEach(() => cores.closeAll());

const { send, sendBulk, balance } = requestsTo(() => core);
const modes = (folder: string) => [
  statSync(folder).mode & 0o777,
  ...readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777),
];
const contents = () =>
  readdirSync(directory)
    .filter((name) => statSync(join(directory, name)).size > 0 && !name.endsWith('-shm'))
    .map((name) => [name, readFileSync(join(directory, name), 'base64')]);

const stranger =
  'CREATE TRIGGER credits AFTER UPDATE ON installation BEGIN UPDATE projects SET balance = balance + 1000; END';
const impostor =
  'DROP TRIGGER leases_have_holders; CREATE TRIGGER leases_have_holders AFTER INSERT ON ledger BEGIN SELECT 1; END';
const { DatabaseSync } = await loadEngine();

const alter = (name: string, sql: string) => (folder: string) => {
  const database = new DatabaseSync(join(folder, name));
  database.exec(sql);
  database.close();
};

/** As when its process ends: on Node.js 20 a connection that was closed keeps its locks for a while. */
async function end(): Promise<void> {
  await core.close();
  cpSync(directory, `${directory}.ended`, { recursive: true });
  rmSync(directory, { recursive: true });
  renameSync(`${directory}.ended`, directory);
  for (const name of ['service.db', 'operator.db', 'rates.db']) {
    const database = new DatabaseSync(join(directory, name));
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  }
}

async function openAgain(): Promise<void> {
  core = await cores.open({ directory });
}

describe('a backup', () => {
  it('is made beside a running service, for its owner alone, and nothing stays beside it', async () => {
    core = await cores.open({ directory });
    await send('99112233', 'Hi');
    const before = process.umask(0);
    try {
      expect(await backup(directory, target)).toEqual({ messages: 1, deliveries: 1 });
    } finally {
      process.umask(before);
    }
    expect(readdirSync(target).sort()).toEqual(['installation.json', 'operator.db', 'secret', 'service.db']);
    expect(modes(target)).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
    expect(readdirSync(root).sort()).toEqual(['backup', 'data']);
    await send('99112234', 'Hi');
    expect(await core.administration.held()).toBeNull();
  });

  it('of a service that has ended leaves its files as they are', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await end();
    const before = contents();
    await backup(directory, target);
    expect(contents()).toEqual(before);
  });

  it('opened as it is, without a restore, is held', async () => {
    await openAgain();
    await backup(directory, target);
    const opened = await cores.open({ directory: target });
    expect(await opened.administration.held()).toMatchObject({ reason: 'restored' });
  });

  it('never replaces anything', async () => {
    await openAgain();
    mkdirSync(target);
    await expect(backup(directory, target)).rejects.toThrow(/there already/);
    expect(readdirSync(target)).toEqual([]);
  });

  it.each([
    ['a damaged service.db', 'service.db'],
    ['a damaged operator.db', 'operator.db'],
  ])('of %s is refused, and none is left', async (_, name) => {
    await openAgain();
    for (let count = 0; count < 40; count += 1) await send(`9911${1000 + count}`, 'x'.repeat(60));
    await end();
    flipPages(join(directory, name));
    await expect(backup(directory, target)).rejects.toBeInstanceOf(DataError);
    expect(readdirSync(root)).toEqual(['data']);
  });

  it('of files that do not belong together is refused', async () => {
    await openAgain();
    await end();
    writeFileSync(join(directory, 'secret'), new Uint8Array(32));
    await expect(backup(directory, target)).rejects.toThrow(/secret is another one/);
    expect(readdirSync(root)).toEqual(['data']);
  });

  it('waits for a process that has just locked the data', async () => {
    await openAgain();
    await end();
    const { DatabaseSync } = await loadEngine();
    const other = new DatabaseSync(join(directory, 'service.db'));
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    setTimeout(() => other.close(), 30);
    expect(await backup(directory, target)).toEqual({ messages: 0, deliveries: 0 });
  });

  it('has no sign-ins to the dashboard', async () => {
    await openAgain();
    const link = new Uint8Array(32).fill(1);
    const unused = new Uint8Array(32).fill(2);
    const session = new Uint8Array(32).fill(3);
    const { projectId } = caller;
    for (const hash of [link, unused]) await core.store.addSignInLink({ hash, projectId, lifeMs: 600_000 });
    await core.store.openSession(link, { hash: session, lifeMs: 600_000 });
    await backup(directory, target);
    expect(await core.store.findSession(session)).toBe(projectId);
    const restored = await cores.open({ directory: target });
    expect(await restored.store.findSession(session)).toBeNull();
    expect(await restored.store.openSession(unused, { hash: session, lifeMs: 600_000 })).toBeNull();
  });

  it('has no delivery of a message that it does not have, or that was not yet being submitted in it', async () => {
    const engine = await loadEngine();
    await openAgain();
    await send('99112233', 'Hi');
    await send('99112234', 'Hi');
    await send('99112235', 'Hi');
    // The first is delivered between the copies of the store and of the operator's file, the last accepted too.
    const store = new engine.DatabaseSync(join(directory, 'service.db'));
    store.exec(
      `UPDATE messages SET status = 'queued', route = NULL, due_at = 1 WHERE recipient LIKE '%99112233'`,
    );
    store.exec(`DELETE FROM messages WHERE recipient LIKE '%99112235'`);
    store.close();
    await end();
    expect(await backup(directory, target)).toEqual({ messages: 2, deliveries: 1 });
  });
});

/** Every page but the first, so that it opens. */
function flipPages(path: string): void {
  const file = openSync(path, 'r+');
  const { size } = statSync(path);
  for (let at = 4_096; at < size; at += 4_096) writeSync(file, Buffer.alloc(200, 0xa5), 0, 200, at);
}

it.each([
  ['service.db', stranger, 'the trigger credits is not part of urtuu'],
  ['operator.db', 'CREATE VIEW more AS SELECT 1', 'the view more is not part of urtuu'],
  ['service.db', 'DROP TRIGGER leases_have_holders', 'leases_have_holders is missing'],
])(
  'data with a schema of others is found by a verification, and not backed up: %s, %s',
  async (name, sql, problem) => {
    await openAgain();
    await end();
    expect(await mismatches()).toEqual([]);
    alter(name, sql)(directory);
    expect(await mismatches()).toEqual([{ check: 'integrity', subject: name, problem }]);
    await expect(backup(directory, target)).rejects.toThrow(`${name}: ${problem}`);
    expect(existsSync(target)).toBe(false);
  },
);

async function mismatches() {
  const found = [];
  for await (const one of verifyFiles(directory, outboxMigrations)) found.push(one);
  return found;
}

describe('a restore', () => {
  it('brings back the state of the backup, held, and keeps the previous files', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    const then = await balance();
    await backup(directory, target);
    await send('99112234', 'Hi');
    await end();
    const { id } = JSON.parse(readFileSync(join(directory, 'installation.json'), 'utf8'));

    const replaced = await restore(target, directory);
    expect(readdirSync(replaced as string).sort()).toEqual(
      expect.arrayContaining(['installation.json', 'operator.db', 'secret', 'service.db']),
    );
    await openAgain();
    expect(await core.administration.held()).toMatchObject({ reason: 'restored', messages: 0 });
    expect(await balance()).toBe(then);
    expect(await outboxOf(core)).toHaveLength(1);
    await expect(send('99112235', 'Hi')).rejects.toMatchObject({ code: 'unavailable' });
    await core.administration.release('sent');
    await send('99112235', 'Hi');
    await end();
    expect(JSON.parse(readFileSync(join(directory, 'installation.json'), 'utf8')).id).not.toBe(id);

    // What was replaced is whole, and none of its files can be mixed in.
    const old = await cores.open({ directory: replaced as string });
    expect(await outboxOf(old)).toHaveLength(2);
    await old.close();
    cpSync(join(replaced as string, 'operator.db'), join(directory, 'operator.db'));
    await expect(cores.open({ directory })).rejects.toThrow(/operator.db does not belong/);
  });

  it('into a folder that is new needs nothing else', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    await end();
    rmSync(directory, { recursive: true });
    expect(await restore(target, directory)).toBeNull();
    expect(modes(directory)).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
    await openAgain();
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it.each(['secret', 'operator.db', 'installation.json', 'service.db'])(
    'that cannot move its %s leaves everything as it was',
    async (name) => {
      await openAgain();
      await backup(directory, target);
      await send('99112233', 'Hi');
      await end();
      const before = contents();
      const copies = { openCarrier: openOutboxDatabase, align: alignOutbox };
      const failing = async (from: string, to: string) => {
        if (to === join(directory, name) && from.includes('restoring-')) throw new Error('i/o error');
        await rename(from, to);
      };
      await expect(restoreData(target, directory, copies, failing)).rejects.toThrow('i/o error');
      expect(contents()).toEqual(before);
      await openAgain();
      expect(await core.administration.held()).toBeNull();
    },
  );

  it('that is cut short is completed by the next one, and a start says so', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    await end();
    // As it was killed before it gave service.db its name.
    mkdirSync(join(directory, 'restoring-1'));
    renameSync(join(directory, 'service.db'), join(directory, 'restoring-1', 'service.db'));
    await expect(openAgain()).rejects.toMatchObject({
      message: expect.stringContaining('service.db is missing'),
      hint: 'A restore was cut short: run it again.',
    });
    await restore(target, directory);
    expect(readdirSync(directory).filter((name) => name.startsWith('restoring'))).toEqual([]);
    await openAgain();
    expect(await outboxOf(core)).toHaveLength(1);
  });

  it('of the data folder itself changes nothing', async () => {
    await openAgain();
    await end();
    const before = contents();
    await expect(restore(directory, directory)).rejects.toThrow(/is the data folder itself/);
    expect(contents()).toEqual(before);
  });

  it.runIf(process.getuid?.() === 0)('by root leaves the files to the owner of the folder', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    await end();
    const all = () =>
      readdirSync(directory, { recursive: true }).map((name) => statSync(join(directory, String(name))).uid);
    for (const name of ['', ...readdirSync(directory)]) chownSync(join(directory, name), 65_534, 65_534);
    // Another user must be able to reach the folder.
    chmodSync(root, 0o755);
    await restore(target, directory);
    expect(new Set(all())).toEqual(new Set([65_534]));
  });

  it('into an empty folder is refused if a service begins in it meanwhile', async () => {
    await openAgain();
    await backup(directory, target);
    const empty = join(root, 'empty');
    let begun: Core | undefined;
    const openCarrier = async (path: string) => {
      begun ??= await cores.open({ directory: empty });
      return openOutboxDatabase(path);
    };
    await expect(restoreData(target, empty, { openCarrier, align: alignOutbox })).rejects.toBeInstanceOf(
      DataInUseError,
    );
    await requestsTo(() => begun as Core).send('99112233', 'Hi');
    expect(readdirSync(empty).filter((name) => /^(replaced|restoring)/.test(name))).toEqual([]);
  });

  it('is refused while another restores into the same empty folder, which ends well', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    await end();
    const empty = join(root, 'empty');
    const others: PromiseSettledResult<string | null>[] = [];
    const openCarrier = async (path: string) => {
      others.push(...(await Promise.allSettled([restore(target, empty)])));
      return openOutboxDatabase(path);
    };
    await restoreData(target, empty, { openCarrier, align: alignOutbox });
    expect(others.length).toBeGreaterThan(0);
    for (const other of others)
      expect(other).toMatchObject({ status: 'rejected', reason: { name: 'DataInUseError' } });
    expect(readdirSync(empty).sort()).toEqual(['installation.json', 'operator.db', 'secret', 'service.db']);
    expect(await outboxOf(await cores.open({ directory: empty }))).toHaveLength(1);
  });

  it('is refused while the data is open, and the service goes on', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    const before = readdirSync(directory).sort();
    await expect(restore(target, directory)).rejects.toBeInstanceOf(DataInUseError);
    expect(readdirSync(directory).sort()).toEqual(before);
    await send('99112234', 'Hi');
    expect(await outboxOf(core)).toHaveLength(2);
  });

  it.each<[string, (folder: string) => void]>([
    ['with a file missing', (folder) => rmSync(join(folder, 'operator.db'))],
    ['without its secret', (folder) => rmSync(join(folder, 'secret'))],
    ['with a foreign secret', (folder) => writeFileSync(join(folder, 'secret'), new Uint8Array(32))],
    ['with damaged pages', (folder) => flipPages(join(folder, 'service.db'))],
    ['with a foreign trigger', alter('service.db', stranger)],
    ['with a foreign view', alter('operator.db', 'CREATE VIEW more AS SELECT 1')],
    ["with a trigger in place of a release's", alter('service.db', impostor)],
    ['without a trigger of the release', alter('service.db', 'DROP TRIGGER leases_have_holders')],
    ['with no service.db', (folder) => rmSync(join(folder, 'service.db'))],
  ])('of a backup %s changes nothing', async (_, damage) => {
    await openAgain();
    await send('99112233', 'Hi');
    await backup(directory, target);
    await end();
    damage(target);
    const before = contents();
    await expect(restore(target, directory)).rejects.toBeInstanceOf(DataError);
    expect(contents()).toEqual(before);
  });

  it('takes the copy of a folder whose service was killed', async () => {
    await openAgain();
    await send('99112233', 'Hi');
    cpSync(directory, target, { recursive: true });
    await end();
    await restore(target, directory);
    await openAgain();
    expect(await outboxOf(core)).toHaveLength(1);
    expect(await core.administration.held()).not.toBeNull();
  });

  it('takes the folder of the first release', async () => {
    const fixture = join(import.meta.dirname, '../../fixtures/c7d7ad4/state.tar.gz');
    execFileSync('tar', ['xzf', fixture, '-C', root]);
    target = join(root, 'urtuu/service');
    expect(await restore(target, directory)).toBeNull();
    await openAgain();
    expect(await core.administration.held()).not.toBeNull();
  });
});

it('under load, a restore and a release with every message queued again deliver nothing twice', async () => {
  await openAgain();
  const sends: Promise<unknown>[] = [];
  for (let round = 0; round < 6; round += 1) {
    sends.push(
      sendBulk(
        Array.from({ length: 200 }, (_, n) => `9${round}11${1000 + n}`),
        'Hi',
      ),
    );
    for (let n = 0; n < 20; n += 1) sends.push(send(`88${round}1${1000 + n}`, 'Hi'));
    await backup(directory, join(root, `backup-${round}`));
  }
  await Promise.all(sends);
  await core.administration.idle();
  await end();
  for (const round of [0, 2, 5]) {
    await restore(join(root, `backup-${round}`), directory);
    await openAgain();
    await core.administration.release('queue');
    await core.administration.idle();
    expect(await core.carrier.outbox.repeats()).toBe(0);
    const delivered = new Set((await outboxOf(core)).map(({ message_id }) => message_id));
    const store = new (await loadEngine()).DatabaseSync(join(directory, 'service.db'), { readOnly: true });
    const sent = store.prepare(`SELECT id FROM messages WHERE status = 'sent'`).all() as { id: string }[];
    const open = store.prepare(`SELECT count(*) AS n FROM messages WHERE status = 'queued'`).get();
    store.close();
    expect(open).toEqual({ n: 0 });
    expect(sent.filter(({ id }) => !delivered.has(id))).toEqual([]);
    expect(sent).toHaveLength(delivered.size);
    await end();
  }
  expect(existsSync(directory)).toBe(true);
});
