import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { backup, restore } from '../../../src/service/data/data-copies.js';
import { isBusy, isDamaged } from '../../../src/service/storage/sqlite/database/busy.js';
import { rename } from '../../../src/service/storage/sqlite/database/rename.js';
import { Cores, outboxOf, requestsTo } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

/** A rename that fails so often; gives the error at the end, or null. */
async function failing(code: string, times: number, platform: NodeJS.Platform) {
  const made = { tries: 0, waited: 0, error: null as unknown };
  const calls = {
    platform,
    rename() {
      made.tries += 1;
      if (made.tries <= times) throw Object.assign(new Error(code), { code });
    },
    pause: async (milliseconds?: number) => {
      made.waited += milliseconds ?? 0;
    },
  };
  await rename('from', 'to', calls as Parameters<typeof rename>[2]).catch((error) => {
    made.error = error.code;
  });
  return made;
}

describe('a rename', () => {
  it.each([
    ['win32', 'EBUSY', 3, { tries: 4, waited: 30, error: null }],
    ['win32', 'EPERM', 99, { tries: 50, waited: 490, error: 'EPERM' }],
    ['win32', 'ENOENT', 1, { tries: 1, waited: 0, error: 'ENOENT' }],
    ['darwin', 'EBUSY', 1, { tries: 1, waited: 0, error: 'EBUSY' }],
  ] as const)('on %s that fails with %s, %i times', async (platform, code, times, made) => {
    expect(await failing(code, times, platform)).toEqual(made);
  });
});

it('a restore that fails half-way puts back what it moved', async () => {
  const root = cores.folder();
  const running = join(root, 'running');
  const directory = join(root, 'data');
  const target = join(root, 'backup');
  const core = await cores.open({ directory: running });
  const { send } = requestsTo(() => core);
  await send('99112233', 'Hi');
  await backup(running, target);
  await send('99112234', 'Hi');
  await core.close();
  // As when its process ends: on Node.js 20 a connection that was closed keeps its locks for a while.
  cpSync(running, directory, { recursive: true });
  const names = readdirSync(directory).filter((name) => !/-(?:wal|shm)$/.test(name));
  // A folder cannot be copied as a file: by then the databases have been moved.
  rmSync(join(directory, 'installation.json'));
  mkdirSync(join(directory, 'installation.json'));
  await expect(restore(target, directory)).rejects.toMatchObject({ code: 'EISDIR' });
  expect(readdirSync(directory).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(names);
  rmSync(join(directory, 'installation.json'), { recursive: true });
  const again = await cores.open({ directory, acceptData: true });
  expect(await outboxOf(again)).toHaveLength(2);
});

it.each([
  ['database is locked', true, false],
  ['database table is locked', true, false],
  ['file is not a database', false, true],
  ['database disk image is malformed', false, true],
  ['no such table: messages', false, false],
])("an error of SQLite without its number, '%s', is known by its text", (message, busy, damaged) => {
  expect([isBusy(new Error(message)), isDamaged(new Error(message))]).toEqual([busy, damaged]);
});
