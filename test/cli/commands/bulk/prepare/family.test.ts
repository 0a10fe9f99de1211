import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../../support/desk.js';
import { answers, refusal } from '../../../../support/run.js';
import { saying } from '../../../../support/saying.js';
import { numbers } from '../../../bulk/memory-plan.js';
import { desk, figures, people, personal } from '../desks.js';

const again = (job: string, file = 'report.csv', status = 'failed', more = '') =>
  `sms bulk ${file} --only ${status} --text 'Hello {name}' --job ${job} --yes${more}`;
const once = (count: number) => Array(count).fill(1);
/** Of two commands at once: their folders have a random name. */
const { random } = Math;

/** A desk whose job `july` failed for all of `rows`, and has a report of that; nothing fails any more. */
async function failed(rows: readonly string[]): Promise<Desk> {
  const failing = new Set(rows.map((row) => row.slice(0, 8)));
  const here = desk(rows, { failing });
  await here.run(`${personal} --report report.csv`);
  failing.clear();
  return here;
}

const shown = async (here: Desk, job = 'july') => figures((await here.run(`jobs show ${job} --json`)).stdout);
const received = (here: Desk) => [...here.project.received().values()];

/** A job that was killed after it had taken its name, and before it was confirmed. */
async function kill(here: Desk, job: string): Promise<void> {
  const away = refusal(401, 'unauthorized');
  here.project.options.instead = ({ method }) => (method === 'POST' ? away : undefined);
  expect(await here.run(again(job))).toMatchObject({ code: 4 });
  delete here.project.options.instead;
  const path = here.jobFile(job, 'journal');
  const groups = readFileSync(path, 'utf8').split('\n');
  const before = groups.slice(
    0,
    groups.findIndex((group) => group.includes('"confirmed"')),
  );
  writeFileSync(path, before.map((group) => `${group}\n`).join(''));
}

describe('rows that two jobs want at once', () => {
  it.each([2, 5])('go to one of %i', async (count) => {
    const here = await failed(people(3));
    const jobs = Array.from({ length: count }, (_, at) => here.run(again(`more-${at}`), { random }));
    const codes = (await Promise.all(jobs)).map(({ code }) => code).sort();
    expect(codes).toEqual([0, ...Array(count - 1).fill(11)]);
    expect(received(here)).toEqual(once(3));
  });

  it('are kept from the others while one asks, and free once it is declined', async () => {
    const here = await failed(people(2));
    const codes: (number | string)[] = [];
    const confirm = async () => {
      codes.push((await here.run(again('second'), { random })).code);
      return false;
    };
    const questions = { ...answers(), confirm };
    const first = await here.run(again('first').replace(' --yes', ''), { terminal: 80, questions, random });
    expect([first.code, codes]).toEqual([2, [11]]);
    expect(await here.run(again('second'))).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(2));
  });

  it('are kept from a retry of their job while another one asks', async () => {
    const here = await failed(people(2));
    const confirm = async () => {
      const own = await here.run('jobs resume july --retry-failed', { random });
      expect(own).toMatchObject(saying(11, 'the job more took 2 of these rows from july'));
      return true;
    };
    const asked = { terminal: 80, questions: { ...answers(), confirm }, random };
    expect(await here.run(again('more').replace(' --yes', ''), asked)).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(2));
    expect(await shown(here)).toMatchObject({ failed: 0, moved: 2, moved_to: ['more'] });
  });
});

describe('a job that was killed before its rows were its own', () => {
  it('takes nothing, and is removed by the next one that wants them', async () => {
    const here = await failed(people(2));
    await kill(here, 'killed');
    expect(await shown(here)).toMatchObject({ failed: 2, moved: 0, moved_to: [] });
    expect(await here.run(again('next', 'report.csv', 'failed', ' --dry-run'))).toMatchObject({ code: 0 });
    expect(await here.run(again('next'))).toMatchObject({ code: 0 });
    expect(here.jobs.sort()).toEqual(['july', 'next']);
    expect(received(here)).toEqual(once(2));
    expect(await shown(here)).toMatchObject({ failed: 0, moved: 2, moved_to: ['next'] });
  });

  it('goes on if it is resumed, and is refused if another one has them by then', async () => {
    const here = await failed(people(1));
    await kill(here, 'killed');
    expect(await here.run('jobs resume killed')).toMatchObject({ code: 0 });
    expect(await shown(here)).toMatchObject({ moved: 1, moved_to: ['killed'] });
    expect(await here.run(again('next'))).toMatchObject(saying(11, 'the job killed took 1 of these rows'));
  });
});

describe('a row that another job took', () => {
  it('is known by its line, whatever its number is by now', async () => {
    const here = desk(people(2), { unsupported: new Set(numbers(1)) });
    await here.run(`${personal} --report report.csv`);
    here.write('fixed.csv', [here.read('report.csv').trim().replace('99000000', '99110000')]);
    here.write('other.csv', [here.read('report.csv').trim().replace('99000000', '99220000')]);
    expect(await here.run(again('fix', 'fixed.csv', 'rejected'))).toMatchObject({ code: 0 });
    expect(await here.run(again('more', 'other.csv', 'rejected'))).toMatchObject(
      saying(11, 'the job fix took 1 of these rows from july'),
    );
    expect((await here.run('jobs report july')).stdout).toMatch(/^99000000,.*,moved,moved_to:fix,/m);
    expect([...here.project.received().keys()].sort()).toEqual(['99000001', '99110000']);
  });

  it('is not sent to somebody who got a message from a job with rows of the same list', async () => {
    const here = desk(people(3), { unsupported: new Set(numbers(2)) });
    await here.run(`${personal} --report report.csv`);
    const [header = '', first = '', second = ''] = here.read('report.csv').trim().split('\r\n');
    here.write('one.csv', [header, first.replace('99000000', '99110000')]);
    here.write('two.csv', [header, second.replace('99000001', '99110000')]);
    expect(await here.run(again('one', 'one.csv', 'rejected'))).toMatchObject({ code: 0 });
    const other = again('two', 'two.csv', 'rejected').replace('Hello', 'Good evening');
    expect(await here.run(other)).toMatchObject(
      saying(11, 'the job one has sent to 1 recipient of these rows'),
    );
    expect(await here.run(`${other} --again`)).toMatchObject({ code: 0 });
    expect(here.project.received().get('99110000')).toBe(2);
  });

  it('is one recipient, also under another line of the list', async () => {
    const [one = '', two = ''] = people(2);
    const here = await failed([one, two, one]);
    const rows = here.read('report.csv').trim().split('\r\n');
    here.write('first.csv', [rows[0] ?? '', rows[1] ?? '']);
    here.write('last.csv', [rows[0] ?? '', rows[3] ?? '']);
    expect(await here.run(again('first', 'first.csv'))).toMatchObject({ code: 0 });
    expect(await here.run(again('last', 'last.csv').replace('Hello', 'Hi'))).toMatchObject(
      saying(11, 'the job first took 1 of these rows from july'),
    );
    expect(await shown(here)).toMatchObject({ failed: 1, moved: 1, moved_to: ['first'] });
    expect((await here.run('jobs report july -o csv --columns status')).stdout.trim().split(/\r?\n/)).toEqual(
      ['status', 'moved', 'failed', 'moved'],
    );
  });

  it('stays its, also while that job is a child of a child', async () => {
    const failing = new Set(numbers(3));
    const here = desk(people(3), { failing });
    await here.run(`${personal} --report report.csv`);
    failing.delete('99000000');
    await here.run(`${again('child')} --report child.csv`);
    failing.delete('99000001');
    await here.run(`${again('grandchild', 'child.csv')} --report grandchild.csv`);
    failing.clear();
    for (const old of ['report.csv', 'child.csv'])
      expect(await here.run(again('more', old))).toMatchObject({ code: 11 });
    expect(await here.run(again('last', 'grandchild.csv'))).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(once(3));
    const moved = async (job: string) => (await shown(here, job)).moved_to;
    expect([await moved('july'), await moved('child'), await moved('grandchild')]).toEqual([
      ['child'],
      ['grandchild'],
      ['last'],
    ]);
  });

  it('is left by a job that sends once more what was sent', async () => {
    const here = desk(people(2));
    await here.run(`${personal} --report report.csv`);
    const thanks = "sms bulk report.csv --only sent --text 'Thank you' --yes --job";
    expect(await here.run(`${thanks} thanks`)).toMatchObject({ code: 0 });
    expect(await shown(here)).toMatchObject({ accepted: 2, moved: 0 });
    expect(existsSync(here.jobFile('thanks', 'origins'))).toBe(false);
    expect(await here.run(`${thanks} thanks-2`)).toMatchObject({ code: 0 });
  });
});

describe('jobs remove', () => {
  it.each([
    ['sent', 0],
    ['failed there again', 9],
  ])('keeps a job whose rows of another one %s until that is removed', async (_, code) => {
    const here = await failed(people(2));
    if (code === 9) here.project.options.failing = new Set(numbers(2));
    expect(await here.run(again('child'))).toMatchObject({ code });
    expect(await here.run('jobs remove child')).toMatchObject(
      saying(11, 'the job child has the only record of rows from july'),
    );
    expect(await here.run('jobs remove july child')).toMatchObject({ code: 0 });
    expect(here.jobs).toEqual([]);
  });

  it('frees with --force the rows of the job that is removed', async () => {
    const here = await failed(people(2));
    await here.run(again('child'));
    expect(await here.run('jobs remove child --force')).toMatchObject({ code: 0 });
    expect(await shown(here)).toMatchObject({ failed: 2, moved: 0, moved_to: [] });
  });
});

it('a job may have the name of the removed one that its rows are from', async () => {
  const here = await failed(people(2));
  expect(await here.run('jobs remove july')).toMatchObject({ code: 0 });
  expect(await here.run(again('july').replace('Hello', 'Hi'))).toMatchObject({ code: 0 });
  expect(received(here)).toEqual(once(2));
});

describe('a job whose rows another one has', () => {
  it('is shown with them as moved while that one runs, and is read by each command', async () => {
    const here = await failed(people(2));
    const seen: string[] = [];
    const csv = 'jobs list -o csv --columns job,state,moved';
    const looks = [csv, 'jobs show july --json', 'jobs watch july', 'jobs report july'];
    here.project.options.instead = ({ method }) => {
      if (method !== 'POST') return undefined;
      delete here.project.options.instead;
      const look = async () => {
        for (const line of looks) seen.push((await here.run(line)).stdout);
        return undefined;
      };
      return look();
    };
    expect(await here.run(again('child'))).toMatchObject({ code: 0 });
    expect(seen.join('\n')).toMatch(/^july,finished,2$/m);
    expect(seen.join('\n')).toMatch(/^99000001,.*,moved,moved_to:child,/m);
    expect(seen.join('\n').match(/"moved": ?2/g)).toHaveLength(1);
  });

  it('is refused to others where a job cannot be read, which may have them', async () => {
    const here = await failed(people(2));
    await here.run(again('child'));
    rmSync(here.jobFile('child', 'plan.json'));
    expect(await here.run(again('more'))).toMatchObject(saying(13, 'cannot read the job child'));
    const own = await here.run('jobs resume july --retry-failed');
    expect(own).toMatchObject(saying(13, 'cannot read the job child'));
    expect(received(here)).toEqual(once(2));
  });
});
