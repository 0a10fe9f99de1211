import { spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { otherOwnerOf } from '../../../src/service/as-owner.js';
import {
  abandonMove,
  backup,
  checkFree,
  createService,
  moveData,
  openAdministration,
  restore,
  verify,
} from '../../../src/service/index.js';
import { newDatabase } from '../../support/postgres.js';

const owner = 12_345;
/** As long as a secret. */
const ofRoot = 'a file that only root can change';

/** Data of another user in `data`, and what only root may change: `own/victim`. */
async function dataOfOther() {
  const words = process.argv;
  onTestFinished(() => void Object.assign(process, { argv: words }));
  // A program that everybody can read, wherever the sources are.
  process.argv = [process.execPath, process.execPath];
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-owner-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  const own = join(folder, 'own');
  const victim = join(own, 'victim');
  mkdirSync(own, { mode: 0o700 });
  writeFileSync(victim, ofRoot);
  chmodSync(victim, 0o644);
  // Connections of this process to the files that it made may still hold locks.
  const made = join(own, 'made-by-root');
  const service = await createService({ directory: made, rates: 'enforced' });
  await service.administration.createKey({ label: 'x' });
  await service.close();
  await backup(made, join(own, 'earlier'));
  cpSync(made, data, { recursive: true });
  chmodSync(data, 0o700);
  for (const name of ['', ...readdirSync(data)]) chownSync(join(data, name), owner, owner);
  return { data, own, victim };
}

function folderOf(path: string, uid: number, mode = 0o755): string {
  mkdirSync(path);
  chmodSync(path, mode);
  chownSync(path, uid, uid);
  return path;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const placesOf = (directory: string, url: string) => ({ directory, url, database: 'postgres://db/urtuu' });

const works: [name: string, (data: string, own: string) => Promise<unknown>][] = [
  [
    'a command of the owner',
    async (directory) => {
      const { administration, close } = await openAdministration({ directory, report: () => {} });
      await administration.credit(5);
      await close();
    },
  ],
  ['verify', async (directory) => all(await verify({ directory }))],
  ['a look whether it is free', checkFree],
  ['backup', (data, own) => backup(data, join(own, 'backup'))],
  ['restore', (data, own) => restore(join(own, 'earlier'), data)],
  [
    'a move, with the new secret beside the old one',
    async (data) => moveData({ ...placesOf(data, await newDatabase()), secretFile: join(data, 'moved') }),
  ],
  ['backup into a new folder of the owner', (data) => backup(data, join(data, 'backups', 'one'))],
  ['restore into a new folder of the owner', (data, own) => restore(join(own, 'earlier'), join(data, 'new'))],
  ['the end of a move', (data) => abandonMove(placesOf(data, 'postgres://127.0.0.1:1/none'))],
];

describe.skipIf(process.getuid?.() !== 0)('root, with the data of another user', () => {
  it.each(works)('does %s, and leaves every file to its owner', async (_, work) => {
    const { data, own, victim } = await dataOfOther();
    await work(data, own);
    const names = readdirSync(data, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => lstatSync(join(data, name)).uid !== owner)).toEqual([]);
    expect(statSync(victim).uid).toBe(0);
    expect(process.geteuid?.()).toBe(0);
    for (const name of existsSync(join(own, 'backup')) ? readdirSync(join(own, 'backup')) : [])
      expect(statSync(join(own, 'backup', name))).toMatchObject({ uid: 0, mode: 0o100600 });
  });

  it.each(
    works.flatMap(([name, work]) =>
      [
        ...['rates.db', 'rates.db-wal', 'service.db', 'service.db-shm', 'operator.db', 'secret'],
        ...['installation.json.new', 'restore.lock', 'moved', `copying-for-root-${process.pid}`],
      ].map((file) => [name, file, work] as const),
    ),
  )('does %s, and follows no link at %s to what only root can change', async (_, file, work) => {
    const { data, own, victim } = await dataOfOther();
    const path = join(data, file);
    for (const target of [victim, join(own, 'made')]) {
      if (existsSync(path)) renameSync(path, `${path}.kept`);
      rmSync(path, { force: true });
      symlinkSync(target, path);
      await work(data, own).catch(() => {});
      expect(readFileSync(victim, 'utf8')).toBe(ofRoot);
      expect(statSync(victim)).toMatchObject({ uid: 0, mode: 0o100644 });
      expect(existsSync(join(own, 'made'))).toBe(false);
      expect(
        existsSync(join(own, 'backup')) &&
          readdirSync(join(own, 'backup')).some(
            (name) => readFileSync(join(own, 'backup', name), 'utf8') === ofRoot,
          ),
      ).toBe(false);
      expect(process.geteuid?.()).toBe(0);
      rmSync(join(own, 'backup'), { recursive: true, force: true });
    }
  });

  it.each(works.slice(3, 5))(
    'does %s without the folder for temporary files, and removes what killed ones left in the data',
    async (_, work) => {
      const { data, own } = await dataOfOther();
      vi.stubEnv('TMPDIR', '/proc');
      onTestFinished(() => void vi.unstubAllEnvs());
      const { pid: dead } = spawnSync('true');
      const left = [dead, process.pid, 1].map((pid) => `copying-for-root-${pid}`);
      for (const name of left) writeFileSync(join(folderOf(join(data, name), owner), 'secret'), ofRoot);
      await work(data, own);
      expect(readdirSync(data).filter((name) => left.includes(name))).toEqual([left[2]]);
    },
  );

  it('names a full disk, and leaves no part of a restore', async () => {
    const { data, own } = await dataOfOther();
    const before = readdirSync(data);
    const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    });
    // Also for those who have imported it by its name.
    syncBuiltinESMExports();
    onTestFinished(() => {
      full.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(restore(join(own, 'earlier'), data)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(readdirSync(data)).toEqual(before);
  });

  it('makes no folder for data if there is nothing to back up or restore', async () => {
    const { data, own } = await dataOfOther();
    await expect(backup(join(data, 'new'), join(own, 'backup'))).rejects.toThrow();
    await expect(restore(own, join(data, 'new'))).rejects.toThrow(`there is no backup in ${own}`);
    expect(existsSync(join(data, 'new'))).toBe(false);
  });

  it('learns that the user cannot read the program before anything is done', async () => {
    const { data, own } = await dataOfOther();
    const program = join(own, 'urtuu.js');
    writeFileSync(program, '');
    process.argv = [process.execPath, program];
    await expect(openAdministration({ directory: data })).rejects.toMatchObject({
      message: `the data belongs to the user ${owner}, who cannot read this program at ${program}`,
      hint: expect.stringContaining('run the command as that user'),
    });
    expect(process.geteuid?.()).toBe(0);
  });

  it('counts its own folder behind a link of another user as one of that user', async () => {
    const { data, own } = await dataOfOther();
    const link = join(own, '..', 'link');
    for (const [to, uid] of [
      [own, owner],
      [own, 0],
      [data, 0],
    ] as const) {
      rmSync(link, { force: true });
      symlinkSync(to, link);
      lchownSync(link, uid, uid);
      const expected = to === own && uid === 0 ? null : { uid: owner, gid: owner };
      for (const path of [link, join(link, 'new', 'one')]) expect(otherOwnerOf(path)).toEqual(expected);
    }
  });

  it.each<[what: string, make: (data: string, own: string) => string]>([
    ['its own folder', (data) => folderOf(join(data, 'of-root'), 0)],
    ['a new folder in its own', (data) => join(folderOf(join(data, 'of-root'), 0), 'new')],
    [
      'its own link to its own folder',
      (data, own) => {
        symlinkSync(own, join(data, 'link'));
        return join(data, 'link', 'new');
      },
    ],
  ])(
    'counts %s in a folder of another user, who can put a link in its place, as one of that user',
    async (_, make) => {
      const { data, own } = await dataOfOther();
      expect(otherOwnerOf(make(data, own))).toEqual({ uid: owner, gid: owner });
    },
  );

  it('opens nothing of its own in a folder of another user', async () => {
    const { data, own } = await dataOfOther();
    const moved = join(data, 'of-root');
    renameSync(join(own, 'made-by-root'), moved);
    const before = readdirSync(moved);
    for (const [name, work] of works.filter(([name]) => !name.includes('new folder')))
      await expect(work(moved, own), name).rejects.toThrow();
    expect(readdirSync(moved)).toEqual(before);
    await expect(openAdministration({ directory: moved })).rejects.toMatchObject({
      message: expect.stringMatching(`^root opens this folder with the rights of the user ${owner}: EACCES`),
      hint: expect.stringContaining('chown'),
    });
  });

  it.each(['setgroups', 'setegid', 'seteuid'] as const)(
    'refuses, with its own groups, where %s is refused',
    async (call) => {
      const { data, own } = await dataOfOther();
      const groups = process.getgroups?.() ?? [];
      process.setgroups?.([0, 4]);
      onTestFinished(() => {
        vi.restoreAllMocks();
        process.setgroups?.(groups);
      });
      for (const [name, work] of works) {
        const refusing = vi.spyOn(process, call as 'seteuid').mockImplementationOnce(() => {
          throw Object.assign(new Error(call), { code: 'EPERM' });
        });
        await expect(work(data, own), name).rejects.toMatchObject({
          name: 'DataError',
          message: `the data belongs to the user ${owner}, and root cannot take that user's rights here`,
          hint: expect.stringContaining('Run the command as that user'),
        });
        refusing.mockRestore();
        expect([process.geteuid?.(), process.getegid?.(), process.getgroups?.()]).toEqual([0, 0, [0, 4]]);
      }
    },
  );

  it.each<[what: string, make: (data: string, own: string) => string, backups?: string, restores?: string]>([
    [
      'that belongs to a third user',
      (_, own) => folderOf(join(own, 'third'), 65_534),
      'can be changed by users other than root',
      'EACCES',
    ],
    ['of root in a folder of the owner', (data) => folderOf(join(data, 'of-root'), 0), 'EACCES'],
    ['of root that others can write to', (_, own) => folderOf(join(own, 'shared'), 0, 0o770)],
    [
      'of root behind a link of the owner',
      (data, own) => {
        symlinkSync(own, join(data, 'link'));
        lchownSync(join(data, 'link'), owner, owner);
        return join(data, 'link');
      },
      'EACCES',
    ],
  ])(
    'neither backs up to nor restores from a folder %s',
    async (_, make, backups = 'can be changed by users other than root', restores = backups) => {
      const { data, own } = await dataOfOther();
      const folder = make(data, own);
      const before = readdirSync(folder);
      await expect(backup(data, join(folder, 'new', 'backup'))).rejects.toThrow(backups);
      expect(readdirSync(folder)).toEqual(before);
      const from = join(folder, 'earlier');
      if (!existsSync(from)) cpSync(join(own, 'earlier'), from, { recursive: true });
      await expect(restore(from, data)).rejects.toThrow(restores);
      expect(readdirSync(data).filter((name) => name.startsWith('replaced'))).toEqual([]);
    },
  );
});
