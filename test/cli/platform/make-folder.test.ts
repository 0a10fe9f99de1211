import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../src/cli/platform/make-folder.js';
import { emptyFolder } from '../../support/folders.js';

const home = emptyFolder();

describe('makeFolder', () => {
  it('makes what is missing, for its owner alone, and leaves what is there', () => {
    const folder = join(home, 'one/two/three');
    makeFolder(folder);
    makeFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, 'one')).mode & 0o777).toBe(0o700);
  });

  it('says so where a file is in the way', () => {
    writeFileSync(join(home, 'file'), '');
    expect(() => makeFolder(join(home, 'file/one/two'))).toThrow('ENOTDIR');
  });

  it.runIf(process.platform === 'linux')('comes to an end where no folder can be made', () => {
    expect(() => makeFolder('/proc/none/one/two')).toThrow('ENOENT');
  });
});
