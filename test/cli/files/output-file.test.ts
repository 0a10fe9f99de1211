import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWritable, writeNamedFile } from '../../../src/cli/files/output-file.js';
import { emptyFolder } from '../../support/folders.js';

const folder = emptyFolder();
const at = (name: string) => join(folder, name);

async function* blocks(...texts: string[]) {
  yield* texts;
}
const failing = async function* () {
  yield 'half';
  throw new Error('the disk of the source broke');
};
const patience = { note: () => {}, sleep: async () => {} };
const write = (name: string, ...texts: string[]) => writeNamedFile(at(name), blocks(...texts), patience);

describe('a file that a person names', () => {
  it('is made private, and replaced whole', async () => {
    await write('new.csv', 'a', 'b');
    expect(readFileSync(at('new.csv'), 'utf8')).toBe('ab');
    expect(statSync(at('new.csv')).mode & 0o777).toBe(0o600);
    await write('new.csv', 'c');
    expect(readFileSync(at('new.csv'), 'utf8')).toBe('c');
    expect(readdirSync(folder)).toEqual(['new.csv']);
  });

  it('is written although a process with this id died while it wrote', async () => {
    writeFileSync(at(`new.csv.${process.pid}.part`), 'half');
    await checkWritable(at('new.csv'));
    await write('new.csv', 'whole');
    expect(readFileSync(at('new.csv'), 'utf8')).toBe('whole');
  });

  it('keeps its mode', async () => {
    writeFileSync(at('old.csv'), 'old');
    chmodSync(at('old.csv'), 0o640);
    await write('old.csv', 'new');
    expect(statSync(at('old.csv')).mode & 0o777).toBe(0o640);
    expect(readFileSync(at('old.csv'), 'utf8')).toBe('new');
  });

  it('stays as it was when what is written breaks off', async () => {
    writeFileSync(at('old.csv'), 'old');
    await expect(writeNamedFile(at('old.csv'), failing(), patience)).rejects.toThrow(
      'the disk of the source',
    );
    expect(readFileSync(at('old.csv'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['old.csv']);
  });

  it.each([
    ['to a file', 'target.csv', true],
    ['to a file that is not there yet', 'target.csv', false],
  ])('is followed where it is a link %s', async (_, target, exists) => {
    mkdirSync(at('elsewhere'));
    if (exists) writeFileSync(at(`elsewhere/${target}`), 'old');
    symlinkSync(`elsewhere/${target}`, at('middle'));
    symlinkSync('middle', at('link'));
    await checkWritable(at('link'));
    await write('link', 'new');
    expect(readlinkSync(at('link'))).toBe('middle');
    expect(readFileSync(at(`elsewhere/${target}`), 'utf8')).toBe('new');
    expect(readdirSync(at('elsewhere'))).toEqual([target]);
  });

  it('is written through where it is a device', async () => {
    symlinkSync('/dev/null', at('null'));
    await checkWritable(at('null'));
    await write('null', 'gone');
    expect(lstatSync(at('null')).isSymbolicLink()).toBe(true);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  // macOS has no full device.
  it.runIf(existsSync('/dev/full'))('says that a device is full', async () => {
    await expect(write('../../dev/full', 'x')).rejects.toMatchObject({ exit: 13 });
    symlinkSync('/dev/full', at('full'));
    await expect(write('full', 'x')).rejects.toMatchObject({
      exit: 13,
      message: `cannot write ${at('full')}: the disk is full`,
    });
  });

  it('is written through where it is a named pipe, which waits for a reader and says so', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await checkWritable(at('pipe'));
    const notes: string[] = [];
    let reading: Promise<string> | undefined;
    let slept = 0;
    const big = 'x'.repeat(300_000);
    await writeNamedFile(at('pipe'), blocks('a', big), {
      note: (text) => {
        notes.push(text);
        reading = readFile(at('pipe'), 'utf8');
      },
      sleep: async (milliseconds) => {
        slept += milliseconds;
        await new Promise(setImmediate);
      },
    });
    expect(notes).toEqual([`waiting for a reader of ${at('pipe')}`]);
    expect(slept).toBeGreaterThanOrEqual(1_000);
    expect(await reading).toBe(`a${big}`);
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
  });

  it('is not waited for once the run is stopped', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const stop = AbortSignal.abort(new Error('stopped'));
    const sleep = async () => stop.throwIfAborted();
    await expect(writeNamedFile(at('pipe'), blocks('a'), { ...patience, sleep })).rejects.toMatchObject({
      exit: 13,
      message: `cannot write ${at('pipe')}: it has no reader`,
    });
  });

  it.each([
    ['a folder', '', 'it is a folder'],
    ['in a folder that is not there', 'nowhere/r.csv', 'its folder does not exist'],
    ['below a file', 'file/r.csv', 'a part of the path is a file'],
    ['a link in a circle', 'circle', 'its links form a loop'],
  ])('is refused before anything is sent: %s', async (_, name, why) => {
    writeFileSync(at('file'), '');
    symlinkSync('circle', at('circle'));
    for (const attempt of [() => checkWritable(at(name)), () => write(name, 'x')]) {
      await expect(attempt()).rejects.toMatchObject({
        exit: 13,
        message: `cannot write ${at(name)}: ${why}`,
        hint: expect.stringMatching(/./),
      });
    }
  });

  it('is not touched by the check', async () => {
    writeFileSync(at('old.csv'), 'old');
    await checkWritable(at('old.csv'));
    await checkWritable(at('new.csv'));
    expect(readFileSync(at('old.csv'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['old.csv']);
  });
});

describe.runIf(process.getuid?.() === 0)('as another user', () => {
  const asNobody = async (work: () => Promise<void>) => {
    process.seteuid?.(65_534);
    try {
      await work();
    } finally {
      process.seteuid?.(0);
    }
  };
  it('a file or folder that may not be written is refused before anything is sent', async () => {
    chmodSync(folder, 0o755);
    writeFileSync(at('theirs.csv'), 'old');
    mkdirSync(at('open'));
    chmodSync(at('open'), 0o777);
    writeFileSync(at('open/theirs.csv'), 'old');
    await asNobody(async () => {
      for (const name of ['theirs.csv', 'new.csv', 'open/theirs.csv']) {
        await expect(checkWritable(at(name))).rejects.toMatchObject({
          message: `cannot write ${at(name)}: permission denied`,
        });
      }
    });
    expect(readFileSync(at('open/theirs.csv'), 'utf8')).toBe('old');
  });
});
