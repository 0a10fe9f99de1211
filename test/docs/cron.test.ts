import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { exitMeanings } from '../../src/cli/exit-codes.js';
import { type Outcome, outcomeOf, root } from '../support/binary.js';
import { printedIn } from '../support/printed-commands.js';
import { ReaderMachine } from './reader-machine.js';

/** A test with a machine of its own, on which waits are not waited for. */
const at = (test: (machine: ReaderMachine) => Promise<void>) => async () => {
  await using machine = await ReaderMachine.open();
  machine.script('sleep', 'exit 0');
  await test(machine);
};

const opt = 'the opt хавтас';

/** The line of a crontab in the header of a script, which stands in a folder with a name of its own. */
function crontabLine(machine: ReaderMachine, name: string): string {
  const text = readFileSync(join(root, 'examples', name), 'utf8');
  const [, line = ''] = /^# {3}(?:[*\d/-]+ ){5}(.*)$/m.exec(text) ?? [];
  const file = join(machine.folder, opt, name);
  if (!existsSync(file)) {
    mkdirSync(join(machine.folder, opt), { recursive: true });
    // The machine's folder of commands is the one that the script adds; its stand-ins for commands of the system come first.
    const path = /^PATH="(.*):\/usr\/local\/bin"$/m;
    expect(text).toMatch(path);
    writeFileSync(file, text.replace(path, `PATH="${machine.folder}/bin:$1"`), { mode: 0o755 });
  }
  return line.replace('/opt/', `'${machine.folder}/${opt}'/`);
}

/** Runs a line as cron does: with a home, and no urtuu in the PATH. */
const cron = (machine: ReaderMachine, line: string, home = 'home', env: Record<string, string> = {}) =>
  machine.run('/bin/sh', ['-c', line], {
    HOME: join(machine.folder, home),
    LOGNAME: 'someone',
    PATH: '/usr/bin:/bin',
    SHELL: '/bin/sh',
    ...env,
  });

/** The profile of a user, as `urtuu login` writes it. */
function logIn(machine: ReaderMachine, home: string): void {
  const folder = join(machine.folder, home, '.config/urtuu');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { url: base_url, key: api_key } = machine.sandbox;
  const profiles = { default: { base_url, api_key } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
}

const received = async (machine: ReaderMachine) =>
  (await machine.sandbox.outbox()).map(({ to, text }) => [to, text]).sort();
const codes = Object.keys(exitMeanings).map(Number);

describe.concurrent('balance-alert.sh', () => {
  it(
    'sends one alert for two hosts at once, and one to each number',
    at(async (machine) => {
      for (const host of ['one', 'two']) logIn(machine, host);
      const line = crontabLine(machine, 'balance-alert.sh').replace('5000', '200000');
      const other = line.replace('99112233', "'+976 8811-2233'");
      const runs = await Promise.all([
        ...['one', 'two'].flatMap((host) => [cron(machine, line, host), cron(machine, other, host)]),
      ]);
      expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
      const text = 'Fewer than 200000 credits are left.';
      expect(await received(machine)).toEqual([
        ['88112233', text],
        ['99112233', text],
      ]);
    }),
  );

  it(
    'works with nothing at all in its environment but what it names, in sh and in bash',
    at(async (machine) => {
      crontabLine(machine, 'balance-alert.sh');
      const { URTUU_BASE_URL = '', URTUU_API_KEY = '' } = machine.environment;
      for (const [shell, MINIMUM] of [
        ['sh', '200001'],
        ['bash', '200002'],
      ] as const) {
        const env = {
          ON_CALL: '99112233',
          MINIMUM,
          URTUU_BASE_URL,
          URTUU_API_KEY,
          XDG_STATE_HOME: machine.folder,
        };
        expect(await machine.run(shell, [join(machine.folder, opt, 'balance-alert.sh')], env)).toMatchObject({
          code: 0,
          stderr: '',
        });
      }
      expect(await received(machine)).toHaveLength(2);
    }),
  );

  it(
    'ends as urtuu does, with every exit code; with 2 without a number and 127 without urtuu',
    at(async (machine) => {
      const line = crontabLine(machine, 'balance-alert.sh');
      for (const code of codes) {
        machine.script('urtuu', `echo said >&2; [ "$1" != balance ] || exit ${code}; exit 99`);
        expect([code, (await cron(machine, line)).code]).toEqual([code, code === 7 ? 99 : code]);
        machine.script('urtuu', `[ "$1" != balance ] || exit 7; exit ${code}`);
        expect([code, (await cron(machine, line)).code]).toEqual([code, code]);
      }
      const nobody = await cron(machine, line.replace('ON_CALL=99112233', ''));
      expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('ON_CALL') });
      await machine.run('rm', ['bin/urtuu']);
      expect(await cron(machine, line)).toMatchObject({ code: 127 });
    }),
  );
});

describe.concurrent('ci-notify.sh', () => {
  const notify = (machine: ReaderMachine, env: Record<string, string>, folder = '.', outcome = 'failed') => {
    crontabLine(machine, 'ci-notify.sh');
    mkdirSync(join(machine.folder, folder), { recursive: true });
    const script = join(machine.folder, opt, 'ci-notify.sh');
    const line = `cd '${folder}' && ON_CALL=\${ON_CALL-99112233} '${script}' ${outcome}`;
    const { URTUU_BASE_URL = '', URTUU_API_KEY = '' } = machine.environment;
    return cron(machine, line, 'home', { URTUU_BASE_URL, URTUU_API_KEY, ...env });
  };
  const run = {
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'nomad/shop',
    GITHUB_RUN_ID: '17',
  };

  it(
    'works by hand in a folder with spaces and letters of its own, each time',
    at(async (machine) => {
      expect(await notify(machine, {}, 'миний төсөл 1')).toMatchObject({ code: 0, stderr: '' });
      const [[to, text] = []] = await received(machine);
      expect([to, text]).toEqual([
        '99112233',
        expect.stringMatching(/^миний төсөл 1: run by hand at \d{4}-\d\d-\d\d [\d:]{8} failed$/),
      ]);
    }),
  );

  it(
    'sends one message for the jobs of a matrix and callers of a reusable workflow, and one to each number',
    at(async (machine) => {
      const jobs = [
        { ...run, GITHUB_JOB: 'test' },
        { ...run, GITHUB_JOB: 'test', GITHUB_RUN_ATTEMPT: '2' },
        { ...run, GITHUB_JOB: 'deploy', GITHUB_WORKFLOW_REF: 'nomad/shop/.github/workflows/ci.yml@main' },
        { ...run, ON_CALL: '88112233' },
        { ...run, GITHUB_SERVER_URL: 'https://git.example.mn', GITHUB_REPOSITORY: 'nomad/shop' },
      ];
      const ended = await Promise.all(jobs.map((env) => notify(machine, env)));
      expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(jobs.map(() => [0, '']));
      const text = 'nomad/shop: run 17 failed';
      expect(await received(machine)).toEqual([
        ['88112233', text],
        ['99112233', text],
        ['99112233', text],
      ]);
    }),
  );

  it(
    'ends as urtuu does, with every exit code, and tries only 5 and 6 again',
    at(async (machine) => {
      for (const code of codes) {
        const tries = machine.write('tries', '');
        machine.script('urtuu', `echo >> '${tries}'; exit ${code}`);
        expect([code, (await notify(machine, run)).code]).toEqual([code, code]);
        expect([code, readFileSync(tries, 'utf8').length]).toEqual([code, code === 5 || code === 6 ? 4 : 1]);
      }
      expect((await notify(machine, { ...run, ON_CALL: '' })).code).toBe(2);
      expect((await notify(machine, run, '.', "''")).code).toBe(2);
      await machine.run('rm', ['bin/urtuu']);
      expect((await notify(machine, run)).code).toBe(127);
    }),
  );
});

describe.concurrent('nightly-reminders.sh', () => {
  const reminders = 'the reminders сануулга';
  const line = (machine: ReaderMachine) =>
    crontabLine(machine, 'nightly-reminders.sh').replace(
      '/srv/reminders',
      `'${join(machine.folder, reminders)}'`,
    );
  const nightOf = (machine: ReaderMachine, day: string) => machine.script('date', `echo ${day}`);

  function prepare(machine: ReaderMachine, lists: Record<string, string[]>): void {
    mkdirSync(join(machine.folder, reminders), { recursive: true });
    for (const [day, numbers] of Object.entries(lists))
      machine.write(`${reminders}/${day}.csv`, `phone\n${numbers.join('\n')}\n`);
    machine.write(`${reminders}/text.txt`, 'Маргааш ирнэ үү. {phone}');
    machine.write(`${reminders}/url.txt`, `${machine.sandbox.url}\n`);
    machine.write(`${reminders}/urtuu.key`, `${machine.sandbox.key}\n`);
  }
  const to = async (machine: ReaderMachine) => (await received(machine)).map(([number]) => number);
  const monday = '2026-11-23';
  const tuesday = '2026-11-24';

  /** A run that the system ends while the operator takes its time with the last number. */
  async function cutShort(machine: ReaderMachine, signal: 'SIGTERM' | 'SIGKILL'): Promise<Outcome> {
    const env = { HOME: join(machine.folder, 'home'), PATH: '/usr/bin:/bin' };
    const child = spawn('/bin/sh', ['-c', line(machine)], { env, detached: true });
    const outcome = outcomeOf(child);
    while ((await received(machine)).length < 2) await setTimeout(20);
    process.kill(-(child.pid ?? 0), signal);
    return outcome;
  }

  it.each([
    ['the day before', tuesday, ['99112255']],
    ['the same day', monday, []],
  ])('resumes the killed job of %s, then sends the list of today', async (_, night, also) => {
    await at(async (machine) => {
      prepare(machine, { [monday]: ['99112233', '99112244', '99000004'], [tuesday]: ['99112255'] });
      nightOf(machine, monday);
      await cutShort(machine, 'SIGKILL');
      nightOf(machine, night);
      for (let run = 0; run < 2; run += 1) {
        expect(await cron(machine, line(machine))).toMatchObject({ code: 0, stderr: '' });
        await machine.sandbox.idle();
        expect(await to(machine)).toEqual(['99000004', '99112233', '99112244', ...also]);
      }
      for (const day of [monday, night])
        expect(existsSync(join(machine.folder, reminders, `${day}.report.csv`))).toBe(true);
    })();
  });

  it(
    'prints a command that works in the shell of a person, and leaves a cancelled job alone',
    at(async (machine) => {
      prepare(machine, { [monday]: ['99112233', '99112244', '99000004'] });
      nightOf(machine, monday);
      const { stderr } = await cutShort(machine, 'SIGTERM');
      const [printed] = printedIn(stderr);
      expect(printed?.line).toMatch(/^XDG_STATE_HOME='\/.*сануулга\/state' urtuu jobs resume /);
      const person = { HOME: join(machine.folder, 'person'), PATH: machine.environment.PATH ?? '' };
      const cancel = `${printed?.line}`
        .replace('resume', 'cancel')
        .replace(/(cancel \S+).* (--base-url)/, '$1 $2');
      expect(await machine.run('sh', ['-c', cancel], person)).toMatchObject({ code: 0 });
      nightOf(machine, tuesday);
      expect(await cron(machine, line(machine))).toMatchObject({ code: 0, stderr: '' });
      expect(await machine.run('sh', ['-c', printed?.line ?? ''], person)).toMatchObject({ code: 0 });
      await machine.sandbox.idle();
      expect(await to(machine)).toEqual(['99000004', '99112233', '99112244']);
    }),
  );

  it(
    'ends with the code of today, or else with that of an earlier day, with every exit code',
    at(async (machine) => {
      prepare(machine, { [tuesday]: ['99112233'] });
      nightOf(machine, tuesday);
      const crontab = line(machine);
      const listed = (...rows: string[]) =>
        `jobs) [ "$2" = resume ] || { printf '${rows.join('\\n')}\\n'; exit 0; }`;
      const play = async (row: string, resume: number, bulk: number) => {
        machine.script('urtuu', `case $1 in ${listed(row)}; exit ${resume} ;; sms) exit ${bulk} ;; esac`);
        return (await cron(machine, crontab)).code;
      };
      const unfinished = 'reminders-2026-11-20\\tunfinished\\t\\t';
      for (const code of codes) {
        expect([code, await play(unfinished, code, 0)]).toEqual([code, code]);
        expect([code, await play(unfinished, 0, code)]).toEqual([code, code]);
        expect([code, await play(unfinished, 9, code)]).toEqual([code, code === 0 ? 9 : code]);
      }
      expect(await play('reminders-2026-11-20\\tfinished\\t\\t14', 6, 0)).toBe(6);
      expect(await play('reminders-2026-11-20\\tunfinished\\tcancelled\\t5', 6, 0)).toBe(0);
      expect(await play('reminders-2026-11-20\\tfinished\\t\\t', 6, 0)).toBe(6);
      expect(await play('reminders-2026-11-20\\tfinished\\t\\t3', 6, 0)).toBe(0);
      expect(await play('offer\\tunfinished\\t\\t', 6, 0)).toBe(0);
      expect(await play(`reminders-${tuesday}\\trunning\\t\\t`, 6, 11)).toBe(0);
    }),
  );
});
