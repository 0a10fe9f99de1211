import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsIn } from '../../../support/printed-commands.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, people, personal } from './desks.js';

const [first = ''] = numbers(1);
const failing = new Set([first]);

describe('the rows of a batch that failed', () => {
  it('have a command that sends to them alone, from any folder', async () => {
    const here = desk(people(3), { failing });
    const { code, stderr } = await here.run(`${constant} --wait --report out.csv --skip-sent`);
    expect(code).toBe(3);
    expect(stderr).toContain('1 failed and refunded. Nothing is in doubt. Send the failed messages again');
    const [send] = commandsIn(stderr);
    // Its own report would take the place of the one with all rows.
    expect(send?.line).toBe('urtuu jobs retry july --wait --yes');
    here.project.options.failing = new Set();
    const cwd = join(here.home, 'elsewhere');
    mkdirSync(cwd);
    expect(await here.run('', { argv: send?.words ?? [], cwd })).toMatchObject({ code: 0 });
    expect([...here.project.received()].sort()).toEqual(numbers(3).map((to) => [to, 1]));
  });

  it.each([
    ['a batch', constant],
    ['single sends', personal],
  ])('of %s have a command for whoever watches, too', async (_, line) => {
    const here = desk(people(3), { failing });
    await here.run(`${line} --wait`);
    expect(await here.run('jobs watch july')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/Send the failed messages again with: urtuu jobs retry july$/m),
    });
  });
});
