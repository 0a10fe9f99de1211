import { describe, expect, it } from 'vitest';
import { answers, refusal } from '../../../../support/run.js';
import { numbers } from '../../../bulk/memory-plan.js';
import { desk, figures, people } from '../desks.js';

const [first = '', second = ''] = numbers(2);
const send = "sms bulk list.csv --text 'Hello {name}' --yes";
const once = (count: number) => Array(count).fill(1);

/** Two jobs of the same messages, all of which failed in both. */
async function failedTwice(...failing: string[]) {
  const here = desk(people(failing.length), { failing: new Set(failing) });
  for (const job of ['one', 'two']) expect(await here.run(`${send} --job ${job}`)).toMatchObject({ code: 9 });
  here.project.options.failing = new Set();
  return here;
}

describe('a failed row whose message another job has sent since', () => {
  it.each(['jobs resume two --retry-failed', `${send} --job two --retry-failed`])(
    'is moved to that job, and not sent again: %s',
    async (retry) => {
      const here = await failedTwice(first);
      expect(await here.run('jobs resume one --retry-failed')).toMatchObject({ code: 0 });
      const { code, stderr } = await here.run(retry);
      expect([code, stderr]).toEqual([11, expect.stringContaining('1 failed row left out: another job has')]);
      expect([...here.project.received().values()]).toEqual(once(1));
      const shown = figures((await here.run('jobs show two --json')).stdout);
      expect(shown).toMatchObject({ accepted: 0, failed: 0, moved: 1, moved_to: ['one'] });
      expect((await here.run('jobs report two')).stdout).toMatch(/^99000000,.*,moved,moved_to:one,/m);
    },
  );

  it('is moved alone where others are still to be sent, and asked about', async () => {
    const here = await failedTwice(first, second);
    here.project.options.failing = new Set([second]);
    expect(await here.run('jobs resume one --retry-failed')).toMatchObject({ code: 3 });
    here.project.options.failing = new Set();
    const questions = answers(true);
    const line = `${send.replace(' --yes', '')} --job two --retry-failed`;
    const { code } = await here.run(line, { terminal: 80, questions });
    expect([code, questions.asked]).toEqual([0, ['Send to 1 recipient for 10 credits?']]);
    // The second one is that other job's now.
    expect(await here.run('jobs resume one --retry-failed')).toMatchObject({ code: 11 });
    expect([...here.project.received().values()]).toEqual(once(2));
  });

  it('is one of a batch that failed as a whole', async () => {
    const here = desk(people(3));
    const failed = refusal(502, 'provider_failed', { id: 'm' });
    here.project.options.instead = ({ method }) => (method === 'POST' ? failed : undefined);
    const line = 'sms bulk list.csv --text Hello --yes';
    expect(await here.run(`${line} --job one`)).toMatchObject({ code: 9 });
    delete here.project.options.instead;
    here.write('list.csv', ['phone,name', ...people(1)]);
    expect(await here.run(`${line} --job two`)).toMatchObject({ code: 0 });
    expect(await here.run('jobs resume one --retry-failed')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(3));
    const shown = figures((await here.run('jobs show one --json')).stdout);
    expect(shown).toMatchObject({ accepted: 2, failed: 0, moved: 1, moved_to: ['two'] });
  });

  it('is sent where that job only plans to send it', async () => {
    const here = desk(people(1), { failing: new Set([first]) });
    expect(await here.run(`${send} --job one`)).toMatchObject({ code: 9 });
    const away = refusal(401, 'unauthorized');
    here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
    expect(await here.run(`${send} --job two`)).toMatchObject({ code: 4 });
    delete here.project.options.instead;
    here.project.options.failing = new Set();
    expect(await here.run('jobs resume one --retry-failed')).toMatchObject({ code: 0 });
    expect(here.project.received().get(first)).toBe(1);
  });

  it('is sent where that job sent it before this one began, or sent another text', async () => {
    const here = desk(people(2));
    await here.run(`${send} --job july`);
    here.project.options.failing = new Set([first]);
    const clock = { now: () => Date.parse('2026-11-21T12:00:00Z') };
    expect(await here.run(`${send} --job august`, { clock })).toMatchObject({ code: 3 });
    here.project.options.failing = new Set();
    expect(await here.run(`${send.replace('Hello', 'Bye')} --job bye`, { clock })).toMatchObject({ code: 0 });
    expect(await here.run('jobs resume august --retry-failed', { clock })).toMatchObject({ code: 0 });
    expect(here.project.received().get(first)).toBe(3);
  });
});
