import { describe, expect, it } from 'vitest';
import type { Desk } from '../../support/desk.js';
import { answers, refusal } from '../../support/run.js';
import { saying } from '../../support/saying.js';
import { numbers } from '../bulk/memory-plan.js';
import { constant, desk, figures, people, personal } from './bulk/desks.js';

const once = (count: number) => Array(count).fill(1);
const received = (here: Desk) => [...here.project.received().values()];
const shown = async (here: Desk, job = 'july') => figures((await here.run(`jobs show ${job} --json`)).stdout);
const { random } = Math;
const retry = 'jobs retry july --yes';

/** A desk whose job `july` failed for some of three, none of whom fail any more. */
async function failed(count: number, line = personal, more = {}): Promise<Desk> {
  const failing = new Set(numbers(count));
  const here = desk(people(3), { failing, ...more });
  await here.run(line);
  failing.clear();
  return here;
}

describe('jobs retry', () => {
  it.each([
    ['single sends', personal],
    ['a batch', `${constant} --wait`],
    ['a batch of which nobody has read the figures', constant],
  ])('sends what failed again, as a job of its own: %s', async (_, line) => {
    const here = await failed(2, line);
    const sends = here.project.sends.length;
    const end = await here.run(`${retry} --report after.csv`);
    expect(end).toMatchObject({ code: 0, stderr: expect.not.stringContaining('--only') });
    expect(received(here)).toEqual(once(3));
    expect(here.jobs.sort()).toEqual(['july', 'july-retry-1']);
    expect(await shown(here)).toMatchObject({ failed: 0, moved: 2, moved_to: ['july-retry-1'] });
    expect(here.read('after.csv')).toMatch(
      /^phone,name,message_id.*\r\n99000000,Bat 0,.*,sent,.*,july-retry-1\r$/m,
    );
    const texts = (from: number, end?: number) =>
      here.project.sends.slice(from, end).map(({ body }) => (body as { text: string }).text);
    expect(texts(0, sends)).toEqual(expect.arrayContaining(texts(sends)));
    expect(await here.run(retry)).toMatchObject(saying(11, 'the job july has no failed messages'));
  });

  it('goes on with the job of what failed once more, whose name is the next one', async () => {
    const failing = new Set(numbers(2));
    const here = desk(people(3), { failing });
    await here.run(personal);
    failing.delete('99000000');
    expect(await here.run(retry)).toMatchObject({ code: 3 });
    failing.clear();
    expect(await here.run(retry)).toMatchObject({ code: 11 });
    expect(await here.run('jobs retry july-retry-1 --yes')).toMatchObject({ code: 0 });
    expect(here.jobs.sort()).toEqual(['july', 'july-retry-1', 'july-retry-2']);
    expect(received(here)).toEqual(once(3));
  });

  it('goes on with an unfinished one', async () => {
    const here = await failed(2);
    const away = refusal(401, 'unauthorized');
    here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
    expect(await here.run(retry)).toMatchObject({ code: 4 });
    delete here.project.options.instead;
    expect(await here.run(retry)).toMatchObject({ code: 0 });
    expect(here.jobs.sort()).toEqual(['july', 'july-retry-1']);
    expect(received(here)).toEqual(once(3));
  });

  it.each([2, 5])('sends to nobody twice if %i start at once', async (count) => {
    const here = await failed(2);
    const all = Array.from({ length: count }, () => here.run(retry, { random }));
    const codes = (await Promise.all(all)).map(({ code }) => code);
    expect(codes.filter((code) => code === 0)).toHaveLength(1);
    expect(codes.filter((code) => code !== 0 && code !== 11)).toEqual([]);
    expect(received(here)).toEqual(once(3));
  });

  it('asks on a terminal, and needs --yes elsewhere', async () => {
    const here = await failed(2);
    expect(await here.run('jobs retry july')).toMatchObject(saying(2, 'Add --yes'));
    const questions = answers(false);
    expect(await here.run('jobs retry july', { terminal: 80, questions })).toMatchObject({ code: 2 });
    expect(questions.asked).toEqual(['Send to 2 recipients for 20 credits?']);
    expect(here.jobs).toEqual(['july']);
    expect(await here.run('jobs retry', { terminal: 80, questions: answers(true) })).toMatchObject({
      code: 0,
    });
    expect(received(here)).toEqual(once(3));
  });

  it('refuses a job that is not finished, exit 14, and makes none', async () => {
    const here = desk(people(3), { credits: 15, failing: new Set(numbers(1)) });
    await here.run(`${personal} --allow-partial`);
    expect(await here.run(retry)).toMatchObject(saying(14, 'the job july is not finished'));
    expect(here.jobs).toEqual(['july']);
  });

  it('refuses what it cannot read, exit 14', async () => {
    const here = await failed(1, constant);
    here.project.options.instead = ({ path }) =>
      path.startsWith('/batches') ? refusal(403, 'forbidden') : undefined;
    expect(await here.run(retry)).toMatchObject({ code: 14 });
    expect(here.jobs).toEqual(['july']);
  });

  it('leaves out failures that nobody can name, exit 3', async () => {
    const failing = new Set(numbers(1));
    const here = desk([...people(3)], { failing, listing: false });
    expect(await here.run(`${constant} --wait`)).toMatchObject({ code: 3 });
    failing.clear();
    const end = await here.run(retry);
    expect(end).toMatchObject(saying(3, '1 failed message left out'));
    expect(received(here)).toEqual(once(2));
  });

  it('spends no more than the limit of its job has left', async () => {
    const here = await failed(2, `${personal} --max-credits 30`);
    expect((await shown(here)).credits).toBe(10);
    expect(await here.run(`${retry} --max-credits 100`)).toMatchObject({ code: 0 });
    const other = await failed(3, `${personal} --max-credits 30`, { unsupported: new Set() });
    expect(await other.run(`${retry} --max-credits 20`)).toMatchObject({ code: 7 });
    expect(other.jobs).toEqual(['july']);
  });

  it('sends what is unknown only if some may get it twice', async () => {
    const here = desk(people(3), { unknown: new Set(numbers(1)) });
    await here.run(`${constant} --wait`);
    const unknown = `${retry} --status unknown`;
    expect(await here.run(unknown)).toMatchObject(saying(2, 'Add --accept-duplicates'));
    expect(await here.run(`${retry} --accept-duplicates`)).toMatchObject({ code: 2 });
    here.project.options.unknown = new Set();
    expect(await here.run(`${unknown} --accept-duplicates`)).toMatchObject(
      saying(11, 'the job july has no unknown messages'),
    );
    here.project.options.unknown = new Set(numbers(1));
  });

  it('is refused where another job has the rows', async () => {
    const here = await failed(2, `${personal} --report report.csv`);
    await here.run("sms bulk report.csv --only failed --text 'Hello {name}' --job more --yes");
    expect(await here.run(retry)).toMatchObject({ code: 11 });
    expect(await here.run('sms bulk report.csv --only failed --text Hi --job most --yes')).toMatchObject({
      code: 11,
    });
    expect(received(here)).toEqual(once(3));
  });

  it('repeats texts in another alphabet, and recipients with several texts, byte for byte', async () => {
    const failing = new Set(numbers(1));
    const here = desk(['99000000,Бат', '+976 9900-0000,Дорж', '99000001,"""Болд"""'], { failing });
    await here.run("sms bulk list.csv --text 'Сайн уу {name}' --allow-repeats --job july --yes");
    failing.clear();
    expect(await here.run(retry)).toMatchObject({ code: 0 });
    const bodies = here.project.sends.map(({ init }) => init.body);
    expect(bodies.slice(3)).toEqual(bodies.slice(0, 2));
  });
});

describe('a failed message that another job has sent since', () => {
  const [first = '', second = ''] = numbers(2);
  const send = "sms bulk list.csv --text 'Hello {name}' --yes";

  /** Two jobs of the same messages, all of which failed in both. */
  async function failedTwice(...failing: string[]) {
    const here = desk(people(failing.length), { failing: new Set(failing) });
    for (const job of ['one', 'two'])
      expect(await here.run(`${send} --job ${job}`)).toMatchObject({ code: 9 });
    here.project.options.failing = new Set();
    return here;
  }

  it.each(['jobs retry two --yes', 'jobs resume two --retry-failed', `${send} --job two --retry-failed`])(
    'is left out: %s',
    async (line) => {
      const here = await failedTwice(first, second);
      here.project.options.failing = new Set([second]);
      expect(await here.run('jobs retry one --yes')).toMatchObject({ code: 3 });
      here.project.options.failing = new Set();
      expect(await here.run(line)).toMatchObject(saying(0, '1 left out: it was sent the same message'));
      expect(received(here)).toEqual(once(2));
      expect(await here.run(line)).toMatchObject({ code: 11 });
      // The second one is that other job's now.
      expect(await here.run('jobs retry one-retry-1 --yes')).toMatchObject({ code: 11 });
      expect(received(here)).toEqual(once(2));
    },
  );

  it('is refused where that job is unfinished, and may send it', async () => {
    const here = desk(people(1), { failing: new Set([first]) });
    expect(await here.run(`${send} --job one`)).toMatchObject({ code: 9 });
    const away = refusal(401, 'unauthorized');
    here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
    expect(await here.run(`${send} --job two`)).toMatchObject({ code: 4 });
    delete here.project.options.instead;
    here.project.options.failing = new Set();
    expect(await here.run('jobs retry one --yes')).toMatchObject(
      saying(11, 'the unfinished job two would send the same message'),
    );
    expect(await here.run('jobs resume two')).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(1));
  });

  it('is sent where that job sent it before this one began, or sent another text', async () => {
    const here = desk(people(2));
    await here.run(`${send} --job july`);
    here.project.options.failing = new Set([first]);
    const clock = { now: () => Date.parse('2026-11-21T12:00:00Z') };
    expect(await here.run(`${send} --job august`, { clock })).toMatchObject({ code: 3 });
    here.project.options.failing = new Set();
    expect(await here.run(`${send.replace('Hello', 'Bye')} --job bye`, { clock })).toMatchObject({ code: 0 });
    expect(await here.run('jobs retry august --yes', { clock })).toMatchObject({ code: 0 });
    expect(here.project.received().get(first)).toBe(3);
  });
});

it('`sms bulk --retry-failed` reads the rows of its job, whatever its list is like', async () => {
  const here = desk([], { failing: new Set(numbers(1)) });
  here.write('list.csv', ['A list', 'name;phone', 'Bat;99000000', 'Dorj;99000001']);
  const line = `${personal} --header-row 2 --delimiter semicolon --to-column phone`;
  expect(await here.run(line)).toMatchObject({ code: 3 });
  here.project.options.failing = new Set();
  expect(await here.run(`${line} --retry-failed --report after.csv`)).toMatchObject({ code: 0 });
  expect(here.read('after.csv')).toMatch(/^Bat,99000000,.*,sent,/m);
  expect(received(here)).toEqual(once(2));
});

it('`resume --retry-failed` sends as far as the balance goes', async () => {
  const here = await failed(3);
  here.project.balance = 25;
  expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 7 });
  here.project.balance = 1_000;
  expect(await here.run('jobs resume july --retry-failed')).toMatchObject({ code: 0 });
  expect(here.jobs.sort()).toEqual(['july', 'july-retry-1']);
  expect(received(here)).toEqual(once(3));
});

describe('a name that is used again for another list', () => {
  /** The job `july` failed for some and was retried; the name is now another job's, which fails for others. */
  async function usedAgain(): Promise<Desk> {
    const here = await failed(2);
    expect(await here.run(retry)).toMatchObject({ code: 0 });
    expect(await here.run('jobs remove july')).toMatchObject({ code: 0 });
    here.write('list.csv', ['phone,name', ...people(6).slice(3)]);
    here.project.options.failing = new Set(numbers(6).slice(3, 4));
    expect(await here.run(personal)).toMatchObject({ code: 3 });
    here.project.options.failing = new Set();
    return here;
  }

  it('has none of its rows in the retry of the old one', async () => {
    const here = await usedAgain();
    expect(await shown(here)).toMatchObject({ sent: 2, failed: 1, moved: 0, moved_to: [] });
    expect(await here.run(`${personal.replace('july', 'other')} --skip-sent`)).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(6));
  });

  it.each([
    ['single sends', personal],
    ['a batch', `${constant} --wait`],
  ])('refuses the report of the old one: %s', async (_, line) => {
    const failing = new Set(numbers(2));
    const here = desk(people(3), { failing });
    await here.run(`${line} --report old.csv`);
    expect(await here.run('jobs remove july')).toMatchObject({ code: 0 });
    here.write('list.csv', ['phone,name', ...people(6).slice(3)]);
    here.project.options.failing = new Set(numbers(6).slice(3));
    await here.run(`${line} --report new.csv`);
    here.project.options.failing = new Set();
    const follow = "--only failed --text 'Hello {name}' --job more --yes";
    const old = await here.run(`sms bulk old.csv ${follow}`);
    expect(old).toMatchObject(saying(11, 'the report does not match the job july as it is now'));
    expect(await here.run(`sms bulk new.csv ${follow}`)).toMatchObject({ code: 0 });
  });

  it('is retried for its own failures, and removed in its own order', async () => {
    const here = await usedAgain();
    expect(await here.run(retry)).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(6));
    expect(await shown(here)).toMatchObject({ failed: 0, moved: 1, moved_to: ['july-retry-2'] });
    expect(await here.run('jobs remove july-retry-1')).toMatchObject({ code: 0 });
    expect(await here.run('jobs remove july-retry-2')).toMatchObject({ code: 11 });
  });

  it('does not go on with an unfinished retry of the old one', async () => {
    const here = await failed(2);
    const away = refusal(401, 'unauthorized');
    here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
    expect(await here.run(retry)).toMatchObject({ code: 4 });
    delete here.project.options.instead;
    expect(await here.run('jobs remove july')).toMatchObject({ code: 0 });
    here.write('list.csv', ['phone,name', ...people(6).slice(3)]);
    expect(await here.run(personal)).toMatchObject({ code: 0 });
    expect(await here.run(retry)).toMatchObject(saying(11, 'the job july has no failed messages'));
    expect([...here.project.received().keys()].sort()).toEqual(numbers(6).slice(2));
  });
});

it('a name of 100 characters is retried, too', async () => {
  const long = 'j'.repeat(100);
  const here = await failed(2, personal.replace('july', long));
  expect(await here.run(`jobs retry ${long} --yes`)).toMatchObject({ code: 0 });
  expect(received(here)).toEqual(once(3));
  expect(await here.run(`jobs retry ${long} --yes`)).toMatchObject({ code: 11 });
});

it.each([
  ['a list that is sent', `${personal} --retry-failed --json`, 0],
  ['a finished job', 'jobs resume july --retry-failed --json', 11],
  ['a finished job, --if-finished ok', 'jobs resume july --retry-failed --if-finished ok --json', 0],
  ['a finished job, jobs retry --if-finished ok', 'jobs retry july --yes --if-finished ok --json', 0],
])('`--retry-failed` ends as the job does if nothing has failed: %s', async (what, line, code) => {
  const here = desk(people(3));
  if (what !== 'a list that is sent') await here.run(personal);
  const end = await here.run(line);
  expect(end).toMatchObject({ code });
  if (code === 0) expect(figures(end.stdout)).toMatchObject({ job: 'july', sent: 3, exit: 0 });
  expect(received(here)).toEqual(once(3));
});

it('goes on with a cancelled retry only by a resume', async () => {
  const here = await failed(2);
  const away = refusal(401, 'unauthorized');
  here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
  expect(await here.run(retry)).toMatchObject({ code: 4 });
  delete here.project.options.instead;
  await here.run('jobs cancel july-retry-1');
  expect(await here.run(retry)).toMatchObject(saying(11, 'the job july-retry-1 was cancelled'));
  expect(await here.run('jobs resume july-retry-1')).toMatchObject({ code: 0 });
  expect(received(here)).toEqual(once(3));
});

it('`resume --retry-failed` finishes a job, and prints one result for a program', async () => {
  const here = desk(people(3), { credits: 15, failing: new Set(numbers(1)) });
  expect(await here.run(`${personal} --allow-partial`)).toMatchObject({ code: 7 });
  here.project.options.failing = new Set();
  here.project.balance = 1_000;
  const end = await here.run('jobs resume july --retry-failed --json');
  expect([end.code, figures(end.stdout).job]).toEqual([0, 'july-retry-1']);
  expect(received(here)).toEqual(once(3));
});
