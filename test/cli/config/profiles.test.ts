import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigFile, changeConfig, readConfig } from '../../../src/cli/config/profiles.js';
import { exposureOf } from '../../../src/cli/platform/private-file.js';

const instantTimer = () => {
  let now = 0;
  return {
    elapsed: () => now,
    sleep: async (milliseconds: number) => {
      now += milliseconds;
      await new Promise(setImmediate);
    },
  };
};
const user = process.geteuid?.() ?? 0;
const config = { profiles: { work: { key_command: 'touch /tmp/taken-over' } } };

describe('a file or folder', () => {
  it.each([
    [{ uid: 1000, mode: 0o100600 }, null],
    [{ uid: 0, mode: 0o100600 }, null],
    [{ uid: 1001, mode: 0o100600 }, 'owned by another user'],
    [{ uid: 1000, mode: 0o100640 }, 'readable by others'],
    [{ uid: 1000, mode: 0o100604 }, 'readable by others'],
    [{ uid: 1000, mode: 0o100620 }, 'writable by others'],
    [{ uid: 1000, mode: 0o100666 }, 'writable by others'],
    [{ uid: 1000, mode: 0o040711 }, null],
  ])('%j of user 1000 is exposed: %s', (owner, exposure) => {
    expect(exposureOf(owner, 1000, 'linux')).toBe(exposure);
    expect(exposureOf(owner, 1000, 'darwin')).toBe(exposure);
    expect(exposureOf(owner, 1000, 'win32')).toBe(null);
  });

  it('of another user is not trusted by root either', () => {
    expect(exposureOf({ uid: 1000, mode: 0o100600 }, 0, 'linux')).toBe('owned by another user');
  });
});

describe.runIf(process.platform !== 'win32')('the profiles', () => {
  it('are none where a part of the path is a file, as in HOME=/dev/null', () => {
    expect(readConfig('/dev/null/.config/urtuu', process.platform)).toEqual({ profiles: {} });
  });

  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'urtuu-config-')), 'urtuu');
    file = join(directory, 'config.json');
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  });
  afterEach(() => rmSync(join(directory, '..'), { recursive: true }));
  const read = () => readConfig(directory, 'linux');
  const change = (folder: string, to: (now: ConfigFile) => ConfigFile = () => config) =>
    changeConfig(folder, to, instantTimer(), 'linux');
  const unsafe = (message: string) => ({ code: 'unsafe_config', exit: 13, message });

  it('are read where nobody else can write, also through a link', async () => {
    chmodSync(directory, 0o755);
    expect(await read()).toEqual(config);
    symlinkSync(directory, `${directory}-link`);
    expect(await readConfig(`${directory}-link`, 'linux')).toEqual(config);
  });

  it.each([
    [0o644, 'can be read by others on this machine'],
    [0o660, 'can be changed by others on this machine'],
  ])('are refused in a file of mode %o', async (mode, what) => {
    chmodSync(file, mode);
    expect(read).toThrow(expect.objectContaining(unsafe(`${file} ${what}`)));
  });

  it('are refused in a pipe, which nobody may ever write to', async () => {
    rmSync(file);
    execFileSync('mkfifo', ['-m', '600', file]);
    expect(read).toThrow(expect.objectContaining({ exit: 13, message: `cannot read ${file}` }));
  });

  it.each([0o777, 0o775, 0o1777])('are refused, and not written, in a folder of mode %o', async (mode) => {
    chmodSync(directory, mode);
    const refused = unsafe(`${directory} can be changed by others on this machine`);
    expect(read).toThrow(expect.objectContaining(refused));
    await expect(change(directory)).rejects.toMatchObject(refused);
  });

  it('are refused when the opened file is that of another user, whoever asks', async () => {
    const reader = { platform: 'linux', user: user + 1 } as const;
    if (user === 0) {
      chownSync(file, 1234, 1234);
      expect(read).toThrow(expect.objectContaining(unsafe(`${file} belongs to another user`)));
      chownSync(file, 0, 0);
      chownSync(directory, 1234, 1234);
      expect(read).toThrow(expect.objectContaining(unsafe(`${directory} belongs to another user`)));
    } else {
      expect(() => readConfig(directory, 'linux', reader)).toThrow(
        expect.objectContaining({ code: 'unsafe_config' }),
      );
    }
  });

  it('are written into a private folder, and read again', async () => {
    const other = join(directory, 'deeper', 'urtuu');
    await change(other);
    expect(await readConfig(other, 'linux')).toEqual(config);
  });

  it.each<[string, (target: string) => void]>([
    ['a link', (target) => symlinkSync(target, file)],
    ['a relative link', () => symlinkSync('../dotfiles/urtuu.json', file)],
    [
      'a chain of links',
      (target) => {
        symlinkSync(target, `${directory}-link`);
        symlinkSync(`${directory}-link`, file);
      },
    ],
    [
      'a relative link in a linked folder',
      (target) => {
        const elsewhere = join(target, '../a/b');
        mkdirSync(elsewhere, { recursive: true });
        symlinkSync('../../urtuu.json', join(elsewhere, 'config.json'));
        rmSync(directory, { recursive: true });
        symlinkSync(elsewhere, directory);
      },
    ],
  ])('are changed through %s, which stays one', async (_, link) => {
    const dotfiles = join(directory, '../dotfiles');
    const target = join(dotfiles, 'urtuu.json');
    const before = readFileSync(file);
    rmSync(file);
    mkdirSync(dotfiles);
    writeFileSync(target, before, { mode: 0o600 });
    link(target);
    const added = (now: ConfigFile) => ({ profiles: { ...now.profiles, home: {} } });
    const both = { profiles: { ...config.profiles, home: {} } };
    expect(await change(directory, added)).toEqual(both);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual(both);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(dotfiles).filter((name) => name !== 'a')).toEqual(['urtuu.json']);
    // As after a move of the dotfiles.
    rmSync(dotfiles, { recursive: true });
    if (lstatSync(directory).isSymbolicLink()) return;
    expect(await change(directory, added)).toEqual({ profiles: { home: {} } });
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ profiles: { home: {} } });
  });

  it('are not written through a link into a folder in which others can write', async () => {
    const open = join(directory, '../open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    rmSync(file);
    symlinkSync(join(open, 'urtuu.json'), file);
    await expect(change(directory)).rejects.toMatchObject(
      unsafe(`${open} can be changed by others on this machine`),
    );
  });

  it('are not written through links in a circle', async () => {
    rmSync(file);
    symlinkSync(file, file);
    await expect(change(directory)).rejects.toMatchObject({ exit: 13, message: `cannot write ${file}` });
  });

  it('keep every change that is made at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(
      names.map((name) =>
        change(directory, ({ profiles }) => ({ current: name, profiles: { ...profiles, [name]: {} } })),
      ),
    );
    expect(Object.keys(read().profiles).sort()).toEqual(['work', ...names].sort());
  });

  it('are changed after a process that was killed during a change', async () => {
    writeFileSync(`${file}.lock`, '');
    expect(await change(directory)).toEqual(config);
    expect(readdirSync(directory)).toEqual(['config.json']);
  });

  it('are not changed while other commands change them all the time', async () => {
    const lock = `${file}.lock`;
    writeFileSync(lock, '');
    let mode = 0o600;
    const timer = instantTimer();
    const busy = {
      ...timer,
      sleep(milliseconds: number) {
        // The lock of another process has another time.
        mode = mode === 0o600 ? 0o400 : 0o600;
        chmodSync(lock, mode);
        return timer.sleep(milliseconds * 1_000);
      },
    };
    await expect(changeConfig(directory, () => config, busy, 'linux')).rejects.toMatchObject({
      code: 'busy_config',
      exit: 13,
      message: `another command is changing ${file}`,
      hint: `Run the command again once it has ended. If none is running, remove ${lock}`,
    });
    expect(read()).toEqual(config);
  });
});
