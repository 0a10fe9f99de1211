import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import { forgetRun, noteRun, runningOf } from '../../../../src/cli/bulk/job/run-note.js';
import { lockFolder } from '../../../../src/cli/platform/lock.js';
import { testFolder } from '../../../support/folders.js';
import { desk, figures, people, personal } from '../../commands/bulk/desks.js';
import { decoded } from '../journal-lines.js';

/** 10 requests of one recipient each, and so many of them accepted. */
function stateOf(accepted: number): JobState {
  const state = new JobState({ requests: 10, recipients: 10, rejected: 0, channel: 'sms' });
  for (let request = 0; request < accepted; request += 1) {
    state.apply(decoded(['send', request, 0, 1]));
    state.apply(decoded(['accepted', request, 0, 'id', 10, 'single']));
  }
  return state;
}

async function lockedFolder(): Promise<string> {
  const folder = testFolder();
  const lock = await lockFolder(folder);
  onTestFinished(async () => {
    if (lock.held) await lock.release();
  });
  return folder;
}

describe('a running job', () => {
  it('has a rate and a time left, from what this run has done', async () => {
    const folder = await lockedFolder();
    await noteRun(folder, stateOf(2), 1_000);
    expect(await runningOf(folder, stateOf(6), 3_000)).toEqual({
      pid: process.pid,
      rate: 2,
      seconds_left: 2,
    });
    expect(await runningOf(folder, stateOf(2), 3_000)).toEqual({
      pid: process.pid,
      rate: null,
      seconds_left: null,
    });
    await forgetRun(folder);
    expect(await runningOf(folder, stateOf(6), 3_000)).toMatchObject({ pid: process.pid, rate: null });
  });

  it.each(['', '{', 'null', '{"pid": 1, "since": 2, "open": 3, "settled": 4}', '{"pid": "x"}'])(
    'has none where the note is damaged, or of another process: %j',
    async (note) => {
      const folder = await lockedFolder();
      writeFileSync(join(folder, 'running'), note);
      expect(await runningOf(folder, stateOf(1), 1)).toEqual({
        pid: process.pid,
        rate: null,
        seconds_left: null,
      });
    },
  );

  it('is told from one that nobody works on, to people and programs', async () => {
    const here = desk(people(30));
    const shown: { code: unknown; stdout: string }[] = [];
    here.project.options.instead = ({ method }) => {
      if (method !== 'POST' || here.project.messages.length !== 10 || shown.length > 0) return undefined;
      const look = async (line: string) => void shown.push(await here.run(line));
      return Promise.all(['jobs show july --json', 'jobs show july', 'jobs list'].map(look)).then(
        () => undefined,
      );
    };
    await here.run(personal);
    expect(shown.length).toBeGreaterThanOrEqual(3);
    expect(figures(shown.find(({ stdout }) => stdout.startsWith('{'))?.stdout ?? '')).toMatchObject({
      state: 'running',
      pid: process.pid,
      ended_at: null,
      exit: null,
    });
    expect(shown.some(({ stdout }) => /^state +running: pid \d+/m.test(stdout))).toBe(true);
    expect(shown.some(({ stdout }) => /^july .* running: pid \d+/m.test(stdout))).toBe(true);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({
      state: 'finished',
      pid: null,
      rate: null,
      exit: 0,
    });
  });
});
