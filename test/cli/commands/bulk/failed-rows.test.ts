import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsIn } from '../../../support/printed-commands.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, people, personal } from './desks.js';

const [first = ''] = numbers(1);
const failing = new Set([first]);

describe('the rows of a batch that failed', () => {
  it('have commands that write their report and send to them alone, from any folder', async () => {
    const here = desk(people(3), { failing });
    const { code, stderr } = await here.run(`${constant} --wait`);
    expect(code).toBe(3);
    expect(stderr).toContain('1 failed and refunded. Nothing is in doubt. The failed rows are in the report');
    const [write, send] = commandsIn(stderr);
    expect(write?.words).toEqual(['jobs', 'report', 'july', '--report', join(here.home, 'july-report.csv')]);
    expect(send?.words.slice(3)).toEqual(['--only', 'failed', '--like', 'july', '--yes']);
    here.project.options.failing = new Set();
    const cwd = join(here.home, 'elsewhere');
    mkdirSync(cwd);
    for (const command of [write, send])
      expect(await here.run('', { argv: command?.words ?? [], cwd })).toMatchObject({ code: 0 });
    expect([...here.project.received()].sort()).toEqual(numbers(3).map((to) => [to, 1]));
  });

  it('are sent from the report that the job has written', async () => {
    const here = desk(people(3), { failing });
    const { stderr } = await here.run(`${constant} --wait --report out.csv --skip-sent`);
    expect(commandsIn(stderr).map(({ line }) => line)).toEqual([
      `urtuu sms bulk ${here.home}/out.csv --only failed --like july --yes`,
    ]);
  });

  it.each([
    [
      'a batch',
      constant,
      /The failed rows are in the report of the job: urtuu jobs report july --report \S+$/m,
    ],
    ['single sends', personal, /Retry the failed messages with: urtuu jobs resume july --retry-failed$/m],
  ])('of %s have a command for whoever watches, too', async (_, line, command) => {
    const here = desk(people(3), { failing });
    await here.run(`${line} --wait`);
    expect(await here.run('jobs watch july')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(command),
    });
  });
});
