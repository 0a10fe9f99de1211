import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { viewJob } from '../../../../src/cli/bulk/job/open-job.js';
import type { PlanMeta } from '../../../../src/cli/bulk/plan/plan.js';
import { addCarryOutOptions, addInputOptions } from '../../../../src/cli/commands/bulk/options.js';
import { keptOf, likeOf } from '../../../../src/cli/commands/bulk/prepare/like.js';
import { gsmOption } from '../../../../src/cli/input/text.js';
import { addContentOptions } from '../../../../src/cli/single/email.js';
import type { Desk } from '../../../support/desk.js';
import { printedIn } from '../../../support/printed-commands.js';
import { answers, type Setting } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { numbers } from '../../bulk/memory-plan.js';
import { desk, people, personal } from './desks.js';

const [bat = '', dorj = '', bold = ''] = numbers(3);
/** As processes have it: the folders of new plans have a random name. */
const { random } = Math;
const follow = 'sms bulk next.csv --like july --yes';

function metaOf(here: Desk, job: string): PlanMeta {
  const [, ...record] = readFileSync(here.jobFile(job, 'plan.json'), 'utf8').split('\n');
  return JSON.parse(record.join('\n')).meta;
}

/** A desk whose job july has sent to one, and the list of a second one. */
async function followed(options = '', line = personal): Promise<Desk> {
  const here = desk([`${bat},Bat`]);
  expect(await here.run(`${line} ${options}`)).toMatchObject({ code: 0 });
  here.write('next.csv', ['phone,name', `${dorj},Dorj`]);
  return here;
}

describe('an option beside --like', () => {
  type Name = keyof typeof likeOf;
  const subject = '--subject S';
  /** What the job is run with, what arrives in the plan of one like it, and what is typed instead. */
  const taken: Partial<Record<Name, [options: string, arrives: unknown, typed: string, wins: unknown]>> = {
    text: ['--subject S --text A', 'A', '--text B', 'B'],
    textFile: ['--subject S --text-file a.txt', undefined, '--text-file b.txt', undefined],
    html: ['--subject S --html A', 'A', '--html B', 'B'],
    htmlFile: ['--subject S --html-file a.txt', undefined, '--html-file b.txt', undefined],
    subject: ['--text T --subject A', 'A', '--subject B', 'B'],
    fromName: [`${subject} --text T --from-name A`, 'A', '--from-name B', 'B'],
    replyTo: [`${subject} --text T --reply-to a@b.mn`, 'a@b.mn', '--reply-to c@d.mn', 'c@d.mn'],
    toColumn: [`${subject} --text T --to-column mail`, 'mail', '--to-column other', 'other'],
    allowRepeats: [`${subject} --text T --allow-repeats`, true, '--allow-repeats', true],
    skipInvalid: [`${subject} --text T --skip-invalid`, true, '--skip-invalid', true],
    skipSent: [`${subject} --text T --skip-sent`, true, '--again', undefined],
    allowPartial: [`${subject} --text T --allow-partial`, true, '--allow-partial', true],
    rate: [`${subject} --text T --rate 7`, 7, '--rate 9', 9],
    concurrency: [`${subject} --text T --concurrency 3`, 3, '--concurrency 8', 8],
    maxWait: [`${subject} --text T --max-wait 3m`, 180_000, '--max-wait 10m', 600_000],
    wait: [`${subject} --text T --wait`, true, '--wait', true],
    waitTimeout: [`${subject} --text T --wait-timeout 3m`, 180_000, '--wait-timeout 10m', 600_000],
  };
  const names = Object.keys(likeOf) as Name[];

  async function arriving(options: string, typed: string): Promise<PlanMeta> {
    const here = desk([]);
    for (const name of ['a', 'b']) writeFileSync(join(here.home, `${name}.txt`), `${name} of a file`);
    here.write('list.csv', ['mail', 'bat@example.mn']);
    here.write('next.csv', ['mail,other', 'bold@example.mn,dorj@example.mn']);
    const first = await here.run(`email bulk list.csv --job july --yes ${options}`);
    expect(first).toMatchObject({ code: 0 });
    rmSync(join(here.home, 'a.txt'));
    const next = await here.run(`email bulk next.csv --like july --job next --yes ${typed}`);
    expect(next).toMatchObject({ code: 0 });
    return metaOf(here, 'next');
  }
  const all = ({ options, templates }: PlanMeta): Record<string, unknown> => ({ ...options, ...templates });

  it.each(names.filter((name) => likeOf[name] === 'own' || likeOf[name] === 'limit'))(
    'is not taken over in the plan: %s',
    (name) => {
      expect(taken[name]).toBeUndefined();
      expect(keptOf({ [name]: 'value' })).toEqual({});
    },
  );

  it.each(names.filter((name) => taken[name] !== undefined))(
    'is taken over unless it is typed: %s',
    async (name) => {
      const [options = '', arrives, typed = '', wins] = taken[name] ?? [];
      expect(all(await arriving(options, ''))[name]).toEqual(arrives);
      expect(all(await arriving(options, typed))[name]).toEqual(wins);
    },
  );

  it('of a file is taken over as its text', async () => {
    const options = '--subject S --text-file a.txt';
    expect((await arriving(options, '')).templates).toEqual({ subject: 'S', text: 'a of a file' });
    expect((await arriving(options, '--text-file b.txt')).templates).toMatchObject({ text: 'b of a file' });
  });

  it('that is typed as text or HTML replaces both, which say the same', async () => {
    const { templates } = await arriving('--subject S --text A --html A', '--text B');
    expect(templates).toEqual({ subject: 'S', text: 'B' });
  });

  it('is taken over by an SMS: --gsm, which the printed command does not need', async () => {
    const here = desk([`${bat},Bat\u2019s`, '9911,Dorj\u2019s']);
    const first = await here.run(
      "sms bulk list.csv --text 'Hi {name}' --job july --gsm --skip-invalid --yes",
    );
    here.write('list.rejected.csv', ['phone,name', `${dorj},Dorj\u2019s`]);
    expect(await here.run('', { argv: printedIn(first.stderr).at(-1)?.words ?? [] })).toMatchObject({
      code: 0,
    });
    expect(here.project.sends.map(({ body }) => body?.text)).toEqual(["Hi Bat's", "Hi Dorj's"]);
  });

  it('is in the table', () => {
    const command = new Command();
    addInputOptions(addCarryOutOptions(command));
    addContentOptions(command, { isForRows: true });
    command.option(...gsmOption);
    const found = command.options.map((option) => option.attributeName());
    expect(found.sort()).toEqual(names.sort());
  });
});

describe('the printed command for fixed rows, with --like', () => {
  const line = 'sms bulk list.csv --skip-invalid --job july --yes';
  it.each<[string, string, Setting]>([
    ['standard input', `${line} --text -`, { stdin: 'Hello {name}' }],
    ['a prompt', line, { terminal: 200, questions: answers('Hello {name}') }],
    ['a file that was removed since', `${line} --text-file text.txt`, {}],
    ['two lines', '', { argv: [...line.split(' '), '--text', 'Hello {name}\nthere'] }],
    ['a number, masked', `${line} --mask --text 'Hello {name}, call 99112233'`, {}],
  ])('sends the same text as the job: from %s', async (_, command, setting) => {
    const here = desk([`${bat},Bat`, 'nobody,Bat']);
    writeFileSync(join(here.home, 'text.txt'), 'Hello {name}');
    const { code, stderr } = await here.run(command, setting);
    expect(code).toBe(3);
    rmSync(join(here.home, 'text.txt'));
    const next = printedIn(stderr).at(-1);
    expect(next?.words.slice(2)).toEqual([join(here.home, 'list.rejected.csv'), '--like', 'july', '--yes']);
    here.write(
      'list.rejected.csv',
      here.read('list.rejected.csv').trim().replace('nobody', dorj).split('\r\n'),
    );
    expect(await here.run('', { argv: next?.words ?? [] })).toMatchObject({ code: 0 });
    const [first, second] = here.project.sends.map(({ body }) => body);
    expect(second).toEqual({ ...first, to: dorj });
    expect(first?.text).toMatch(/^Hello Bat/);
  });

  it('is not printed for a job that keeps other texts, which were the same for its rows', async () => {
    const here = desk([`${bat},Bat`]);
    await here.run("sms bulk list.csv --text 'Hello Bat' --job july --yes");
    here.write('list.csv', ['phone,name', `${bat},Bat`, 'nobody,Dorj']);
    const { code, stderr } = await here.run(`${personal} --skip-invalid --if-finished ok`);
    expect(code).toBe(3);
    expect(stderr).not.toContain('--like');
  });

  it('follows a list without a header, which the next may lack, too', async () => {
    const here = desk([]);
    writeFileSync(join(here.home, 'list.csv'), `Bat;${bat}\n`);
    writeFileSync(join(here.home, 'next.csv'), `Dorj;${dorj}\n`);
    const first = await here.run(
      "sms bulk list.csv --headerless --to-column 2 --text 'Hello {1}' --job july --yes",
    );
    expect(first).toMatchObject({ code: 0 });
    expect(await here.run(`${follow} --headerless`)).toMatchObject({ code: 0 });
    expect(here.project.sends.map(({ body }) => body?.text)).toEqual(['Hello Bat', 'Hello Dorj']);
  });

  it('finds the number of a bare list in its report, whatever columns somebody has added', async () => {
    const here = desk([]);
    writeFileSync(join(here.home, 'list.csv'), `${bat}\n${dorj}\n`);
    here.project.options.failing = new Set([dorj]);
    const bare = 'sms bulk list.csv --headerless --text Hello --job july --report report.csv --wait --yes';
    const { stderr } = await here.run(bare);
    here.project.options.failing = new Set();
    const rows = here.read('report.csv').trim().split('\r\n');
    here.write(
      'report.csv',
      rows.map((row, at) => `${at === 0 ? 'note' : 'a note'},${row}`),
    );
    expect(printedIn(stderr).at(-1)?.line).toBe('urtuu jobs retry july --wait --yes');
    const edited = await here.run('sms bulk report.csv --only failed --like july --yes');
    expect(edited).toMatchObject({ code: 0 });
    expect([...here.project.received()]).toEqual([
      [bat, 1],
      [dorj, 1],
    ]);
  });
});

describe('--like', () => {
  const key = (letter: string) => ({ env: { URTUU_API_KEY: `urtuu_${letter.repeat(40)}` } });
  it.each<[string, string, number, string, Setting]>([
    ['no job', 'sms bulk next.csv --like june --yes', 12, 'there is no job june', {}],
    ['another channel', 'email bulk next.csv --like july --yes', 11, 'the job july sends SMS', {}],
    ['another service', `${follow} --base-url https://sms.example.mn/v1`, 11, 'the job july is for', {}],
    ['the embedded service', `${follow} --sandbox`, 11, 'the job july is for', {}],
    ['another API key', follow, 11, 'started with another API key', key('B')],
  ])('is refused for %s, and sends nothing', async (_, line, code, said, setting) => {
    const here = await followed();
    expect(await here.run(line, setting)).toMatchObject(saying(code, said));
    expect(here.project.sends).toHaveLength(1);
    expect(here.jobs).toEqual(['july']);
  });

  it('takes another API key of the project, where the key finds what was sent', async () => {
    const here = await followed();
    const to = people(1);
    expect(to).toHaveLength(1);
    expect(await here.run(`${follow} --same-project`, key('B'))).toMatchObject({ code: 0 });
    here.project.options.instead = ({ method, path }) =>
      method === 'GET' && /\/messages\/./.test(path) ? { status: 404, body: {} } : undefined;
    expect(await here.run(`${follow} --same-project`, key('C'))).not.toMatchObject({ code: 0 });
    expect(here.project.sends).toHaveLength(2);
  });

  it.each([
    ['a column of the text', 'phone', 'text: unknown column {name}'],
    ['the recipient column', 'name', 'phone'],
  ])('names %s that the new file lacks, exit 8', async (_, column, said) => {
    const here = await followed('--to-column phone');
    here.write('next.csv', [column, dorj]);
    expect(await here.run(follow)).toMatchObject(saying(8, said));
    expect(here.project.sends).toHaveLength(1);
  });

  it('needs no text, and asks for nothing but the file', async () => {
    const here = await followed();
    const questions = answers('next.csv', true);
    expect(await here.run('sms bulk --like july', { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(questions.asked).toEqual(['CSV file:', expect.stringContaining('Send to 1 recipient')]);
  });

  it('reads a list from standard input, and shows the price of one', async () => {
    const here = await followed();
    const stdin = `phone,name\n${dorj},Dorj\n`;
    const dry = await here.run('sms bulk - --like july --dry-run --json', { stdin });
    expect(JSON.parse(dry.stdout)).toMatchObject({ recipients: 1, credits: 10 });
    expect(await here.run('sms bulk - --like july --yes', { stdin })).toMatchObject({ code: 0 });
  });
});

describe('the limit of --like', () => {
  const limitOf = async ({ home }: Desk, job: string) =>
    (await viewJob(join(home, '.local/state/urtuu'), job)).state.limit;

  it('is what the job has left of its own, unless it is typed', async () => {
    const here = await followed('--max-credits 25');
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'one')).toBe(15);
    here.write('next.csv', ['phone,name', `${bold},Bold`]);
    expect(await here.run(`${follow} --job two`)).toMatchObject(
      saying(7, 'the job costs 10 credits, and 5 of the 25 credits of july are left'),
    );
    expect(here.jobs.sort()).toEqual(['july', 'one']);
    expect(await here.run(`${follow} --job two --max-credits 10`)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'two')).toBe(10);
  });

  it('is shared by the retry of its failed messages', async () => {
    const failing = new Set([bat]);
    const here = desk([`${bat},Bat`, `${dorj},Dorj`], { failing });
    expect(await here.run(`${personal} --max-credits 20`)).toMatchObject({ code: 3 });
    here.write('next.csv', ['phone,name', `${bold},Bold`]);
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 0 });
    failing.clear();
    const retry = await here.run('jobs resume july --retry-failed');
    expect(retry).toMatchObject(saying(7, '0 of the 20 credits of july'));
    expect(here.project.balance).toBe(1_000_000 - 20);
    const typed = await here.run('jobs resume july --retry-failed --max-credits 30');
    expect(typed).toMatchObject({ code: 0 });
    expect(here.project.balance).toBe(1_000_000 - 30);
  });

  it('is shared by two jobs that start at once', async () => {
    for (let round = 0; round < 8; round += 1) {
      const here = await followed('--max-credits 30');
      const lists = [0, 1, 2].map((at) => `${at}.csv`);
      for (const [at, name] of lists.entries())
        here.write(name, ['phone,name', ...people(5).slice(at + 1, at + 3)]);
      const ends = await Promise.all(
        lists.map((name, at) => here.run(`sms bulk ${name} --like july --job j${at} --yes`, { random })),
      );
      expect(ends.map(({ code }) => code).sort()).toEqual([0, 7, 7]);
      expect(here.project.sends).toHaveLength(3);
    }
  });

  it('is shared with a job that still asks', async () => {
    const here = await followed('--max-credits 30');
    here.write('other.csv', ['phone,name', ...people(5).slice(2, 4)]);
    const confirm = async () => {
      const other = await here.run('sms bulk other.csv --like july --job two --yes', { random });
      expect(other).toMatchObject(saying(7, 'and 0 of the 30 credits of july are left'));
      return true;
    };
    const asking = 'sms bulk next.csv --like july --job one';
    const questions = { ...answers(), confirm };
    expect(await here.run(asking, { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(here.project.sends).toHaveLength(2);
  });

  it('is kept for a job that has stopped, and named', async () => {
    const here = await followed('--max-credits 60 --allow-partial');
    here.write('next.csv', ['phone,name', ...people(4).slice(1)]);
    here.project.balance = 10;
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    here.write('other.csv', ['phone,name', `${numbers(5)[4]},Bold`]);
    const other = 'sms bulk other.csv --like july --job two --yes';
    expect(await here.run(other)).toMatchObject(
      saying(7, 'kept for unfinished jobs. To finish one: urtuu jobs resume one'),
    );
    expect(await here.run('jobs resume one')).toMatchObject({ code: 0 });
    expect(await here.run(other)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'two')).toBe(20);
  });

  it('of a job that is like another is that of the first, whoever was removed between', async () => {
    const here = await followed('--max-credits 35');
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 0 });
    here.write('next.csv', ['phone,name', `${bold},Bold`]);
    const second = 'sms bulk next.csv --like one --job two --yes';
    expect(await here.run(second)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'two')).toBe(15);
    expect(metaOf(here, 'two').like?.map(({ job }) => job)).toEqual(['one', 'july']);
    await here.run('jobs remove one');
    here.write('next.csv', ['phone,name', `${numbers(4)[3]},Bold`]);
    expect(await here.run('sms bulk next.csv --like two --job three --yes')).toMatchObject(
      saying(7, '5 of the 15 credits of two are left'),
    );
  });

  it('does not count jobs like an earlier one of the same name', async () => {
    const here = await followed('--max-credits 20');
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 0 });
    await here.run('jobs remove july');
    here.write('list.csv', ['phone,name', `${bold},Bold`]);
    expect(await here.run(`${personal} --max-credits 20`)).toMatchObject({ code: 0 });
    here.write('next.csv', ['phone,name', `${numbers(4)[3]},Bold`]);
    expect(await here.run(`${follow} --job two`)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'two')).toBe(10);
  });

  it('is refused while the plan of a job cannot be read, exit 13, but not without a limit', async () => {
    for (const [options, code] of [
      ['--max-credits 100', 13],
      ['', 0],
    ] as const) {
      const here = await followed(options);
      await here.run(`${follow} --job one`);
      writeFileSync(here.jobFile('one', 'plan.json'), 'damaged');
      here.write('next.csv', ['phone,name', `${bold},Bold`]);
      const { code: exit, stderr } = await here.run(`${follow} --job two`);
      expect({ exit, stderr }).toMatchObject({ exit: code });
      if (code === 13) expect(here.jobs.sort()).toEqual(['july', 'one']);
    }
  });

  it('is recorded before the first question is answered, and goes with a job that is declined', async () => {
    const here = await followed('--max-credits 30');
    const asked: unknown[] = [];
    const confirm = async () => {
      asked.push(await limitOf(here, 'one'));
      return false;
    };
    const asking = `${follow.replace(' --yes', '')} --job one`;
    const questions = { ...answers(), confirm };
    expect(await here.run(asking, { terminal: 80, questions })).toMatchObject({ code: 2 });
    expect(asked).toEqual([20]);
    expect(here.jobs).toEqual(['july']);
    expect(await here.run(`${follow} --job one`)).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'one')).toBe(20);
  });

  it.each([
    ['is found again by a job that was killed before it was recorded', '', 15],
    [
      'that was typed is in the plan of a job that was killed before its first request',
      '--max-credits 12',
      12,
    ],
  ])('%s', async (_, typed, limit) => {
    const here = await followed('--max-credits 25');
    here.project.balance = 0;
    expect(await here.run(`${follow} --job one ${typed} --allow-partial`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    const journal = readFileSync(here.jobFile('one', 'journal'), 'utf8');
    writeFileSync(here.jobFile('one', 'journal'), journal.slice(0, journal.indexOf('\n') + 1));
    expect(await here.run('jobs resume one')).toMatchObject({ code: 0 });
    expect(await limitOf(here, 'one')).toBe(limit);
    expect(here.project.messages).toHaveLength(2);
  });
});
