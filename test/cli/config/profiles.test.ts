import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig, writeConfig } from '../../../src/cli/config/profiles.js';
import { exposureOf } from '../../../src/cli/platform/private-file.js';

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
    await expect(writeConfig(directory, config, 'linux')).rejects.toMatchObject(refused);
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
    await writeConfig(other, config, 'linux');
    expect(await readConfig(other, 'linux')).toEqual(config);
  });
});
