import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { Desk } from './desk.js';

/** A test with a desk of its own, on which waits are written down and not waited for. */
const at = (test: (desk: Desk) => Promise<void>) => async () => {
  await using desk = await Desk.open();
  desk.script('sleep', `echo "$1" >> '${join(desk.folder, 'waits')}'`);
  await test(desk);
};
const start = (desk: Desk, name: string, args: string[], env: Record<string, string>) =>
  desk.run('sh', [join(root, 'examples', name), ...args], env);
const waits = (desk: Desk) => readFileSync(join(desk.folder, 'waits'), 'utf8').trim().split('\n');
const texts = async (desk: Desk, to: string) => (await desk.sandbox.outbox({ to })).map(({ text }) => text);

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9/v1';

describe.concurrent('balance-alert.sh', () => {
  const alert = (desk: Desk, env: Record<string, string> = {}) =>
    start(desk, 'balance-alert.sh', [], { ...desk.environment, ON_CALL: '99112233', ...env });

  it(
    'says nothing while there are enough credits',
    at(async (desk) => {
      expect(await alert(desk)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(await desk.sandbox.outbox()).toEqual([]);
    }),
  );

  it(
    'sends one message a day when they run low, however often it runs',
    at(async (desk) => {
      for (let run = 0; run < 3; run += 1) expect((await alert(desk, { MINIMUM: '200000' })).code).toBe(0);
      expect(await texts(desk, '99112233')).toEqual(['Fewer than 200000 credits are left.']);
    }),
  );

  it(
    'ends as urtuu did, and says why, where nothing is known about the balance',
    at(async (desk) => {
      expect(await alert(desk, { URTUU_BASE_URL: nowhere })).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('connection refused'),
      });
      expect((await alert(desk, { URTUU_API_KEY: 'wrong' })).code).toBe(4);
    }),
  );

  it(
    'needs a number to tell',
    at(async (desk) => {
      const { ON_CALL: _, ...env } = { ...desk.environment, ON_CALL: '' };
      expect((await start(desk, 'balance-alert.sh', [], env)).code).not.toBe(0);
    }),
  );
});

describe.concurrent('nightly-reminders.sh', () => {
  /** Nothing but what cron gives. */
  const cron = (desk: Desk) => ({
    HOME: join(desk.folder, 'home'),
    LOGNAME: 'someone',
    PATH: `${join(desk.folder, 'bin')}:/usr/bin:/bin`,
    SHELL: '/bin/sh',
    REMINDERS: join(desk.folder, 'reminders'),
  });
  const remind = (desk: Desk) => start(desk, 'nightly-reminders.sh', [], cron(desk));
  const today = async (desk: Desk) => (await desk.run('date', ['+%F'])).stdout.trim();

  async function prepare(desk: Desk): Promise<string> {
    mkdirSync(join(desk.folder, 'reminders'));
    copyFileSync(
      join(desk.folder, 'debtors.csv'),
      join(desk.folder, 'reminders', `${await today(desk)}.csv`),
    );
    copyFileSync(join(desk.folder, 'urtuu.key'), join(desk.folder, 'reminders/urtuu.key'));
    desk.write('reminders/text.txt', 'Сайн уу {name}, төлбөр {amount} төгрөг.');
    desk.write('reminders/url.txt', `${desk.sandbox.url}\n`);
    return join(desk.folder, 'reminders', `${await today(desk)}.report.csv`);
  }
  const received = async (desk: Desk) => (await desk.sandbox.outbox()).map(({ to }) => to);

  it(
    'sends each line of the day once, however often it runs, and writes the report',
    at(async (desk) => {
      const report = await prepare(desk);
      expect(await remind(desk)).toMatchObject({ code: 0, stderr: '' });
      expect(await remind(desk)).toMatchObject({ code: 0 });
      const to = await received(desk);
      expect(to).toHaveLength(20);
      expect(new Set(to).size).toBe(20);
      expect(readFileSync(report, 'utf8').match(/,sent,/g)).toHaveLength(20);
    }),
  );

  it(
    'goes on after it was killed, and nobody gets a second reminder',
    at(async (desk) => {
      const report = await prepare(desk);
      const list = report.replace('.report', '');
      // The operator takes 10 seconds for this number: it is on its way when the run dies.
      writeFileSync(list, `${readFileSync(list, 'utf8')}Дорж,99000004,500\n`);
      const killed = spawn('sh', [join(root, 'examples/nightly-reminders.sh')], {
        env: cron(desk),
        stdio: 'ignore',
      });
      const died = once(killed, 'close');
      while ((await received(desk)).length < 1) await setTimeout(20);
      killed.kill('SIGKILL');
      expect(await died).toEqual([null, 'SIGKILL']);
      expect(await remind(desk)).toMatchObject({ code: 0 });
      await desk.sandbox.settled();
      const to = await received(desk);
      expect({ messages: to.length, people: new Set(to).size }).toEqual({ messages: 21, people: 21 });
    }),
  );

  it(
    'does nothing on a day without a list',
    at(async (desk) => {
      const report = await prepare(desk);
      rmSync(report.replace('.report', ''));
      expect(await remind(desk)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(existsSync(report)).toBe(false);
    }),
  );

  it(
    'ends with 3 where one could not be sent, and names it in the report',
    at(async (desk) => {
      const report = await prepare(desk);
      const list = report.replace('.report', '');
      writeFileSync(list, `${readFileSync(list, 'utf8')}Дорж,99000001,500\n`);
      expect((await remind(desk)).code).toBe(3);
      expect(readFileSync(report, 'utf8')).toMatch(/Дорж,99000001,.*,failed,provider_failed,/);
      expect((await remind(desk)).code).toBe(3);
    }),
  );

  it(
    'sends nothing while the credits do not suffice, and all of it afterwards',
    at(async (desk) => {
      await prepare(desk);
      await desk.sandbox.credit(-99_990);
      expect((await remind(desk)).code).toBe(7);
      expect(await received(desk)).toEqual([]);
      await desk.sandbox.credit(1_000);
      expect((await remind(desk)).code).toBe(0);
      expect(await received(desk)).toHaveLength(20);
    }),
  );
});

describe.concurrent('ci-notify.sh', () => {
  const notify = (desk: Desk, env: Record<string, string>, outcome = ['failed']) =>
    start(desk, 'ci-notify.sh', outcome, { ...desk.environment, ON_CALL: '99112233', ...env });
  const github = { GITHUB_REPOSITORY: 'nomad/shop', GITHUB_RUN_ID: '17' };

  it(
    'sends one message for a run and its outcome, also on another machine',
    at(async (desk) => {
      expect(await notify(desk, github)).toMatchObject({ code: 0, stdout: '' });
      const home = join(desk.folder, 'another-machine');
      mkdirSync(home);
      expect((await notify(desk, { ...github, HOME: home })).code).toBe(0);
      expect((await notify(desk, { CI_PROJECT_PATH: 'nomad/shop', CI_PIPELINE_ID: '18' })).code).toBe(0);
      expect(await texts(desk, '99112233')).toEqual([
        'nomad/shop: run 17 failed',
        'nomad/shop: run 18 failed',
      ]);
      expect(waits(desk)).toEqual(['0', '0', '0']);
    }),
  );

  it(
    'tries again later under the same key, and says in the end what is the matter',
    at(async (desk) => {
      const { code, stderr } = await notify(desk, { ...github, URTUU_BASE_URL: nowhere });
      expect(code).toBe(5);
      expect(stderr).toContain('connection refused');
      expect(waits(desk)).toEqual(['0', '10', '30', '60']);
    }),
  );

  it(
    'does not repeat what cannot work',
    at(async (desk) => {
      expect((await notify(desk, { ...github, URTUU_API_KEY: 'wrong' })).code).toBe(4);
      expect(waits(desk)).toEqual(['0']);
    }),
  );

  it(
    'needs an outcome and a run',
    at(async (desk) => {
      expect((await notify(desk, github, [])).code).not.toBe(0);
      expect((await notify(desk, {})).code).not.toBe(0);
      expect(await desk.sandbox.outbox()).toEqual([]);
    }),
  );
});
