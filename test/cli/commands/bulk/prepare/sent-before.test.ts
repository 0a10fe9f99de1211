import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../../support/desk.js';
import type { ProjectOptions } from '../../../../support/fake-project.js';
import { answers } from '../../../../support/run.js';
import { saying } from '../../../../support/saying.js';
import { checksummed, type Encoded } from '../../../bulk/journal-lines.js';
import { numbers } from '../../../bulk/memory-plan.js';
import { desk, figures, partlySent, people } from '../desks.js';

const line = "sms bulk list.csv --text 'Hello' --yes";
const personal = line.replace('Hello', 'Hello {name}');
const once = (count: number) => Array(count).fill(1);
const header = 'phone,name';

/** A machine and a service whose days pass, and whose clocks may differ. */
function aging(rows: readonly string[], options: ProjectOptions = {}) {
  let now = Date.parse('2026-10-01T00:00:00.000Z');
  const here = desk(rows, { ...options, now: () => now });
  const machine = {
    project: here.project,
    write: here.write.bind(here),
    /** Days that the clock of the machine is ahead. */
    skew: 0,
    run: (command: string) =>
      here.run(command, {
        clock: {
          now: () => now + machine.skew * day,
          async sleep(milliseconds) {
            now += milliseconds;
          },
        },
      }),
    pass(days: number) {
      now += days * day;
    },
    /** Gives the files of a job the time of the machine. */
    touch(job: string) {
      const seconds = (now + machine.skew * day) / 1_000;
      utimesSync(here.jobFile(job, 'journal'), seconds, seconds);
    },
    rewrite(job: string, change: (entries: Encoded[]) => Encoded[]) {
      const path = here.jobFile(job, 'journal');
      const groups = readFileSync(path, 'utf8').trimEnd().split('\n');
      const changed = groups.map((group) => change(JSON.parse(group.slice(17)) as Encoded[]));
      writeFileSync(path, changed.map(checksummed).join(''));
    },
  };
  return machine;
}

/** Does something when the next command reads the balance, once. */
function meanwhile({ project }: Desk, work: () => Promise<unknown>): void {
  project.options.instead = ({ path }) => {
    if (path !== '/balance') return undefined;
    delete project.options.instead;
    return work().then(() => undefined);
  };
}

/** Of two commands at once: their folders have a random name. */
const { random } = Math;
const day = 86_400_000;
/** A desk that has sent to three people, and has them in another list, with a fourth. */
async function sentToThree(): Promise<Desk> {
  const here = desk(people(3));
  await here.run(line);
  here.write('list.csv', [header, ...people(4).reverse()]);
  return here;
}

/** As earlier releases wrote it. */
const withoutTime = (entry: Encoded): Encoded =>
  entry[0] === 'accepted' ? (entry.slice(0, 6) as unknown as Encoded) : entry;

describe('the same message to the same people from another list', () => {
  it('is refused without a terminal, exit 11, until the person says what to do', async () => {
    const here = desk([...people(3), 'nobody,Dorj']);
    expect(await here.run(`${line} --skip-invalid`)).toMatchObject({ code: 3 });
    here.write('list.csv', [header, ...people(4)]);
    const { code, stderr } = await here.run(line);
    expect(code).toBe(11);
    expect(stderr).toMatch(
      /3 recipients of this list were sent the same message from this machine in the last 7 days/,
    );
    expect(stderr).toMatch(/--skip-sent to leave them out, or --again/);
    expect(here.project.messages).toHaveLength(3);
    expect(await here.run(`${line} --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(4));
    expect(await here.run(`${line} --again`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 2, 2]);
  });

  it.each([
    ['in another order', (rows: string[]) => rows.reverse(), line],
    ['with a text for each', (rows: string[]) => [...rows].reverse(), line.replace('Hello', 'Hello {name}')],
    ['written in another way', (rows: string[]) => rows.map((row) => `+976 ${row}`), line],
  ])('is noticed %s', async (_, change, command) => {
    const here = desk(people(5));
    expect(await here.run(command)).toMatchObject({ code: 0 });
    here.write('list.csv', [header, ...change(people(5)), ...people(6).slice(5)]);
    expect(await here.run(command)).toMatchObject({ code: 11 });
    expect(await here.run(`${command} --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(6));
  });

  it('is noticed for emails in any case', async () => {
    const here = desk([]);
    const mail = "email bulk list.csv --subject 'Сайн уу' --text t --yes";
    here.write('list.csv', ['email', 'Bat@Example.mn', 'bold@example.mn']);
    expect(await here.run(mail)).toMatchObject({ code: 0 });
    here.write('list.csv', ['email', 'new@example.mn', 'bat@example.mn']);
    const { error } = JSON.parse((await here.run(`${mail} --json`)).stderr);
    expect(error).toMatchObject({ code: 'sent_before', recipients: 1, exit: 11 });
    expect(await here.run(`${mail} --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(3));
  });

  it('is not looked for in a job that a refused command takes back meanwhile', async () => {
    const here = desk(people(400));
    here.write('other.csv', [header, ...people(410).slice(400)]);
    const refused = Array.from({ length: 8 }, () => here.run(line.replace(' --yes', ''), { random }));
    const others = Array.from({ length: 8 }, (_, at) =>
      here.run(line.replace('list.csv', 'other.csv').replace('Hello', `Hello ${at}`), { random }),
    );
    for (const { code, stdout } of await Promise.all(refused)) {
      expect([2, 11]).toContain(code);
      expect(stdout).toBe('');
    }
    for (const { code, stderr } of await Promise.all(others)) {
      expect(stderr).not.toContain('warning');
      expect(code).toBe(0);
    }
    expect(here.jobs.filter((name) => !name.startsWith('sms-'))).toEqual([]);
    expect(here.project.messages).toHaveLength(80);
  });

  it('is asked about at a terminal, where all, only the new or nobody can be chosen', async () => {
    const ask = async (...given: (string | boolean)[]) => {
      const here = await sentToThree();
      const questions = answers(...given);
      const { code, stderr } = await here.run(line.replace(' --yes', ''), { terminal: 80, questions });
      expect(questions.asked[0]).toMatch(
        /Send to 4 recipients .*\? 3 were sent the same message in the last 7 days\./,
      );
      return { code, stderr, asked: questions.asked[1], received: [...here.project.received().values()] };
    };
    expect(await ask('Cancel')).toMatchObject({ code: 2, received: once(3) });
    expect(await ask('All 4')).toMatchObject({ code: 0, received: [2, 2, 2, 1] });
    const onlyNew = await ask('Only the 1 new', true);
    expect(onlyNew).toMatchObject({
      code: 0,
      received: once(4),
      asked: 'Send to 1 recipient for 10 credits?',
    });
    expect(await ask('Only the 1 new', false)).toMatchObject({ code: 2, received: once(3) });
  });

  it('is refused at a terminal with --yes', async () => {
    const here = await sentToThree();
    expect(await here.run(line, { terminal: 80, questions: answers() })).toMatchObject({ code: 11 });
    expect(here.project.messages).toHaveLength(3);
  });

  it('is a warning for another job name, with --quiet too', async () => {
    const here = await sentToThree();
    const { stderr } = await here.run(`${line} --job other --quiet`);
    expect(stderr).toContain(
      'warning: 3 were sent the same message in the last 7 days; this job sends to them, too. To leave them out, add --skip-sent.',
    );
    expect((await here.run(`${line} --job third --skip-sent --if-finished ok`)).stderr).not.toContain(
      'warning',
    );
  });

  it.each([
    ['a named job', `${line} --job other`, 0, 7],
    ['another text', line.replace('Hello', 'Hi'), 0, 7],
    ['another base URL', `${line} --base-url http://127.0.0.1:9/v1`, 0, 7],
    ['--dry-run', `${line} --dry-run`, 0, 3],
  ])('is not refused for %s', async (_, command, code, sent) => {
    const here = await sentToThree();
    expect(await here.run(command)).toMatchObject({ code });
    expect(here.project.messages).toHaveLength(sent);
  });

  it.each([`${line} --job other`, `${line} --dry-run`])(
    'is counted before it is sent: %s',
    async (command) => {
      const here = await sentToThree();
      const dry = figures((await here.run(`${line} --dry-run --json --skip-sent`)).stdout);
      expect(dry).toMatchObject({ recipients: 1, sent_before: 3, skips_sent: true });
      const { stdout, stderr } = await here.run(command);
      expect(stdout + stderr).toMatch(/^Sent before 3 were sent the same message in the last 7 days$/m);
    },
  );

  it('counts each acceptance by its own time, however young its job looks', async () => {
    const failing = new Set(numbers(3).slice(2));
    const here = aging(people(3), { failing });
    expect(await here.run(`${personal} --job october`)).toMatchObject({ code: 3 });
    failing.clear();
    here.pass(30);
    expect(await here.run('jobs resume october --retry-failed')).toMatchObject({ code: 0 });
    // As a copy, a restore or a move leaves it.
    here.touch('october');
    here.write('list.csv', [header, ...people(4).reverse()]);
    const dry = figures((await here.run(`${personal} --skip-sent --dry-run --json`)).stdout);
    expect(dry).toMatchObject({ recipients: 3, sent_before: 1 });
    expect(await here.run(`${personal} --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 1, 1]);
  });

  it.each([
    ['batches', line],
    ['single messages', personal],
  ])('counts an acceptance without a time from the end of its run: %s', async (_, command) => {
    const here = aging(people(2));
    await here.run(`${command} --job october`);
    here.rewrite('october', (entries) => entries.map(withoutTime));
    here.write('list.csv', [header, ...people(3).reverse()]);
    expect(await here.run(command)).toMatchObject({ code: 11 });
    here.pass(6.9);
    expect(await here.run(command)).toMatchObject({ code: 11 });
    here.pass(0.2);
    here.touch('october');
    expect(await here.run(command)).toMatchObject({ code: 0 });
  });

  it('counts it from the last change of the journal where the run was killed', async () => {
    const here = aging(people(2));
    await here.run(`${line} --job october`);
    here.rewrite('october', (entries) => entries.map(withoutTime).filter(([type]) => type !== 'end'));
    here.pass(30);
    here.touch('october');
    here.write('list.csv', [header, ...people(3).reverse()]);
    expect(await here.run(line)).toMatchObject({ code: 11 });
    here.pass(7.1);
    expect(await here.run(line)).toMatchObject({ code: 0 });
  });

  it.each([
    ['ahead when it sends', 400, 0],
    ['behind when it sends', -400, 0],
    ['ahead when it compares', 0, 400],
    ['behind when it compares', 0, -400],
  ])('goes by the clock of the service where that of this machine is %s', async (_, sends, compares) => {
    const here = aging(people(3));
    here.skew = sends;
    expect(await here.run(`${line} --job october`)).toMatchObject({ code: 0 });
    here.touch('october');
    here.skew = compares;
    here.write('list.csv', [header, ...people(4).reverse()]);
    expect(await here.run(line)).toMatchObject({ code: 11 });
    if (compares < 0) return;
    here.pass(8);
    here.touch('october');
    expect(await here.run(line)).toMatchObject({ code: 0 });
  });

  it.each(['', '--skip-sent', '--skip-sent --job mine'])(
    'is refused where another job has sent it while this one was planned, exit 11: %s',
    async (options) => {
      const here = desk(people(4));
      here.write('other.csv', [header, ...people(3)]);
      const other = line.replace('list.csv', 'other.csv');
      meanwhile(here, async () => expect(await here.run(other, { random })).toMatchObject({ code: 0 }));
      const { code, stderr } = await here.run(`${line} ${options} --json`);
      expect(code).toBe(11);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'sent_before', recipients: 3 });
      expect([...here.project.received().values()]).toEqual(once(3));
      const rest = options === '' ? '--skip-sent' : options;
      expect(await here.run(`${line} ${rest}`)).toMatchObject({ code: 0 });
      expect([...here.project.received().values()]).toEqual(once(4));
    },
  );

  it('is left to an unfinished job that was made while this one was planned', async () => {
    const here = desk(people(4), { credits: 25 });
    here.write('other.csv', [header, ...people(3)]);
    const other = personal.replace('list.csv', 'other.csv');
    meanwhile(here, async () =>
      expect(await here.run(`${other} --allow-partial`, { random })).toMatchObject({ code: 7 }),
    );
    expect(await here.run(personal)).toMatchObject(
      saying(11, /the unfinished job sms-\w+ would send the same message to 1 recipient of this list/),
    );
    expect(here.project.messages).toHaveLength(2);
  });

  it('never goes to anyone twice where jobs start in one instant', async () => {
    for (let round = 0; round < 8; round += 1) {
      const here = desk(people(30));
      const lists = ['one.csv', 'two.csv', 'three.csv'];
      for (const [at, name] of lists.entries()) here.write(name, [header, ...people(30 + at).slice(at)]);
      const ends = await Promise.all(
        lists.map((name) => here.run(line.replace('list.csv', name), { random })),
      );
      expect(ends.map(({ code }) => code).sort()).toEqual([0, 11, 11]);
      expect([...here.project.received().values()]).toEqual(once(30));
    }
  });

  it('leaves to an unfinished job what it would still send, or is in doubt about', async () => {
    const here = await partlySent(`${personal} --allow-partial`);
    here.write('list.csv', [header, ...people(5).reverse()]);
    for (const command of [personal, `${personal} --skip-sent`]) {
      const { code, stderr } = await here.run(command);
      expect(code).toBe(11);
      expect(stderr).toMatch(
        /the unfinished job sms-\w+ would send the same message to 3 recipients of this list/,
      );
      expect(stderr).toMatch(/finish that job: urtuu jobs resume sms-\w+\n$/);
    }
    const [id = ''] = here.jobs;
    here.project.options.instead = ({ method }) => (method === 'POST' ? new Error('ECONNRESET') : undefined);
    expect(await here.run(`jobs resume ${id} --max-wait 0s`)).toMatchObject({ code: 6 });
    delete here.project.options.instead;
    expect(await here.run(`${personal} --skip-sent`)).toMatchObject({ code: 11 });
    expect(await here.run(`jobs resume ${id}`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(5));
  });

  it('leaves it to that job also where another one has a name, and --skip-sent says to leave people out', async () => {
    const here = await partlySent(`${personal} --allow-partial`);
    const [id = ''] = here.jobs;
    expect((await here.run(`${personal} --job other --dry-run`)).stdout.replace(/\n +/g, ' ')).toMatch(
      /^Sent before 2 were sent the same message in the last 7 days, 3 may get it from an unfinished job$/m,
    );
    const named = `${personal} --job other --skip-sent`;
    expect(await here.run(named)).toMatchObject(
      saying(11, `the unfinished job ${id} would send the same message to 3 recipients`),
    );
    const dry = figures((await here.run(`${named} --dry-run --json`)).stdout);
    expect(dry).toMatchObject({ recipients: 3, sent_before: 2, skips_sent: true });
    expect((await here.run(`${named} --dry-run`)).stdout.replace(/\n +/g, ' ')).toMatch(
      /^Sent before 2 left out: they were sent the same message, 3 may get it from an unfinished job$/m,
    );
    expect(await here.run(`jobs resume ${id}`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(5));
  });

  it('leaves it to that job also where the one with a name has the same plan', async () => {
    const here = desk(people(4));
    here.project.options.instead = ({ method }) => (method === 'POST' ? new Error('ECONNRESET') : undefined);
    expect(await here.run(`${line} --max-wait 0s`)).toMatchObject({ code: 6 });
    delete here.project.options.instead;
    const [id = ''] = here.jobs;
    const { code, stderr } = await here.run(`${line} --job other --skip-sent`);
    expect(stderr).toContain(`the unfinished job ${id} would send the same message to 4 recipients`);
    expect(code).toBe(11);
    expect(here.project.messages).toHaveLength(0);
    const counted = await here.run(`${line} --job other --dry-run`);
    expect(counted.stdout).toMatch(/^Sent before 4 may get the same message from an unfinished job$/m);
    expect(await here.run(line)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(4));
  });

  it('goes on with a named job of its own for all that', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(`${personal} --job mine --skip-sent --allow-partial`);
    await here.run(`${personal} --job other --allow-partial`);
    here.project.balance = 1_000;
    expect(await here.run(`${personal} --job mine --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(5));
  });

  it.each(['--again', '--only failed'])(
    '--skip-sent with %s would leave out nobody: exit 2',
    async (option) => {
      const here = desk(people(3));
      await here.run(`${line} --report report.csv`);
      expect(await here.run(`${line.replace('list', 'report')} --skip-sent ${option}`)).toMatchObject(
        saying(2, `${option} and --skip-sent cannot be combined`),
      );
      expect(here.project.messages).toHaveLength(3);
    },
  );

  it('does not count a batch of which every message failed', async () => {
    const failing = new Set(numbers(3));
    const here = desk(people(3), { failing });
    expect(await here.run(`${line} --wait`)).toMatchObject({ code: 9 });
    failing.clear();
    here.write('list.csv', [header, ...people(3).reverse()]);
    expect(await here.run(`${line} --skip-sent --if-finished ok`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(3));
  });

  it('tells where it cannot know whose messages of a batch failed, and claims nothing of them', async () => {
    const failing = new Set(numbers(1));
    const here = desk(people(3), { failing });
    expect(await here.run(`${line} --wait`)).toMatchObject({ code: 3 });
    failing.clear();
    here.write('list.csv', [header, ...people(3).reverse()]);
    const { code, stderr } = await here.run(`${line} --skip-sent --if-finished ok`);
    expect(code).toBe(3);
    expect(stderr).toContain('3 recipients left out may not have the message');
    expect(stderr).toMatch(/Everyone in this list was in an earlier job; nothing was sent this time\.\n$/);
    const refused = await here.run(`${line} --skip-sent`);
    expect(refused).toMatchObject(saying(11, 'everyone in this list was in an earlier job'));
    here.write('list.csv', [header, ...people(4)]);
    const more = await here.run(`${line} --skip-sent`);
    expect(more).toMatchObject(saying(3, '3 recipients left out may not have the message'));
    expect(here.project.messages).toHaveLength(4);
  });

  it.each(['', '--wait'])(
    'sends to whose message of a batch failed, once a report has read whose (%s)',
    async (wait) => {
      const failing = new Set(numbers(1));
      const here = desk(people(3), { failing });
      await here.run(`${line} ${wait} --job july`);
      await here.run('jobs report july --report july.csv');
      failing.clear();
      here.write('list.csv', [header, ...people(3).reverse()]);
      const { code, stderr } = await here.run(`${line} --skip-sent`);
      expect(code).toBe(0);
      expect(stderr).toContain('2 left out: they were sent the same message');
      expect(stderr).not.toContain('warning');
      expect([...here.project.received().values()]).toEqual(once(3));
    },
  );

  it('says nothing of failures among other messages', async () => {
    const failing = new Set(numbers(1));
    const here = desk(people(3), { failing });
    await here.run(`${line} --wait`);
    here.write('others.csv', [header, ...people(9).slice(4)]);
    const others = line.replace('list', 'others');
    await here.run(others);
    const { code, stderr } = await here.run(`${others} --skip-sent --job august`);
    expect(code).toBe(11);
    expect(stderr).toContain('everyone in this list was sent the same message');
    expect(stderr).not.toContain('warning');
  });

  it('does not count who was refused or whose message failed', async () => {
    const failing = new Set(numbers(5).slice(0, 1));
    const unsupported = new Set(numbers(5).slice(1, 2));
    const here = desk(people(5), { failing, unsupported });
    expect(await here.run(personal)).toMatchObject({ code: 3 });
    failing.clear();
    unsupported.clear();
    here.write('list.csv', [header, ...people(5).reverse()]);
    expect(await here.run(`${personal} --skip-sent`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(5));
  });

  it('lets a report name who failed in a batch', async () => {
    const failing = new Set(numbers(3).slice(0, 1));
    const here = desk(people(3), { failing });
    expect(await here.run(`${line} --wait --report report.csv`)).toMatchObject({ code: 3 });
    failing.clear();
    expect(await here.run(`${line.replace('list', 'report')} --only failed`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(3));
    expect(await here.run(`${line.replace('list', 'report')} --only sent`)).toMatchObject({ code: 11 });
  });

  it('asks about a rejected row that was fixed to the number of another, failed rows beside it or not', async () => {
    const failing = new Set(numbers(3).slice(0, 1));
    const here = desk([...people(3), '123,Oyuna'], { failing });
    await here.run(`${line} --wait --skip-invalid --allow-partial --report report.csv`);
    failing.clear();
    const report = here.read('report.csv').replace('123,', `${numbers(3)[2]},`);
    here.write('fixed.csv', report.trimEnd().split('\n'));
    const again = `${line.replace('list', 'fixed')} --only failed,rejected --job`;
    for (const job of ['two', 'three']) {
      expect(await here.run(`${again} ${job}`)).toMatchObject(saying(11, '1 recipient'));
    }
    const { code } = await here.run(`${line.replace('list', 'fixed')} --only failed --job two`);
    expect(code).toBe(0);
    expect([...here.project.received().values()]).toEqual(once(3));
  });

  it('with --skip-sent and nobody left is exit 11, or 0 with --if-finished ok', async () => {
    const here = desk(people(3));
    await here.run(line);
    here.write('list.csv', [header, ...people(2).reverse()]);
    expect(await here.run(`${line} --skip-sent`)).toMatchObject(
      saying(11, 'everyone in this list was sent the same message'),
    );
    expect(await here.run(`${line} --skip-sent --if-finished ok`)).toMatchObject({ code: 0 });
    expect(here.project.messages).toHaveLength(3);
  });

  it.each([
    ['plan.json', '{'],
    ['bodies', 'x'],
    ['journal', 'x\n'],
  ])('says which job it cannot read, and goes on: %s', async (name, text) => {
    const here = desk(people(2));
    await here.run(line);
    here.write('list.csv', [header, ...people(3).reverse()]);
    writeFileSync(here.jobFile(here.jobs[0] ?? '', name), text);
    const { code, stderr } = await here.run(line);
    expect(code).toBe(0);
    expect(stderr.match(/cannot read what the job sms-\w+ sent/g)).toHaveLength(1);
  });
});
