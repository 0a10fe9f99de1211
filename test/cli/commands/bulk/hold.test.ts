import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import type { ProjectOptions } from '../../../support/fake-project.js';
import { pricing } from '../../../support/resources.js';
import { answers, type Result, refusal, type Setting } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { desk, figures, people, printed } from './desks.js';

const list = "sms bulk list.csv --text 'Hi {name}'";
const hold = `${list} --job feb --hold`;
const hintOfYes = '  Add --yes to send without asking.\n';
const day = 86_400_000;

/** The command that a held job is sent with. */
const sendOf = ({ stdout }: Result) => /Send it: urtuu (.*)\n$/.exec(stdout)?.[1] ?? 'no command';
const times = (here: Desk) => [...here.project.received().values()];

/** A desk, and commands there that run a minute after each other, and after the days that pass. */
function aging(rows: readonly string[], options: ProjectOptions = {}) {
  let now = Date.parse('2025-01-01T00:00:00.000Z');
  const here = desk(rows, { ...options, now: () => now });
  const turn = (milliseconds: number) => {
    now += milliseconds;
  };
  const run = (line: string, days = 0, setting: Setting = {}) => {
    turn(days * day + 60_000);
    return here.run(line, { clock: { now: () => now }, ...setting });
  };
  return { here, run, turn };
}

/** A machine with a held job of three, and the command that sends it. */
async function held(line = hold, rows = people(3)): Promise<{ here: Desk; send: string }> {
  const here = desk(rows);
  const result = await here.run(line);
  expect(result.code).toBe(0);
  return { here, send: sendOf(result) };
}

describe('a bulk command with --hold', () => {
  it('shows the preview, saves the job and its command, asks nothing and sends nothing', async () => {
    const here = desk(people(3));
    const result = await here.run(hold);
    expect(result).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Held feb, plan ([0-9a-f]{8})\. Send it: urtuu jobs resume feb --plan \1\n$/,
      ),
      stderr: expect.stringMatching(/^Job +feb \(sms\)\n[\s\S]*Credits +30 of 1,000,000\n$/),
    });
    expect(here.project.sends).toEqual([]);
    const shown = await here.run('jobs show feb');
    expect(shown.stdout).toMatch(/^state +held: plan [0-9a-f]{8}$/m);
    expect(printed(shown.stderr)).toBe(sendOf(result));
    rmSync(`${here.home}/list.csv`);
    expect(await here.run(`${sendOf(result)} --yes`)).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1]);
    expect(await here.run(`${sendOf(result)} --yes`)).toMatchObject(saying(11, 'the job feb finished at'));
    expect(JSON.parse((await here.run('jobs list --json')).stdout)).toMatchObject([{ state: 'finished' }]);
  });

  it('gives a program its state, plan, price and command', async () => {
    const here = desk(people(3));
    const given = figures((await here.run(`${hold} --json --max-credits 40 --rate 5 --retry-failed`)).stdout);
    const { plan } = given;
    const command = `urtuu jobs resume feb --plan ${plan} --max-credits 40 --rate 5 --retry-failed`;
    expect(given).toMatchObject({ job: 'feb', state: 'held', recipients: 3, credits: 30, command });
    expect(JSON.parse((await here.run('jobs list --json')).stdout)).toMatchObject([{ state: 'held', plan }]);
    expect((await here.run('jobs list -o csv --columns job,state,plan')).stdout).toBe(
      `job,state,plan\r\nfeb,held,${plan}\r\n`,
    );
    expect((await here.run(`${list} --job mar --hold --value command`)).stdout).toBe(
      `urtuu jobs resume mar --plan ${plan}\n`,
    );
  });

  it.each([
    [
      'costs more than --max-credits',
      '--max-credits 29',
      7,
      'the job costs 30 credits, and --max-credits is 29',
    ],
    ['has bad rows', '--to-column name', 8, 'not a phone number'],
    ['may send twice', '--only unknown', 2, 'Add --accept-duplicates to accept that.'],
    ['is a dry run too', '--dry-run', 2, '--hold cannot be combined with --dry-run'],
  ])('saves no job that %s', async (_, options, code, why) => {
    const here = desk(people(3));
    expect(await here.run(`${hold} ${options}`)).toMatchObject(saying(code, why));
    expect(await here.run('jobs list --json')).toMatchObject({ stdout: '[]\n' });
  });

  it('refuses what was sent before without a name, also at a terminal: its plan would be another one', async () => {
    const here = desk(people(3));
    expect(await here.run(`${list} --job jan --yes`)).toMatchObject({ code: 0 });
    here.write('list.csv', ['phone,name', ...people(4)]);
    const setting = { terminal: 80, questions: answers() };
    expect(await here.run(`${list} --hold`, setting)).toMatchObject(saying(11, 'were sent the same message'));
    const rest = await here.run(`${list} --hold --skip-sent`);
    expect(rest.stderr).toMatch(/^Sent before 3 left out/m);
    expect(await here.run(`${sendOf(rest)} --yes`)).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1, 1]);
  });

  it('refuses a job that has begun, and one that has finished', async () => {
    const here = desk(people(3), { credits: 20 });
    expect(await here.run(`${list} --job feb --yes --allow-partial`)).toMatchObject({ code: 7 });
    expect(await here.run(hold)).toMatchObject(saying(11, 'the job feb has begun, so it cannot be held'));
    here.project.balance = 100;
    expect(await here.run('jobs resume feb')).toMatchObject({ code: 0 });
    expect(await here.run(hold)).toMatchObject(saying(11, 'the job feb finished at'));
  });

  it('repeats a finished job with --again, whose report may be read meanwhile', async () => {
    const { here, run, turn } = aging(people(3));
    expect(await run(`${list} --job feb --yes`)).toMatchObject({ code: 0 });
    turn(-59_999);
    const again = await run(`${hold} --again`);
    expect(await run('jobs report feb --refresh')).toMatchObject({ code: 0 });
    expect(again.stdout).toMatch(/^Held feb\.2, plan/);
    expect(times(here)).toEqual([1, 1, 1]);
    expect(await run(`${sendOf(again)} --yes`)).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([2, 2, 2]);
  });
});

describe('a held job', () => {
  it.each([
    ['jobs resume feb', 11, 'the job feb is held'],
    ['jobs resume', 11, 'the job feb is held'],
    ['jobs resume feb --retry-failed', 11, 'the job feb is held'],
    ['jobs resume feb --plan 00000000', 11, /the job feb has the plan [0-9a-f]{8}, not 00000000/],
    ['jobs resume feb --plan 0000', 2, "'0000' is not a plan"],
    ['jobs resume --plan 00000000', 2, '--plan needs the name of its job'],
    [`${list} --job feb --yes`, 11, 'the job feb is held'],
    [`${list} --job feb --yes --max-credits 1`, 11, 'the job feb is held'],
    [`${list} --job feb --yes --again`, 11, 'the job feb is held'],
    [`${list} --job feb --yes --if-finished ok --retry-failed`, 11, 'the job feb is held'],
    ["sms bulk list.csv --text 'Other' --job feb --yes", 11, 'the job feb has another plan'],
    [hold, 11, 'the job feb is held'],
    ['jobs retry feb --yes', 11, 'the job feb is held'],
    ['jobs retry --yes', 12, 'there is no job to retry'],
    ['jobs cancel feb', 11, 'the job feb is held, and has not begun'],
    ['jobs cancel', 12, 'there is no job to cancel'],
    ['jobs watch feb', 5, /0 accepted, 3 not sent yet\..* Send it with: urtuu jobs resume feb --plan/],
    ['jobs show feb --refresh', 0, 'Send it with: urtuu jobs resume feb --plan'],
    ['sms bulk report.csv --only pending --like feb --yes', 11, 'would still send 3 of these rows itself'],
  ])('is not begun, and not changed, by: %s', async (line, code, why) => {
    const { here, send } = await held();
    expect((await here.run('jobs report feb --report report.csv')).code).toBe(0);
    expect(here.read('report.csv').match(/,pending,/g)).toHaveLength(3);
    expect(await here.run(line)).toMatchObject(saying(code, why));
    expect(here.project.sends).toEqual([]);
    expect(await here.run(`${send} --yes`)).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1]);
  });

  it('does not keep a bare jobs resume from the only job that has stopped', async () => {
    const { here } = await held();
    here.project.balance = 10;
    here.write('other.csv', ['phone,name', ...people(5).slice(3)]);
    await here.run("sms bulk other.csv --text 'Hi {name}' --job mar --yes --allow-partial");
    here.project.balance = 100;
    expect(await here.run('jobs resume')).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1]);
  });

  it('is discarded by jobs remove, and by no other command, however old', async () => {
    const here = desk(people(3));
    const later = { clock: { now: () => Date.now() + 400 * day } };
    const { stdout } = await here.run(`${hold} --value plan`);
    await here.run("sms bulk list.csv --text 'Other' --yes", later);
    expect(here.jobs).toContain('feb');
    expect(await here.run('jobs remove feb')).toMatchObject(saying(0, 'Removed the job feb: 3 pending.'));
    expect(await here.run(`jobs resume feb --plan ${stdout.trim()} --yes`)).toMatchObject({ code: 12 });
  });

  it('that has rows of another job stays, and takes them when it starts, unless another job has', async () => {
    const here = desk(people(3), { failing: new Set(['99000001']) });
    expect(
      (await here.run("sms bulk list.csv --text 'Hi' --job jan --yes --wait --report jan.csv")).code,
    ).toBe(3);
    here.project.options.failing = new Set();
    const only = 'sms bulk jan.csv --only failed --like jan';
    const one = await here.run(`${only} --job feb --hold`);
    const two = await here.run("sms bulk jan.csv --only failed --text 'Hi again' --job mar --hold");
    await here.run("sms bulk list.csv --text 'Something else' --yes");
    expect(await here.run(`${sendOf(one)} --yes`)).toMatchObject({ code: 0 });
    expect(await here.run(`${sendOf(two)} --yes`)).toMatchObject(
      saying(11, 'the job feb took 1 of these rows'),
    );
    expect(times(here)).toEqual([2, 2, 2]);
  });

  it('has sent nothing: --skip-sent leaves out nobody because of it, and it then refuses to start', async () => {
    const { here, send } = await held();
    expect(await here.run(`${list} --job mar --yes --skip-sent`)).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1]);
    expect(await here.run(`${send} --yes`)).toMatchObject(
      saying(11, '3 recipients of the held job feb were sent the same message since'),
    );
    const no = answers(false);
    expect(await here.run(send, { terminal: 80, questions: no })).toMatchObject({ code: 2 });
    expect(no.asked).toEqual([
      'Send to 3 recipients for 30 credits? 3 were sent the same message since this job was held.',
    ]);
    expect(await here.run(send, { terminal: 80, questions: answers(true) })).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([2, 2, 2]);
  });
});

describe('the start of a held job', () => {
  it('asks as a bulk command does, after the preview; without a terminal it needs --yes', async () => {
    const { here, send } = await held();
    const shown =
      /^Job +feb \(sms\)\n[\s\S]*First +to \d{8}, 1 part, also the longest\n +Hi Bat 0\n[\s\S]*Credits +30 of 1,000,000\n/;
    const script = await here.run(send);
    expect(script).toMatchObject(saying(2, 'Add --yes to send without asking.'));
    expect(script.stderr).toMatch(shown);
    const no = answers(false);
    expect(await here.run(send, { terminal: 80, questions: no })).toMatchObject({ code: 2 });
    expect(no.asked).toEqual(['Send to 3 recipients for 30 credits?']);
    expect(here.project.sends).toEqual([]);
    expect(await here.run(send, { terminal: 80, questions: answers(true) })).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1]);
  });

  it.each([
    ['by the name of its plan in capitals', (plan: string) => plan.toUpperCase()],
    ['by the whole digest', (_: string, digest: string) => digest],
  ])('takes the plan %s', async (_, written) => {
    const { here, send } = await held();
    const { digest } = JSON.parse(
      readFileSync(here.jobFile('feb', 'plan.json'), 'utf8').split('\n').slice(1).join(''),
    ).meta;
    const plan = /--plan (\S+)/.exec(send)?.[1] ?? '';
    expect(await here.run(`jobs resume feb --plan ${written(plan, digest)} --yes`)).toMatchObject({
      code: 0,
    });
  });

  it('shows what the hold did: prices of emails, of Cyrillic and long texts, and which rows are meant', async () => {
    const here = desk([]);
    here.write('mails.csv', ['email,name', 'bat@example.mn,Bat', 'bold@example.mn,Болд']);
    here.write('list.csv', ['phone,name', '99112233,Bat', `88112233,${'x'.repeat(200)}`, '99112244,Болд']);
    const some = `${list} --where 'name!=Болд' --first 1`;
    for (const line of ["email bulk mails.csv --subject '{name}' --text t", list, some]) {
      const result = await here.run(`${line} --hold`);
      expect(result.code).toBe(0);
      const { stderr } = await here.run(sendOf(result));
      expect(stderr).toBe(
        `${result.stderr}urtuu: cannot ask for confirmation without a terminal\n${hintOfYes}`,
      );
    }
  });

  const dearer = { ...pricing, sms: { ...pricing.sms, credits_per_part: 12 } };
  const reprice = (here: Desk) => {
    here.project.options.instead = ({ path }) => (path === '/pricing' ? { body: dearer } : undefined);
  };
  it.each([
    [
      'is refused where prices have risen',
      '',
      7,
      'the job costs 36 credits, and it cost 30 when it was held',
    ],
    [
      'is refused by the limit that is given then',
      ' --max-credits 30',
      7,
      'and --max-credits is 30\n  Nothing was sent this time. Raise --max-credits',
    ],
    [
      'spends more if a limit is given then',
      ' --max-credits 36',
      0,
      'Latin       3 recipients, 3 parts, 36 credits',
    ],
  ])('%s', async (_, option, code, said) => {
    const { here, send } = await held();
    reprice(here);
    expect(await here.run(`${send} --yes${option}`)).toMatchObject(saying(code, said));
    expect(here.project.sends).toHaveLength(code === 0 ? 3 : 0);
  });

  it('is tried later where its price, which is its limit, cannot be read', async () => {
    const { here, send } = await held();
    here.project.options.instead = ({ path }) =>
      path === '/pricing' ? refusal(503, 'unavailable') : undefined;
    expect(await here.run(`${send} --yes`)).toMatchObject({ code: 5, stdout: '' });
    expect(here.project.sends).toEqual([]);
    here.project.options.instead = () => undefined;
    expect(await here.run(`${send} --yes`)).toMatchObject({ code: 0 });
  });

  it('has the limit that was given when it was held', async () => {
    const { here, send } = await held(`${hold} --max-credits 36`);
    reprice(here);
    expect(await here.run(`${send} --yes`)).toMatchObject({ code: 0 });
  });

  it('reads the balance anew: too little is 7, unless --allow-partial was given when it was held', async () => {
    const { here, send } = await held();
    here.project.balance = 20;
    expect(await here.run(`${send} --yes`)).toMatchObject(
      saying(7, 'the balance is 20\n  Nothing was sent this time. Add 10 credits.\n'),
    );
    expect(here.project.sends).toEqual([]);
    const partly = await held(`${hold} --allow-partial`);
    partly.here.project.balance = 20;
    expect(await partly.here.run(`${partly.send} --yes`)).toMatchObject({ code: 7 });
    expect(times(partly.here)).toEqual([1, 1]);
  });

  it('counts what another job sent meanwhile however long ago, and not what it sent before', async () => {
    const { here, run } = aging(people(3));
    expect(await run(`${list} --job jan --yes`)).toMatchObject({ code: 0 });
    const one = await run(hold, 1);
    expect(one.stderr).toContain('in the last 7 days; this job sends to them, too.');
    const two = await run(`${list} --job mar --hold`);
    expect(await run(`${sendOf(one)} --yes`, 1)).toMatchObject({ code: 0 });
    expect(await run(`${sendOf(two)} --yes`, 30)).toMatchObject(
      saying(11, 'were sent the same message since'),
    );
    expect(times(here)).toEqual([2, 2, 2]);
  });

  it('counts what was sent since by the order of the journals too, where clocks of the service differ', async () => {
    const { here, run, turn } = aging(people(3));
    const { stdout } = await run(hold);
    turn(-600_000);
    expect(await run(`${list} --job mar --yes`)).toMatchObject({ code: 0 });
    turn(600_000);
    expect(await run(`jobs resume feb --plan ${/plan (\w{8})/.exec(stdout)?.[1]} --yes`)).toMatchObject(
      saying(11, 'were sent the same message since'),
    );
    expect(times(here)).toEqual([1, 1, 1]);
  });

  it('is counted by a later job with rows of a report that is older than the start', async () => {
    const failing = new Set(['99000001']);
    const { run } = aging(people(3), { failing, listing: true });
    const held = await run("sms bulk list.csv --text 'Hi' --job feb --hold");
    const jan = "sms bulk list.csv --text 'Hi' --job jan --yes --wait --report jan.csv";
    expect(await run(jan, 1)).toMatchObject({ code: 3 });
    failing.clear();
    const questions = { terminal: 80, questions: answers(true) };
    expect(await run(sendOf(held), 1, questions)).toMatchObject({ code: 0 });
    const only = "sms bulk jan.csv --only failed --text 'Hi' --job apr --yes";
    expect(await run(only, 1)).toMatchObject(saying(11, 'the same message'));
  });

  it('is refused by a job that would send the same, and by one that starts while it asks', async () => {
    const { here, send } = await held();
    here.project.balance = 10;
    await here.run(`${list} --job mar --yes --allow-partial`);
    here.project.balance = 1_000;
    expect(await here.run(`${send} --yes`)).toMatchObject(saying(11, 'of the held job feb'));
    await here.run('jobs remove mar --force');
    const questions = {
      ...answers(),
      confirm: async () => (await here.run(`${list} --job apr --yes`)).code === 0,
    };
    expect(await here.run(send, { terminal: 80, questions })).toMatchObject(
      saying(11, '3 recipients of the held job feb were sent the same message since'),
    );
    expect((await here.run('jobs show feb --value state')).stdout).toBe('held\n');
  });

  it('is of one process: a second one is refused while the first asks', async () => {
    const { here, send } = await held();
    let second: Result | undefined;
    const confirm = async () => {
      second = await here.run(`${send} --yes`);
      return true;
    };
    const first = await here.run(send, { terminal: 80, questions: { ...answers(), confirm } });
    expect([first.code, second?.code]).toEqual([0, 11]);
    expect(times(here)).toEqual([1, 1, 1]);
  });

  it('goes on without the plan once it has begun', async () => {
    const { here, send } = await held(`${hold} --allow-partial`);
    here.project.balance = 20;
    expect(await here.run(`${send} --yes`)).toMatchObject({ code: 7 });
    here.project.balance = 100;
    expect(await here.run('jobs resume')).toMatchObject({ code: 0 });
    expect(times(here)).toEqual([1, 1, 1]);
  });

  it('leaves the price of a held job out of what --like shares', async () => {
    const { here } = await held();
    here.write('more.csv', ['phone,name', ...people(6).slice(3)]);
    expect(await here.run('sms bulk more.csv --like feb --yes')).toMatchObject({ code: 0 });
  });

  it('shares the limit of the job that it is like', async () => {
    const here = desk(people(3));
    await here.run(`${list} --job jan --max-credits 70 --yes`);
    here.write('list.csv', ['phone,name', ...people(6).slice(3)]);
    const result = await here.run('sms bulk list.csv --like jan --job feb --hold');
    expect(result.code).toBe(0);
    here.write('more.csv', ['phone,name', ...people(9).slice(6)]);
    expect(await here.run('sms bulk more.csv --like jan --job mar --hold')).toMatchObject(
      saying(7, 'the job costs 30 credits, and 10 of the 70 credits of jan are left'),
    );
    expect(await here.run(`${sendOf(result)} --yes`)).toMatchObject({ code: 0 });
  });
});
