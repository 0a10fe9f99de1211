import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Job } from '../../../../src/cli/bulk/job/open-job.js';
import { watchForCancel } from '../../../../src/cli/commands/bulk/cancellation.js';
import type { Context } from '../../../../src/cli/context.js';
import { testFolder } from '../../../support/folders.js';

const looks: (() => void)[] = [];
const context = {
  clock: {
    after(_: number, run: () => void) {
      looks.push(run);
      return () => {};
    },
  },
  signal: new AbortController().signal,
} as unknown as Pick<Context, 'clock' | 'signal'>;

it('begins no run where it cannot look for a cancellation, and goes on where it cannot later', async () => {
  const folder = testFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const job = (path: string) => ({ id: 'july', folder: path }) as Job;
  await expect(watchForCancel(context, job(file))).rejects.toMatchObject({ exit: 13 });
  expect(looks).toEqual([]);
  const seen = job(folder);
  const { stop } = await watchForCancel(context, seen);
  const again = async (path: string) => {
    Object.assign(seen, { folder: path });
    looks.pop()?.();
    await expect.poll(() => looks.length + Number(stop.aborted)).toBe(1);
  };
  await again(file);
  expect(stop.aborted).toBe(false);
  writeFileSync(join(folder, 'cancel.1'), '');
  await again(folder);
  expect(stop.aborted).toBe(true);
});
