import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { ReaderMachine } from './reader-machine.js';

/** A test with a machine of its own, on which waits are written down and not waited for. */
const at = (test: (machine: ReaderMachine) => Promise<void>) => async () => {
  await using machine = await ReaderMachine.open();
  machine.script('sleep', `echo "$1" >> '${join(machine.folder, 'waits')}'`);
  await test(machine);
};
const start = (machine: ReaderMachine, name: string, args: string[], env: Record<string, string>) =>
  machine.run('sh', [join(root, 'examples', name), ...args], env);
const waits = (machine: ReaderMachine) =>
  readFileSync(join(machine.folder, 'waits'), 'utf8').trim().split('\n');
const texts = async (machine: ReaderMachine, to: string) =>
  (await machine.sandbox.outbox({ to })).map(({ text }) => text);

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9/v1';

describe.concurrent('balance-alert.sh', () => {
  const alert = (machine: ReaderMachine, env: Record<string, string> = {}) =>
    start(machine, 'balance-alert.sh', [], { ...machine.environment, ON_CALL: '99112233', ...env });

  it(
    'says nothing while there are enough credits',
    at(async (machine) => {
      expect(await alert(machine)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(await machine.sandbox.outbox()).toEqual([]);
    }),
  );

  it(
    'sends one message a day when they run low, however often it runs',
    at(async (machine) => {
      for (let run = 0; run < 3; run += 1) expect((await alert(machine, { MINIMUM: '200000' })).code).toBe(0);
      expect(await texts(machine, '99112233')).toEqual(['Fewer than 200000 credits are left.']);
    }),
  );
});

describe.concurrent('nightly-reminders.sh', () => {
  /** Nothing but what cron gives. */
  const cron = (machine: ReaderMachine) => ({
    HOME: join(machine.folder, 'home'),
    LOGNAME: 'someone',
    PATH: `${join(machine.folder, 'bin')}:/usr/bin:/bin`,
    SHELL: '/bin/sh',
    REMINDERS: join(machine.folder, 'reminders'),
  });
  const remind = (machine: ReaderMachine) => start(machine, 'nightly-reminders.sh', [], cron(machine));
  const today = async (machine: ReaderMachine) => (await machine.run('date', ['+%F'])).stdout.trim();

  async function prepare(machine: ReaderMachine): Promise<string> {
    mkdirSync(join(machine.folder, 'reminders'));
    copyFileSync(
      join(machine.folder, 'debtors.csv'),
      join(machine.folder, 'reminders', `${await today(machine)}.csv`),
    );
    copyFileSync(join(machine.folder, 'urtuu.key'), join(machine.folder, 'reminders/urtuu.key'));
    machine.write('reminders/text.txt', 'Сайн уу {name}, төлбөр {amount} төгрөг.');
    machine.write('reminders/url.txt', `${machine.sandbox.url}\n`);
    return join(machine.folder, 'reminders', `${await today(machine)}.report.csv`);
  }
  const received = async (machine: ReaderMachine) => (await machine.sandbox.outbox()).map(({ to }) => to);

  it(
    'sends each line of the day once, however often it runs, and writes the report',
    at(async (machine) => {
      const report = await prepare(machine);
      expect(await remind(machine)).toMatchObject({ code: 0, stderr: '' });
      expect(await remind(machine)).toMatchObject({ code: 0 });
      const to = await received(machine);
      expect(to).toHaveLength(20);
      expect(new Set(to).size).toBe(20);
      expect(readFileSync(report, 'utf8').match(/,sent,/g)).toHaveLength(20);
    }),
  );

  it(
    'does nothing on a day without a list',
    at(async (machine) => {
      const report = await prepare(machine);
      rmSync(report.replace('.report', ''));
      expect(await remind(machine)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(existsSync(report)).toBe(false);
    }),
  );
});

describe.concurrent('ci-notify.sh', () => {
  const notify = (machine: ReaderMachine, env: Record<string, string>, outcome = ['failed']) =>
    start(machine, 'ci-notify.sh', outcome, { ...machine.environment, ON_CALL: '99112233', ...env });
  const github = { GITHUB_REPOSITORY: 'nomad/shop', GITHUB_RUN_ID: '17' };

  it(
    'sends one message for a run and its outcome, also on another machine',
    at(async (machine) => {
      expect(await notify(machine, github)).toMatchObject({ code: 0, stdout: '' });
      const home = join(machine.folder, 'another-machine');
      mkdirSync(home);
      expect((await notify(machine, { ...github, HOME: home })).code).toBe(0);
      expect((await notify(machine, { CI_PROJECT_PATH: 'nomad/shop', CI_PIPELINE_ID: '18' })).code).toBe(0);
      expect(await texts(machine, '99112233')).toEqual([
        'nomad/shop: run 17 failed',
        'nomad/shop: run 18 failed',
      ]);
      expect(waits(machine)).toEqual(['0', '0', '0']);
    }),
  );

  it(
    'tries again later under the same key, and says in the end what is the matter',
    at(async (machine) => {
      const { code, stderr } = await notify(machine, { ...github, URTUU_BASE_URL: nowhere });
      expect(code).toBe(5);
      expect(stderr).toContain('connection refused');
      expect(waits(machine)).toEqual(['0', '10', '30', '60']);
    }),
  );
});
