import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { withStartLock } from '../../../../src/cli/bulk/job/start-lock.js';
import { testFolder } from '../../../support/folders.js';

const patience = { pause: () => setImmediate(), mostUnanswered: 2 };

function stateFolder(): string {
  const folder = testFolder();
  return folder;
}

it('is held by one at a time, and free after an error', async () => {
  const state = stateFolder();
  let inside = 0;
  const work = (fails: boolean) => async () => {
    inside += 1;
    expect(inside).toBe(1);
    for (let tick = 0; tick < 20; tick += 1) await setImmediate();
    inside -= 1;
    if (fails) throw new Error('no');
    return 'made';
  };
  const ends = await Promise.allSettled(
    [false, true, false, true, false].map((fails) => withStartLock(state, patience, work(fails))),
  );
  expect(ends.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  ]);
  expect(await withStartLock(state, patience, work(false))).toBe('made');
});

it.skipIf(process.platform === 'win32')('is refused while a paused process has it, exit 11', async () => {
  const state = stateFolder();
  mkdirSync(join(state, 'starting'), { mode: 0o700 });
  const paused = createServer(() => {}).listen(join(state, 'starting', 'lock.1'));
  onTestFinished(() => void paused.close());
  await expect(withStartLock(state, patience, async () => 'made')).rejects.toMatchObject({
    code: 'job_locked',
    exit: 11,
    message: 'a paused process is starting another job',
  });
});
