import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type Disk,
  exposureOf,
  type FileKind,
  readTrustedFile,
  UnsafeFileError,
} from '../../src/contract/index.js';
import { testFolder } from '../support/folders.js';

const me = 1000;
const other = 1001;

/** Files and folders by their paths; `link` is one to `/secrets/k`. */
function diskOf(owners: Record<string, [uid: number, mode: number, gid?: number]>, length = 1): Disk {
  const statOf = (path: string) => {
    const [uid, mode, gid = 0] = owners[path === '' ? '/' : path] ?? [0, 0o755];
    return { uid, gid, mode, isFile: () => true, isFIFO: () => false, isDirectory: () => false };
  };
  let left = length;
  const target = (path: string) => path.replace(/\/link$/, '/k').replace('/mount/k', '/secrets/k');
  return {
    constants: fs.constants,
    statSync: statOf,
    realpathSync: target,
    openSync: () => 3,
    fstatSync: () => statOf('file'),
    readSync(_, bytes) {
      const read = Math.min(left, bytes.length);
      left -= read;
      return read;
    },
    closeSync: () => {},
  };
}

type Owners = Parameters<typeof diskOf>[0];

it.each<[string, number, FileKind, Owners, string | null]>([
  ['of this user', me, 'secret', { file: [me, 0o600] }, null],
  ['of root, for its group', me, 'secret', { file: [0, 0o640] }, null],
  ['of root, for all', me, 'secret', { file: [0, 0o644] }, 'warned: chmod g-w,o= /etc/u/k'],
  ['of this user, for its group', me, 'secret', { file: [me, 0o640] }, 'warned: chmod 600 /etc/u/k'],
  ['of this user, for all', me, 'secret', { file: [me, 0o644] }, 'warned: chmod 600 /etc/u/k'],
  ['for all, and none', me, 'public', { file: [me, 0o644] }, null],
  ['that its group can change', me, 'secret', { file: [me, 0o620, me] }, 'refused: chmod 600 /etc/u/k'],
  ["that its user's own group can change", me, 'public', { file: [me, 0o664, me] }, null],
  ['that another group can change', me, 'public', { file: [me, 0o664, 50] }, 'refused: chmod go-w /etc/u/k'],
  ["that root's group can change", me, 'public', { file: [0, 0o664, 0] }, 'refused: chmod go-w /etc/u/k'],
  ['that all can change', me, 'secret', { file: [0, 0o602] }, 'refused: chmod g-w,o= /etc/u/k'],
  ['of another user', me, 'secret', { file: [other, 0o640] }, 'warned: chown root /etc/u/k'],
  ['of another user, for root', 0, 'secret', { file: [other, 0o600] }, 'warned: chown root /etc/u/k'],
  ['of another user, none', 0, 'public', { file: [other, 0o644] }, 'warned: chown root /etc/u/k'],
  [
    'in a folder of all',
    me,
    'public',
    { file: [me, 0o644], '/etc/u': [0, 0o777] },
    'refused: chmod go-w /etc/u',
  ],
  [
    'in a folder of a group',
    0,
    'secret',
    { file: [0, 0o600], '/etc/u': [0, 0o775, 50] },
    'refused: chmod go-w /etc/u',
  ],
  ['in a folder of its user', me, 'secret', { file: [me, 0o600], '/etc/u': [me, 0o775, me] }, null],
  [
    'in a folder of another user',
    me,
    'secret',
    { file: [me, 0o600], '/etc/u': [other, 0o755] },
    'warned: chown root /etc/u',
  ],
  [
    'below a folder of all',
    me,
    'secret',
    { file: [me, 0o600], '/etc': [0, 0o777] },
    'refused: chmod go-w /etc',
  ],
  ['below a folder of a group of root', me, 'secret', { file: [me, 0o600], '/etc': [0, 0o2775, 50] }, null],
  ['in a shared folder', me, 'secret', { file: [me, 0o600], '/etc/u': [0, 0o1777] }, null],
  [
    'of another, below a shared folder',
    me,
    'public',
    { file: [other, 0o644], '/etc': [0, 0o1777] },
    'warned: chown root /etc/u/k',
  ],
  [
    'of another in a shared folder',
    me,
    'public',
    { file: [other, 0o644], '/etc/u': [0, 0o1777] },
    'refused: chown root /etc/u/k',
  ],
])('a file %s (for user %i, %s)', (_, user, kind, owners, expected) => {
  const path = '/etc/u/k';
  let got: string | null;
  try {
    const { warning } = readTrustedFile(
      path,
      kind,
      diskOf({ ...owners, [path]: owners.file ?? [0, 0] }),
      user,
    );
    got = warning && `warned: ${/ch(?:mod|own) .*/.exec(warning)}`;
  } catch (error) {
    expect(error).toBeInstanceOf(UnsafeFileError);
    got = `refused: ${/ch(?:mod|own) .*/.exec((error as UnsafeFileError).hint)}`;
  }
  expect(got).toBe(expected);
});

it.each<[string, Owners, boolean]>([
  ['in folders of root', {}, true],
  ['to a folder of all', { '/secrets': [0, 0o777] }, false],
  ['in a folder of all', { '/mount': [0, 0o777] }, false],
  ['in a shared folder, as Kubernetes mounts one', { '/mount': [0, 0o1777] }, true],
])('a link to a secret, %s', (_, owners, isRead) => {
  const disk = diskOf({ file: [0, 0o440], ...owners });
  const read = () => readTrustedFile('/mount/link', 'secret', disk, me).warning;
  if (isRead) expect(read()).toBeNull();
  else expect(read).toThrow('can be changed by others on this machine');
});

it('a file is read up to 1 MB', () => {
  const read = (length: number) => readTrustedFile('/k', 'public', diskOf({ file: [me, 0o600] }, length), me);
  expect(read(1_000_000).bytes).toHaveLength(1_000_000);
  expect(() => read(1_000_001)).toThrow('it has over 1000000 bytes');
});

it.skipIf(process.platform === 'win32')(
  'a device is not read, nor a pipe, whose writer nobody waits for',
  () => {
    for (const kind of ['secret', 'public', 'configuration'] as const)
      expect(() => readTrustedFile('/dev/zero', kind, fs, undefined)).toThrow('it is not a regular file');
    const file = join(testFolder(), 'k');
    fs.writeFileSync(file, 'k');
    const pipe: Disk = {
      ...fs,
      fstatSync: (one) => ({
        ...fs.fstatSync(one),
        isFile: () => false,
        isFIFO: () => true,
        isDirectory: () => false,
      }),
    };
    for (const kind of ['secret', 'public'] as const)
      expect(() => readTrustedFile(file, kind, pipe, undefined)).toThrow('it is not a regular file');
  },
);

it('a command that closes a file quotes its name', () => {
  expect(exposureOf("/it's", 'secret', { uid: me, mode: 0o644 }, me)?.hint).toBe(
    "Run: chmod 600 '/it'\\''s'",
  );
});

it('where files have no modes, a secret is exposed to nobody', () => {
  expect(exposureOf('/k', 'secret', { uid: 0, mode: 0o666 }, undefined)).toBeNull();
});
