import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../support/run.js';
import { constant, desk, figures, partly, people, personal, SharedTime } from './bulk/desks.js';

describe('urtuu jobs watch', () => {
  it('follows a running job with a line every 10 s on a pipe, and ends as it does', async () => {
    const here = desk(people(700));
    const time = new SharedTime();
    let watch: Promise<Result> | undefined;
    here.project.options.instead = ({ method }) => {
      if (method === 'POST' && here.project.messages.length >= 60 && watch === undefined) {
        time.start();
        watch = here.run('jobs watch july', { clock: time.beside });
      }
      return undefined;
    };
    const run = await here.run(personal, { clock: time.job });
    time.end();
    const { code, stdout, stderr } = (await watch) as Result;
    expect([run.code, code]).toEqual([0, 0]);
    expect(stdout).toBe(run.stdout);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.pop()).toBe('700 accepted. Nothing is in doubt.');
    for (const line of lines) expect(line).toMatch(/^\d+ of 700 accepted, 0 failed, /);
    expect(lines.length).toBeGreaterThan(0);
  });

  it.each([
    ['finished', constant, 0, /^5 accepted\. Nothing is in doubt\.\n$/],
    ['out of credits', partly, 7, /2 accepted, 3 not sent yet.*Resume with: urtuu jobs resume july\n$/],
  ])('ends at once with the exit of a job that is %s', async (_, line, code, words) => {
    const here = desk(people(5), { credits: line === partly ? 20 : 1_000 });
    const run = await here.run(line);
    const watch = await here.run('jobs watch july');
    expect([run.code, watch.code]).toEqual([code, code]);
    expect(watch.stdout).toBe(run.stdout);
    expect(watch.stderr).toMatch(words);
    expect(watch.slept).toBe(0);
    const program = await here.run('jobs watch july --json');
    expect(figures(program.stdout)).toMatchObject({ job: 'july', planned: 5, exit: code });
    expect(program.code).toBe(code);
  });

  it('ends with 6 for a job that was killed with a request in flight', async () => {
    const here = desk(people(5), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const journal = here.jobFile('july', 'journal');
    const lines = readFileSync(journal, 'latin1').trimEnd().split('\n');
    const lastSend = lines.findLastIndex((line) => line.includes('"send"'));
    writeFileSync(journal, `${lines.slice(0, lastSend + 1).join('\n')}\n`);
    const watch = await here.run('jobs watch july');
    expect(watch.code).toBe(6);
    expect(watch.stderr).toContain('1 in doubt');
    expect((await here.run('jobs show july')).stdout).toMatch(/^state +stopped: killed, 1 in doubt$/m);
  });

  it('ends with the failures that a later run found before it was killed, not with 0', async () => {
    const here = desk(people(5), { failing: new Set(['99000001']) });
    await here.run(constant);
    expect((await here.run('jobs resume july --wait')).code).toBe(3);
    const journal = here.jobFile('july', 'journal');
    const lines = readFileSync(journal, 'latin1').trimEnd().split('\n');
    expect(lines.pop()).toContain('"end"');
    writeFileSync(journal, `${lines.join('\n')}\n`);
    const watch = await here.run('jobs watch july');
    expect(watch.stderr).toContain('4 sent, 1 failed and refunded');
    expect(watch.code).toBe(3);
  });

  it('ends with 6 where a report found the batch of somebody else since', async () => {
    const here = desk(people(2));
    await here.run(constant);
    for (const message of here.project.messages) message.to = '88000000';
    expect((await here.run('jobs report july')).stderr).toContain('it is counted as in doubt');
    const watch = await here.run('jobs watch july --json');
    expect(figures(watch.stdout)).toMatchObject({ in_doubt: 2, exit: 6 });
    expect(watch.code).toBe(6);
  });

  it('reads on where it stopped, past a line that is only half written', async () => {
    const { followJob } = await import('../../../src/cli/bulk/job/open-job.js');
    const here = desk(people(5), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const journal = here.jobFile('july', 'journal');
    const whole = readFileSync(journal);
    for (const cut of [whole.length - 1, whole.length - 20, 100]) {
      writeFileSync(journal, whole.subarray(0, cut));
      const job = await followJob(`${here.home}/.local/state/urtuu`, 'july');
      appendFileSync(journal, whole.subarray(cut));
      await job.update();
      await job.update();
      expect(job.state.counts).toMatchObject({ accepted: 2, pending: 3, in_doubt: 0 });
      expect(job.state.credits).toBe(20);
    }
  });

  it('knows no other job, exit 12', async () => {
    expect(await desk(people(1)).run('jobs watch july')).toMatchObject({ code: 12, stdout: '' });
  });
});

describe('urtuu jobs list', () => {
  it('has the newest job first, and says why one has stopped', async () => {
    const here = desk(people(5), { credits: 75 });
    const at = (day: number) => ({ clock: { now: () => Date.UTC(2026, 10, day, 12) } });
    await here.run("sms bulk list.csv --text 'A' --job first --yes", at(1));
    await here.run("sms bulk list.csv --text 'B {name}' --job second --yes --allow-partial", at(3));
    await here.run(
      "sms bulk list.csv --text 'C {name}' --job third --yes --allow-partial --max-credits 100",
      at(2),
    );
    await here.run('jobs cancel third', at(4));
    const { stdout, stderr } = await here.run('jobs list --no-color', { terminal: 80, ...at(5) });
    expect(stderr).toBe('3 jobs: 70 credits.\n');
    expect(stdout.split('\n')).toEqual([
      'JOB     CREATED     ACCEPTED  PENDING  CREDITS  SOURCE    STATE',
      'second  2026-11-03         2        3       20  list.csv  stopped: out of',
      '                                                          credits',
      'third   2026-11-02         0        5        0  list.csv  stopped: cancelled',
      'first   2026-11-01         5                50  list.csv  finished',
      '',
    ]);
    const jobs = JSON.parse((await here.run('jobs list --json')).stdout);
    expect(jobs.map(({ job, state, reason }: Record<string, string>) => [job, state, reason])).toEqual([
      ['second', 'unfinished', 'out of credits'],
      ['third', 'unfinished', 'cancelled'],
      ['first', 'finished', null],
    ]);
  });

  it('shows the failures of a finished job', async () => {
    const here = desk(people(5), { failing: new Set(['99000001']) });
    await here.run(personal);
    expect((await here.run('jobs list')).stdout).toMatch(
      /^JOB +CREATED +ACCEPTED +FAILED +CREDITS +SOURCE +STATE\njuly +\S+ +4 +1 +40 +list\.csv +finished: 1 failed$/m,
    );
  });
});
