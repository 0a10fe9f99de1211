import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import { commandsIn } from '../../../support/printed-commands.js';
import { answers } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, figures, partly, people, personal, printed } from './desks.js';

it.each([
  ['--concurrency 0', "urtuu: --concurrency: '0' is not between 1 and 256"],
  ['--rate 0', "urtuu: --rate: '0' is not a rate: write a number over 0, up to 100000"],
])('%s is refused by the name of the option', async (option, said) => {
  const { code, stderr } = await desk(people(3)).run(`${constant} ${option}`);
  expect([code, stderr.split('\n')[0]]).toEqual([2, said]);
});

describe('a finished job', () => {
  it.each([
    ['single sends', personal],
    ['a batch', `${constant} --wait`],
  ])('with failures of %s names the command that tries only those again', async (_, line) => {
    const failing = new Set(numbers(1));
    const here = desk(people(3), { failing });
    const says = /Send the failed messages again with: urtuu jobs retry july(?: --wait)?(?: --yes)?$/m;
    expect(await here.run(line)).toMatchObject(saying(3, says));
    expect(await here.run('jobs watch july')).toMatchObject(saying(3, says));
    const again = await here.run(line.replace(' --wait', ''));
    expect(again).toMatchObject(saying(11, 'To send to everyone again, add --again'));
    expect(printed(again.stderr)).toBe('jobs retry july --yes');
    failing.clear();
    expect(await here.run(printed(again.stderr))).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('names it without the report, which has all rows, from any folder', async () => {
    const here = desk(people(3), { failing: new Set(numbers(1)) });
    const { stderr } = await here.run(`${constant} --wait --report out.csv --skip-sent`);
    const [send] = commandsIn(stderr);
    expect(send?.line).toBe('urtuu jobs retry july --wait --yes');
    here.project.options.failing = new Set();
    const cwd = join(here.home, 'elsewhere');
    mkdirSync(cwd);
    expect(await here.run('', { argv: send?.words ?? [], cwd })).toMatchObject({ code: 0 });
    expect([...here.project.received()].sort()).toEqual(numbers(3).map((to) => [to, 1]));
  });

  it.each([
    ['all went well', new Set<string>(), 0],
    ['some failed', new Set(numbers(3).slice(0, 1)), 3],
    ['all failed', new Set(numbers(3)), 9],
  ])('ends as before with --if-finished ok, where %s', async (_, failing, code) => {
    const here = desk(people(3), { failing });
    const first = await here.run(`${personal} --json`);
    const sends = here.project.sends.length;
    expect(first.code).toBe(code);
    for (const line of [`${personal} --json --if-finished ok`, 'jobs resume july --json --if-finished ok']) {
      const again = await here.run(line);
      expect(again.code).toBe(code);
      // The balance of the first run is an old one.
      expect(figures(again.stdout)).toEqual({ ...figures(first.stdout), balance: null });
    }
    const told = await here.run(`${personal} --if-finished ok`);
    expect(told.stderr).toContain('The job july finished before; nothing was sent this time.');
    expect(await here.run(personal)).toMatchObject({ code: 11 });
    expect(here.project.sends).toHaveLength(sends);
  });
});

describe('a job that ran elsewhere', () => {
  it('is exit 11 that says when, and 0 with --if-finished ok; nothing is sent', async () => {
    const one = desk(people(3));
    const two = desk(people(3));
    const three = desk(people(3));
    await one.run(personal);
    const { fetch } = one.project.service;
    const refused = await two.run(personal, { fetch });
    expect(refused.code).toBe(11);
    expect(refused.stderr).toMatch(/already ran at 2026-\d\d-\d\d \S+, elsewhere .*nothing new was sent/);
    // Its record is here now.
    expect((await two.run(personal, { fetch })).stderr).toMatch(/already ran at 2026/);
    expect(await two.run(`${personal} --if-finished ok`, { fetch })).toMatchObject({ code: 0 });
    expect(await three.run(`${personal} --if-finished ok`, { fetch })).toMatchObject({ code: 0 });
    expect([...one.project.received().values()]).toEqual([1, 1, 1]);
  });
});

describe('a balance that is too low', () => {
  it('is exit 7 before anything is sent, and leaves no job', async () => {
    const here = desk(people(5), { credits: 25 });
    const { code, stderr } = await here.run(personal);
    expect(code).toBe(7);
    expect(stderr).toMatch(/needs 50 credits, the balance is 25\n.*25 credits.*--allow-partial/);
    expect({ sends: here.project.sends, jobs: here.jobs }).toEqual({ sends: [], jobs: [] });
    const { error } = JSON.parse((await here.run(`${personal} --json --quiet`)).stderr);
    expect(error).toMatchObject({ code: 'insufficient_credits', required: 50, balance: 25, exit: 7 });
  });

  describe('a job whose first answers were lost', () => {
    /** Accepts and charges the first `count` posts, whose answers never arrive. */
    const losing = (here: Desk, count: number) => {
      let posts = 0;
      here.project.options.instead = ({ method, body, headers }) => {
        if (method !== 'POST') return undefined;
        posts += 1;
        if (posts > count) return new Error('reset');
        here.project.post('sms', body?.to as string, headers['Idempotency-Key'] ?? '');
        return new Error('reset');
      };
    };
    const again = `${personal} --max-wait 0`;

    it('is resolved by the same command, though the balance is what it has paid already', async () => {
      const here = desk(people(3), { credits: 30 });
      losing(here, 3);
      expect((await here.run(`${again} --concurrency 3`)).code).toBe(6);
      here.project.options.instead = () => undefined;
      expect(here.project.balance).toBe(0);
      const { code, stderr } = await here.run(again);
      expect(stderr).toContain('Credits     30 (30 may be paid already) of 0\n');
      expect(code).toBe(0);
      expect([...here.project.received().values()]).toEqual([1, 1, 1]);
    });

    it('stays in doubt with 6 where the rest cannot be paid', async () => {
      const here = desk(people(5), { credits: 50 });
      losing(here, 1);
      expect((await here.run(`${again} --concurrency 1`)).code).toBe(6);
      here.project.options.instead = () => undefined;
      here.project.balance = 15;
      const { code, stderr } = await here.run(again);
      expect(stderr).toMatch(
        /the balance is 15\n +Nothing was sent this time; in doubt from before: 1\. Add 25 credits/,
      );
      expect(code).toBe(6);
      expect((await here.run(`${again} --allow-partial`)).code).toBe(7);
      expect([...here.project.received().values()]).toEqual([1, 1]);
    });
  });

  it.each([
    [false, 2, 0],
    [true, 7, 2],
  ])('is in the question at a terminal; the answer %s', async (answer, code, sent) => {
    const here = desk(people(5), { credits: 25 });
    const questions = answers(answer);
    const line = personal.replace(' --yes', '');
    expect(await here.run(line, { terminal: 80, questions })).toMatchObject({ code });
    expect(questions.asked[0]).toMatch(
      /Send to 5 recipients for 50 credits\? .*25, 25 short, so the job will stop there\./,
    );
    expect(here.project.messages).toHaveLength(sent);
  });
});

describe('another plan under a name', () => {
  it.each([
    [
      'the text',
      (line: string) => line.replace("'Hello {name}'", "'Hi {name}'"),
      'the text changed from "Hello Bat 0" to "Hi Bat 0"',
    ],
    [
      'the channel',
      (line: string) => line.replace('sms bulk list.csv', 'email bulk mails.csv --subject s'),
      'the channel changed from sms to email',
    ],
    [
      'the file',
      (line: string) => line.replace('list.csv', 'other.csv'),
      'the file changed from list.csv to other.csv; the number of recipients changed from 3 to 4',
    ],
    [
      'the columns',
      (line: string) => line.replace('list.csv', 'columns.csv'),
      'the columns changed from phone, name to phone, name, n',
    ],
    ['the recipients', (line: string) => line.replace('list.csv', 'moved/list.csv'), 'the recipients differ'],
  ])('says that %s differs, and no digests', async (_, change, difference) => {
    const here = desk(people(3));
    here.write('other.csv', ['phone,name', ...people(4)]);
    here.write('mails.csv', ['email,name', 'a@b.mn,A', 'b@b.mn,B', 'c@b.mn,C']);
    here.write('columns.csv', [
      'phone,name,n',
      ...people(3)
        .map((row, at) => `${row},${at}`)
        .reverse(),
    ]);
    await here.run(personal);
    const source = here.read('list.csv').replace('99000002', '99000009');
    const line = change(personal);
    if (line.includes('moved/')) writeFileSync(join(here.home, 'list.csv'), source);
    const { code, stderr } = await here.run(line.replace('moved/', ''));
    expect(code).toBe(11);
    expect(stderr).toContain(difference);
    expect(stderr).not.toMatch(/[0-9a-f]{12}/);
    expect(here.project.messages).toHaveLength(3);
  });

  const list = ['99000000,Bat 0', '99000001,Bat 1', '99000002,Bat 2'];
  const hello = "'Hello {name}'";
  const hi = "'Hi {name}'";
  const text = (name: string) => `the text changed from "Hello ${name}" to "Hi ${name}"`;

  it.each([
    ['the text', hi, list, text('Bat 0')],
    [
      'text and recipients',
      hi,
      [...list.slice(1), '99000003,Bat 3'],
      `${text('Bat 1')}; the recipients differ: 1 added (first in line 4), 1 removed`,
    ],
    [
      'text, number and recipients',
      hi,
      [...list, '99000003,Bat 3', '99000004,Bat 4'],
      `the number of recipients changed from 3 to 5; ${text('Bat 0')}; the recipients differ: 2 added (first in line 5)`,
    ],
    [
      'the recipients, and not the text that every message begins with',
      hello,
      list.slice(1),
      'the number of recipients changed from 3 to 2; the recipients differ: 1 removed',
    ],
    [
      'every recipient, and the text',
      hi,
      ['88000003,Bat 3', '88000004,Bat 4', '88000005,Bat 5'],
      'the text changed from "Hello Bat 0" to "Hi Bat 3"; the recipients differ: 3 added (first in line 2), 3 removed',
    ],
    [
      'the text of one',
      hello,
      [...list.slice(0, 2), '99000002,Dorj'],
      'the text changed from "Hello Bat 2" to "Hello Dorj"',
    ],
    ['the order', hello, [...list].reverse(), 'the order of the recipients differs'],
  ])('names everything that differs: %s', async (_, template, rows, differences) => {
    const here = desk(list);
    await here.run(personal);
    here.write('list.csv', ['phone,name', ...rows]);
    const { code, stderr } = await here.run(`${personal.replace(hello, template)} --json`);
    expect(code).toBe(11);
    expect(JSON.parse(stderr).error.message).toBe(`the job july has another plan: ${differences}`);
    expect(here.project.messages).toHaveLength(3);
  });

  it('names the command that goes on with the one that is not finished', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly);
    here.write('list.csv', ['phone,name', ...people(6)]);
    here.project.balance = 1_000;
    const { stderr } = await here.run(personal);
    expect(printed(stderr)).toBe('jobs resume july');
    expect(await here.run(printed(stderr))).toMatchObject({ code: 0 });
  });
});

describe('the last line', () => {
  it('is there after two Ctrl-Cs, with what is in doubt and the command that goes on', async () => {
    const here = desk(people(30));
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const { fetch } = here.project.service;
    const giveUp: (() => void)[] = [];
    const { code, stderr } = await here.run(`${personal} --concurrency 4`, {
      onSignal: (listener) => {
        interrupt = listener;
        return () => {};
      },
      fetch: async (url, init) => {
        if (init.method !== 'POST' || url.endsWith('/check')) return fetch(url, init);
        interrupt('SIGINT');
        return new Promise((_, reject) => giveUp.push(() => reject(new Error('given up'))));
      },
    });
    expect(code).toBe('SIGINT');
    expect(stderr).toMatch(
      /0 accepted, \d\d not sent yet, \d in doubt\. Resume with: urtuu jobs resume july --concurrency 4\n$/,
    );
    expect(stderr).not.toContain('--idempotency-key');
    // The process would have ended; here the rest of the command goes on.
    for (const reject of giveUp) reject();
    await vi.waitFor(() =>
      expect(here.read('.local/state/urtuu/history.ndjson').match(/\n/g)).toHaveLength(2),
    );
  });

  it('keeps the options that matter, and names a limit that is enough', async () => {
    const here = desk(people(5), { credits: 25 });
    const first = await here.run(`${partly} --report 'the report.csv' --rate 7 --wait --max-credits 60`);
    expect(printed(first.stderr)).toBe(
      `jobs resume july --max-credits 60 --rate 7 --wait --report '${here.home}/the report.csv'`,
    );
    here.project.balance = 1_000;
    const limited = await here.run('jobs resume july --max-credits 30');
    expect(limited.code).toBe(7);
    expect(limited.stderr).toContain('Resume with a higher limit: ');
    expect(printed(limited.stderr)).toBe('jobs resume july --max-credits 50');
    expect(await here.run(printed(limited.stderr))).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('names the planned price as the limit, however dear the next message is', async () => {
    const [one, two, three, four, five] = people(5);
    const here = desk([one, two, `${three} ${'x'.repeat(200)}`, four, five] as string[], { credits: 25 });
    await here.run(`${partly} --concurrency 1`);
    here.project.balance = 1_000;
    const { stderr } = await here.run('jobs resume july --max-credits 30');
    expect(printed(stderr)).toBe('jobs resume july --max-credits 60');
    expect(await here.run(printed(stderr))).toMatchObject({ code: 0 });
  });
});
