import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jobFolder } from '../../../../src/cli/bulk/job/jobs-folder.js';
import { testFolder } from '../../../support/folders.js';

it.skipIf(process.platform === 'win32')(
  'a name in other capitals is no job, where the disk finds it too',
  async () => {
    const state = testFolder();
    const july = join(state, 'jobs/july');
    mkdirSync(july, { recursive: true });
    // As macOS and Windows find it. On macOS itself this link is there already.
    if (process.platform !== 'darwin') symlinkSync('july', join(state, 'jobs/July'));
    expect(await jobFolder(state, 'july')).toBe(july);
    await expect(jobFolder(state, 'July')).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('july'),
    });
  },
);
