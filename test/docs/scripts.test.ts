import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../support/binary.js';
import { Desk } from './desk.js';

let desk: Desk;
beforeEach(async () => {
  const opened = await Desk.open();
  onTestFinished(() => opened[Symbol.asyncDispose]());
  desk = opened;
  // Waits are written down, not waited for.
  desk.script('sleep', `echo "$1" >> '${join(desk.folder, 'waits')}'`);
});

const start = (name: string, args: string[], env: Record<string, string>) =>
  desk.run('sh', [join(root, 'examples', name), ...args], env);
const waits = () => readFileSync(join(desk.folder, 'waits'), 'utf8').trim().split('\n');
const texts = async (to: string) => (await desk.sandbox.outbox({ to })).map(({ text }) => text);

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9/v1';

describe('balance-alert.sh', () => {
  const alert = (env: Record<string, string> = {}) =>
    start('balance-alert.sh', [], { ...desk.environment, ON_CALL: '99112233', ...env });

  it('says nothing while there are enough credits', async () => {
    expect(await alert()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await desk.sandbox.outbox()).toEqual([]);
  });

  it('sends one message a day when they run low, however often it runs', async () => {
    for (let run = 0; run < 3; run += 1) expect((await alert({ MINIMUM: '200000' })).code).toBe(0);
    expect(await texts('99112233')).toEqual(['Fewer than 200000 credits are left.']);
  });

  it('ends as urtuu did, and says why, where nothing is known about the balance', async () => {
    expect(await alert({ URTUU_BASE_URL: nowhere })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('connection refused'),
    });
    expect((await alert({ URTUU_API_KEY: 'wrong' })).code).toBe(4);
  });

  it('needs a number to tell', async () => {
    const { ON_CALL: _, ...env } = { ...desk.environment, ON_CALL: '' };
    expect((await start('balance-alert.sh', [], env)).code).not.toBe(0);
  });
});

describe('nightly-reminders.sh', () => {
  /** Nothing but what cron gives. */
  const cron = () => ({
    HOME: join(desk.folder, 'home'),
    LOGNAME: 'someone',
    PATH: `${join(desk.folder, 'bin')}:/usr/bin:/bin`,
    SHELL: '/bin/sh',
    REMINDERS: join(desk.folder, 'reminders'),
  });
  const remind = (env = {}) => start('nightly-reminders.sh', [], { ...cron(), ...env });
  const today = async () => (await desk.run('date', ['+%F'])).stdout.trim();

  async function prepare(list = 'debtors.csv'): Promise<string> {
    mkdirSync(join(desk.folder, 'reminders'));
    copyFileSync(join(desk.folder, list), join(desk.folder, 'reminders', `${await today()}.csv`));
    copyFileSync(join(desk.folder, 'urtuu.key'), join(desk.folder, 'reminders/urtuu.key'));
    desk.write('reminders/text.txt', 'Сайн уу {name}, төлбөр {amount} төгрөг.');
    desk.write('reminders/url.txt', `${desk.sandbox.url}\n`);
    return join(desk.folder, 'reminders', `${await today()}.report.csv`);
  }
  const received = async () => (await desk.sandbox.outbox()).map(({ to }) => to);

  it('sends each line of the day once, however often it runs, and writes the report', async () => {
    const report = await prepare();
    expect(await remind()).toMatchObject({ code: 0, stderr: '' });
    expect(await remind()).toMatchObject({ code: 0 });
    const to = await received();
    expect(to).toHaveLength(20);
    expect(new Set(to).size).toBe(20);
    expect(readFileSync(report, 'utf8').match(/,sent,/g)).toHaveLength(20);
  });

  it('goes on after it was killed, and nobody gets a second reminder', async () => {
    const report = await prepare();
    const list = report.replace('.report', '');
    // The operator takes 10 seconds for this number: it is on its way when the run dies.
    writeFileSync(list, `${readFileSync(list, 'utf8')}Дорж,99000004,500\n`);
    const killed = spawn('sh', [join(root, 'examples/nightly-reminders.sh')], {
      env: cron(),
      stdio: 'ignore',
    });
    const died = once(killed, 'close');
    while ((await received()).length < 1) await setTimeout(20);
    killed.kill('SIGKILL');
    expect(await died).toEqual([null, 'SIGKILL']);
    expect(await remind()).toMatchObject({ code: 0 });
    await desk.sandbox.settled();
    const to = await received();
    expect({ messages: to.length, people: new Set(to).size }).toEqual({ messages: 21, people: 21 });
  });

  it('does nothing on a day without a list', async () => {
    const report = await prepare();
    rmSync(report.replace('.report', ''));
    expect(await remind()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(existsSync(report)).toBe(false);
  });

  it('ends with 3 where one could not be sent, and names it in the report', async () => {
    const report = await prepare();
    const list = report.replace('.report', '');
    writeFileSync(list, `${readFileSync(list, 'utf8')}Дорж,99000001,500\n`);
    expect((await remind()).code).toBe(3);
    expect(readFileSync(report, 'utf8')).toMatch(/Дорж,99000001,.*,failed,provider_failed,/);
    expect((await remind()).code).toBe(3);
  });

  it('sends nothing while the credits do not suffice, and all of it afterwards', async () => {
    await prepare();
    await desk.sandbox.credit(-99_990);
    expect((await remind()).code).toBe(7);
    expect(await received()).toEqual([]);
    await desk.sandbox.credit(1_000);
    expect((await remind()).code).toBe(0);
    expect(await received()).toHaveLength(20);
  });
});

describe('ci-notify.sh', () => {
  const notify = (env: Record<string, string>, outcome = ['failed']) =>
    start('ci-notify.sh', outcome, { ...desk.environment, ON_CALL: '99112233', ...env });
  const github = { GITHUB_REPOSITORY: 'nomad/shop', GITHUB_RUN_ID: '17' };

  it('sends one message for a run and its outcome, also on another machine', async () => {
    expect(await notify(github)).toMatchObject({ code: 0, stdout: '' });
    const home = join(desk.folder, 'another-machine');
    mkdirSync(home);
    expect((await notify({ ...github, HOME: home })).code).toBe(0);
    expect((await notify({ CI_PROJECT_PATH: 'nomad/shop', CI_PIPELINE_ID: '18' })).code).toBe(0);
    expect(await texts('99112233')).toEqual(['nomad/shop: run 17 failed', 'nomad/shop: run 18 failed']);
    expect(waits()).toEqual(['0', '0', '0']);
  });

  it('tries again later under the same key, and says in the end what is the matter', async () => {
    const { code, stderr } = await notify({ ...github, URTUU_BASE_URL: nowhere });
    expect(code).toBe(5);
    expect(stderr).toContain('connection refused');
    expect(waits()).toEqual(['0', '10', '30', '60']);
  });

  it('does not repeat what cannot work', async () => {
    expect((await notify({ ...github, URTUU_API_KEY: 'wrong' })).code).toBe(4);
    expect(waits()).toEqual(['0']);
  });

  it('needs an outcome and a run', async () => {
    expect((await notify(github, [])).code).not.toBe(0);
    expect((await notify({})).code).not.toBe(0);
    expect(await desk.sandbox.outbox()).toEqual([]);
  });
});
