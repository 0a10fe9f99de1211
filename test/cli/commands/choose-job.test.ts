import { describe, expect, it } from 'vitest';
import { answers } from '../../support/run.js';
import { saying } from '../../support/saying.js';
import { desk, people, SharedTime } from './bulk/desks.js';

/** A text for each job, so that none meets another's recipients. */
const send = (name: string) =>
  `sms bulk list.csv --text 'Hi {name} ${name}' --job ${name} --yes --allow-partial`;

/** Jobs by their names: one that has finished, and those that ran out of credits. */
async function withJobs(stopped: readonly string[], finished = 'done') {
  const here = desk(people(3), { credits: 30 });
  await here.run(send(finished));
  for (const name of stopped) {
    here.project.balance = 10;
    await here.run(send(name));
  }
  here.project.balance = 1_000;
  return here;
}

describe('a job that is not named', () => {
  it('is the only one that has stopped, for `jobs resume`', async () => {
    const here = await withJobs(['july']);
    const { code, stdout } = await here.run('jobs resume --json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ job: 'july', accepted: 3 });
    const none = await here.run('jobs resume');
    expect(none).toMatchObject({ code: 12, stdout: '' });
    expect(none.stderr).toContain('there is no job to resume');
  });

  it('is not one of another service, nor the empty name that a script gives', async () => {
    const here = await withJobs(['july']);
    const elsewhere = await here.run('jobs resume --base-url http://127.0.0.1:9999/v1');
    expect(elsewhere).toMatchObject({ code: 12 });
    expect(elsewhere.stderr).toContain(
      'There is one for another service: urtuu jobs resume july --base-url http://127.0.0.1:7788/v1',
    );
    expect((await here.run('jobs resume --sandbox')).stderr).toMatch(/: urtuu jobs resume july$/m);
    expect(await here.run("jobs resume ''")).toMatchObject(saying(12, 'there is no job '));
    expect(here.project.received().size).toBe(3);
  });

  it('is one with failures for `jobs resume --retry-failed`', async () => {
    const here = desk(people(3), { failing: new Set(['99000001']) });
    await here.run(send('july'));
    expect(await here.run('jobs resume')).toMatchObject({ code: 12 });
    here.project.options.failing = new Set();
    expect(await here.run('jobs resume --retry-failed')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('of several is asked for on a terminal', async () => {
    const here = await withJobs(['july', 'june']);
    const questions = answers('july');
    const { code } = await here.run('jobs resume', { terminal: 80, questions });
    expect(code).toBe(0);
    expect(questions.asked).toEqual(['Which job to resume?']);
    const jobs = JSON.parse((await here.run('jobs list --json')).stdout);
    expect(jobs.map(({ job, state }: Record<string, string>) => `${job} ${state}`).sort()).toEqual([
      'done finished',
      'july finished',
      'june unfinished',
    ]);
  });

  it.each([
    ['resume', 2, ['july', 'june']],
    ['cancel', 2, ['july', 'june']],
    ['show', 3, ['july', 'june', 'done']],
    ['report', 3, ['july', 'june', 'done']],
  ])('of several is exit 2 elsewhere, with their list: jobs %s', async (verb, count, names) => {
    const here = await withJobs(['july', 'june']);
    const sends = here.project.sends.length;
    const { code, stdout, stderr } = await here.run(`jobs ${verb}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`missing: <job>; ${count} jobs match\n`);
    for (const name of ['july', 'june', 'done'])
      expect(stderr.includes(`${name} (`)).toBe(names.includes(name));
    expect(stderr).toContain('july (stopped: out of credits)');
    expect(here.project.sends).toHaveLength(sends);
  });

  it('of very many has only some named', async () => {
    const here = await withJobs(Array.from({ length: 12 }, (_, index) => `job-${index}`));
    const { stderr } = await here.run('jobs cancel');
    expect(stderr).toMatch(/\), and 2 more$/m);
    expect(stderr.match(/job-\d+ \(/g)).toHaveLength(10);
  });

  it('is the only one there for `jobs show` and `jobs report`', async () => {
    const here = await withJobs([]);
    expect(JSON.parse((await here.run('jobs show --json')).stdout)).toMatchObject({ job: 'done' });
    expect((await here.run('jobs report')).stdout).toMatch(/^phone,name,message_id/);
    const none = desk(people(1));
    for (const verb of ['show', 'report', 'watch', 'cancel'])
      expect(await none.run(`jobs ${verb}`)).toMatchObject(saying(12, `to ${verb}`));
  });

  it('is the only one that runs for `jobs watch`, and the only unfinished one for `jobs cancel`', async () => {
    const here = await withJobs([]);
    const time = new SharedTime();
    let beside: Promise<unknown[]> | undefined;
    here.project.options.instead = ({ method }) => {
      if (method === 'POST' && here.project.messages.length > 5 && beside === undefined) {
        time.start();
        beside = Promise.all(
          ['jobs watch --json', 'jobs cancel --json'].map((line) => here.run(line, { clock: time.beside })),
        );
      }
      return undefined;
    };
    here.write('list.csv', ['phone,name', ...people(400)]);
    await here.run(`${send('july')} --concurrency 1`, { clock: time.job });
    time.end();
    const [watched, cancelled] = (await beside) as { code: number; stdout: string }[];
    expect(JSON.parse(watched?.stdout ?? '')).toMatchObject({ job: 'july' });
    expect(cancelled?.code).toBe(0);
    expect(JSON.parse(cancelled?.stdout ?? '')).toMatchObject({ job: 'july', reason: 'cancelled' });
    expect(await here.run('jobs cancel')).toMatchObject({ code: 12 });
  });
});
