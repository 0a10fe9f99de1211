import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFolder } from '../../../src/cli/platform/lock.js';
import type { Desk } from '../../support/desk.js';
import { type Result, testKey } from '../../support/run.js';
import { saying } from '../../support/saying.js';
import { constant, desk, figures, people, personal, SharedTime } from './bulk/desks.js';

const marks = (here: Desk) =>
  readdirSync(here.jobFile('july', '')).filter((name) => name.startsWith('cancel.'));

/** Runs something once, when so many messages were sent. */
function whenSent(here: Desk, count: number, act: () => void): void {
  let done = false;
  here.project.options.instead = ({ method }) => {
    if (method === 'POST' && here.project.messages.length >= count && !done) {
      done = true;
      act();
    }
    return undefined;
  };
}

/** A job of 60 single sends that is cancelled while it runs: 40 go out at once, the rest at 20 a second. */
async function cancelledRun(here: Desk, line = personal): Promise<[run: Result, cancel: Result]> {
  const time = new SharedTime();
  let cancel: Promise<Result> | undefined;
  whenSent(here, 20, () => {
    time.start();
    cancel = here.run('jobs cancel july', { clock: time.beside });
  });
  const run = await here.run(line, { clock: time.job });
  time.end();
  if (cancel === undefined) throw new Error('nothing was sent');
  return [run, await cancel];
}

/** Another process that runs the job. */
async function holdLock(here: Desk): Promise<() => Promise<void>> {
  const lock = await lockFolder(here.jobFile('july', ''));
  if (!lock.held) throw new Error('the job runs');
  onTestFinished(lock.release);
  return lock.release;
}

describe('urtuu jobs cancel', () => {
  it('ends a running job with 5, keeps the rest for jobs resume, and sends nobody anything twice', async () => {
    const here = desk(people(400));
    const [run, cancel] = await cancelledRun(here);
    expect(run).toMatchObject(saying(5, 'cancelled: finishing the requests in flight'));
    expect(run.stderr).toMatch(
      /Cancelled\. \d+ accepted, \d+ not sent yet\. Nothing is in doubt\. Resume with: urtuu jobs resume july\n$/,
    );
    expect(cancel.code).toBe(0);
    expect(cancel.stdout).toMatch(/^state +stopped: cancelled$/m);
    expect(cancel.stderr).toBe('Resume it with: urtuu jobs resume july\n');
    expect(here.project.messages.length).toBeLessThan(400);

    const again = await here.run(personal);
    expect(again).toMatchObject({ code: 11, stdout: '' });
    expect(again.stderr).toMatch(
      /was cancelled\n +Nothing was sent this time\. Resume it with: urtuu jobs resume july/,
    );
    expect(await here.run('jobs cancel july')).toMatchObject({ code: 0 });

    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect(marks(here)).toEqual([]);
    expect([...here.project.received().values()]).toEqual(Array(400).fill(1));
    const late = await here.run('jobs cancel july');
    expect(late).toMatchObject({ code: 11, stdout: '' });
    expect(late.stderr).toContain('nothing is left to cancel');
  });

  it('ends with 6 where something is in doubt', async () => {
    const here = desk(people(400));
    const time = new SharedTime();
    let cancel: Promise<Result> | undefined;
    here.project.options.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      if (here.project.messages.length < 20) return undefined;
      if (cancel === undefined) {
        time.start();
        cancel = here.run('jobs cancel july', { clock: time.beside });
      }
      return new Error('reset');
    };
    const run = await here.run(`${personal} --concurrency 2`, { clock: time.job });
    time.end();
    expect(run).toMatchObject(saying(6, /Cancelled\. .*\d+ in doubt\. Resume with: urtuu jobs resume july /));
    expect((await here.run('jobs show july')).stdout).toMatch(/^state +stopped: cancelled, \d+ in doubt$/m);
    expect(await cancel).toMatchObject({ code: 0 });
    here.project.options.instead = () => undefined;
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(Array(400).fill(1));
  });

  it('tells a program of it in one object, with the exit of the job', async () => {
    const here = desk(people(400));
    const [run] = await cancelledRun(here, `${personal} --json`);
    expect(figures(run.stdout)).toMatchObject({ exit: 5, in_doubt: 0 });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { exit: 5, hint: 'Resume with: urtuu jobs resume july' },
    });
    const [job] = JSON.parse((await here.run('jobs list --json')).stdout);
    expect(job).toMatchObject({ state: 'unfinished', reason: 'cancelled', exit: 5 });
    const again = await here.run(`${personal} --json`);
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'job_cancelled', exit: 11 } });
  });

  it('waits no longer than 30 s for its process, exit 14, and the mark stays', async () => {
    const here = desk(people(3), { credits: 10 });
    await here.run(`${personal} --allow-partial`);
    const release = await holdLock(here);
    const seen = new Set<number>();
    const cancel = await here.run('jobs cancel july', {
      clock: { sleep: async () => void seen.add(marks(here).length) },
    });
    expect(cancel).toMatchObject({ code: 14, stdout: '' });
    // A run that starts now sees the mark.
    expect([...seen]).toEqual([1]);
    expect(cancel.stderr).toContain(`the job july is still running (pid ${process.pid})`);
    expect(cancel.slept).toBe(30_000);
    // Twice is no error, and a resume overrules both.
    expect(await here.run('jobs cancel july')).toMatchObject({ code: 14 });
    expect(marks(here)).toHaveLength(2);
    await release();
    expect(await here.run('jobs cancel july')).toMatchObject({ code: 0 });
    here.project.balance = 100;
    expect(await here.run(personal)).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect(marks(here)).toEqual([]);
  });

  it('is not lost when it comes while a resume starts', async () => {
    const here = desk(people(3), { credits: 10 });
    await here.run(`${personal} --allow-partial`);
    await here.run('jobs cancel july');
    here.project.balance = 100;
    const sends = here.project.sends.length;
    // The resume has read the marks, and asks for the key before it takes them away.
    const env = {
      get URTUU_API_KEY() {
        if (marks(here).length === 1) writeFileSync(here.jobFile('july', 'cancel.later'), '');
        return testKey;
      },
    };
    const resume = await here.run('jobs resume july', { env });
    expect([resume.code, marks(here)]).toEqual([5, ['cancel.later']]);
    expect(here.project.sends.length).toBe(sends);
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
  });

  it('says so when a resume has overruled it', async () => {
    const here = desk(people(3), { credits: 10 });
    await here.run(`${personal} --allow-partial`);
    await holdLock(here);
    const cancel = await here.run('jobs cancel july', {
      clock: {
        async sleep() {
          for (const mark of marks(here)) rmSync(here.jobFile('july', mark));
        },
      },
    });
    expect(cancel).toMatchObject(saying(14, 'was cancelled, and resumed since'));
  });

  it('stops a run that was confirmed after it, before its first request', async () => {
    const here = desk(people(5));
    const confirmed = async () => {
      writeFileSync(here.jobFile('july', 'cancel.meanwhile'), '');
      return true;
    };
    const questions = { confirm: confirmed } as never;
    const run = await here.run("sms bulk list.csv --text 'Hello {name}' --job july", {
      terminal: 80,
      questions,
    });
    expect(run.code).toBe(5);
    expect(here.project.sends).toEqual([]);
    // The job stays, although nothing of it was sent.
    expect(await here.run(personal)).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect(here.project.messages).toHaveLength(5);
  });

  it('is exit 12 where the job is removed meanwhile, as it is for jobs watch', async () => {
    const here = desk(people(3), { credits: 10 });
    await here.run(`${personal} --allow-partial`);
    for (const command of ['cancel', 'watch']) {
      const folder = here.jobFile('july', '');
      const release = await holdLock(here);
      cpSync(folder, `${here.home}/kept`, { recursive: true, filter: (path) => !path.includes('lock.') });
      const ended = await here.run(`jobs ${command} july`, {
        clock: { sleep: async () => rmSync(folder, { recursive: true, force: true }) },
      });
      expect([command, ended.code]).toEqual([command, 12]);
      await release();
      renameSync(`${here.home}/kept`, folder.replace(/\/$/, ''));
    }
  });

  it('knows no other job, exit 12', async () => {
    const here = desk(people(1));
    expect(await here.run('jobs cancel july')).toMatchObject({ code: 12, stdout: '' });
  });

  it('changes nothing for a finished job that was cancelled too late', async () => {
    const here = desk(people(3));
    await here.run(constant);
    writeFileSync(here.jobFile('july', 'cancel.late'), '');
    const again = await here.run(constant);
    expect(again.stderr).toContain('finished at');
    expect(await here.run(`${constant} --if-finished ok`)).toMatchObject({ code: 0 });
    const [job] = JSON.parse((await here.run('jobs list --json')).stdout);
    expect(job).toMatchObject({ state: 'finished', reason: null, exit: 0 });
  });
});
