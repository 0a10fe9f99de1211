import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DataInUseError } from '../../../../../src/service/errors/data-error.js';
import { lockRestore } from '../../../../../src/service/storage/sqlite/backup/restore-lock.js';
import { loadEngine } from '../../../../../src/service/storage/sqlite/database/engine.js';
import { emptyFolder } from '../../../../support/folders.js';

const { DatabaseSync } = await loadEngine();
const directory = emptyFolder();

it('refuses a second restore until the first has ended', async () => {
  const release = await lockRestore(directory);
  await expect(lockRestore(directory)).rejects.toThrow(DataInUseError);
  release();
  (await lockRestore(directory))();
  expect(readdirSync(directory)).toEqual([]);
});

it.skipIf(process.platform === 'win32').each(['before', 'while', 'after'])(
  'leaves no file where another restore removes it %s this one opens it',
  async (moment) => {
    let ends = 2;
    const end = (at: string) => {
      if (at !== moment || ends === 0) return;
      ends -= 1;
      rmSync(join(directory, 'restore.lock'));
    };
    class Opened extends DatabaseSync {
      constructor(...words: ConstructorParameters<typeof DatabaseSync>) {
        end('before');
        super(...words);
        end('while');
      }
      override exec(sql: string): void {
        super.exec(sql);
        end('after');
      }
    }
    (await lockRestore(directory, { DatabaseSync: Opened }))();
    expect({ ends, left: readdirSync(directory) }).toEqual({ ends: 0, left: [] });
  },
);
