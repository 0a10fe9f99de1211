import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import { answers } from '../../../support/run.js';
import { workbook } from '../../bulk/input/workbook/write-workbook.js';
import { numbers } from '../../bulk/memory-plan.js';
import { desk, figures, people, printed } from './desks.js';

const [a = '', b = '', c = '', d = '', e = ''] = numbers(5);
const sends = "--text 'Hello' --yes";
/** Whom the project has sent to, each once. */
function sentTo(here: Desk): string[] {
  const received = here.project.received();
  expect([...received.values()].every((count) => count === 1)).toBe(true);
  return [...received.keys()].sort();
}

describe('--where', () => {
  const header = 'phone,City,debt,a=b,a';
  const rows = [
    `${a}, УБ ,5,x,y=z`,
    `${b},уб,,x=1,q`,
    `${c},Дархан,"7",z,b=x`,
    `${d},Улаан\u00a0 Баатар,\u200b,,`,
    // The letter й in two characters.
    `${e},Ховд и\u0306,0,,`,
  ];

  it.each([
    ['city=УБ', [a, b]],
    ['City = уб', [a, b]],
    ['city!=УБ', [c, d, e]],
    ['debt=', [b, d]],
    ['debt!=', [a, c, e]],
    ['debt=0', [e]],
    ['city=Улаан баатар', [d]],
    ['city=Ховд й', [e]],
    ['a=b=x', [a]],
    ['a=b=x=1', [b]],
    ['a=y=z', [a]],
    ['a!=y=z', [b, c, d, e]],
    [`phone=+976 ${a.slice(0, 4)}-${a.slice(4)}`, [a]],
  ])('takes the rows with %s', async (condition, taken) => {
    const here = desk([]);
    here.write('list.csv', [header, ...rows]);
    const { code, stderr } = await here.run('', {
      argv: ['sms', 'bulk', 'list.csv', '--text', 'Hello', '--yes', '--where', condition],
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain(`Where       ${condition}: ${taken.length} of 5 rows\n`);
    expect(sentTo(here)).toEqual(taken);
  });

  it('takes rows for which all conditions hold, also from standard input', async () => {
    const here = desk([]);
    const line = `sms bulk - ${sends} --where city=уб --where debt!=5`;
    expect(await here.run(line, { stdin: [header, ...rows, ''].join('\n') })).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual([b]);
  });

  it.each([
    [
      'citty=УБ',
      8,
      /list\.csv:1: unknown column citty in --where\n.*Did you mean City\? Columns: phone, City,/,
    ],
    ['city', 2, /'city' is neither column=value nor column!=value/],
    ['!=5', 2, /'!=5' is neither/],
    ['city=Эрдэнэт', 8, /list\.csv: no row has city=Эрдэнэт\n.*whole cell/],
  ])('refuses %s', async (condition, exit, said) => {
    const here = desk([]);
    here.write('list.csv', [header, ...rows]);
    const { code, stderr } = await here.run(`sms bulk list.csv ${sends} --where '${condition}'`);
    expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringMatching(said) });
    expect(here.project.sends).toEqual([]);
  });

  it('checks no row that it leaves out, and names the lines of the file', async () => {
    const here = desk([]);
    const list = ['phone,name,city', `${a},Bat,УБ`, 'nobody,,Дархан', `${b},\ufffd,Дархан`, 'none,Dorj,УБ'];
    here.write('list.csv', list);
    const line = `sms bulk list.csv --text 'Hello {name}' --yes --where city=УБ`;
    const { code, stderr } = await here.run(line);
    expect({ code, stderr }).toMatchObject({ code: 8 });
    expect(stderr).toMatch(/^warning: list\.csv:5: phone: "none" is not a phone number\n[^\n]*1 of 2 rows/m);
    expect(stderr).not.toContain(':3:');
    expect(await here.run(`${line} --skip-invalid`)).toMatchObject({ code: 3 });
    expect(sentTo(here)).toEqual([a]);
  });

  it('compares what a workbook shows, and rejects a row whose cell has an error', async () => {
    const here = desk([]);
    const error = { xml: 't="e"><v>#N/A</v>' };
    const rows = [
      ['phone', 'city', 'debt'],
      [Number(a), 'УБ', 5],
      [Number(b), ' уб ', 0],
      [Number(c), 'Дархан', error],
      [Number(d), error, 0],
      [Number(e), 'УБ', error],
    ];
    writeFileSync(join(here.home, 'list.xlsx'), workbook({ sheets: [{ name: 'S', rows }] }));
    const { code, stderr } = await here.run(
      `sms bulk list.xlsx ${sends} --where city=УБ --where debt!=5 --skip-invalid`,
    );
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stderr).toMatch(/list\.xlsx!S:B5: city: #N\/A[^\n]*\nwarning: list\.xlsx!S:C6: debt: #N\/A/);
    expect(sentTo(here)).toEqual([b]);
  });

  it('rejects a row whose cell cannot be compared', async () => {
    const here = desk([]);
    here.write('list.csv', ['phone,city,sex', `${a},#N/A,m`, `${b},У\ufffd,m`, `${c},#N/A,f`, `${d},УБ,m`]);
    const { code, stderr } = await here.run(`sms bulk list.csv ${sends} --where city!=УБ --where sex=m`);
    expect({ code, stderr }).toMatchObject({ code: 8 });
    expect(stderr).toContain(
      'list.csv:2: city: #N/A is an error, not a value\nwarning: list.csv:3: city: contains U+FFFD',
    );
    expect(stderr).toContain('2 of 2 rows cannot be sent');
  });
});

describe('--exclude', () => {
  const list = [`${a},Bat`, `${b},Dorj`, `${c},Bold`, `${c},Bold`];

  it.each([
    ['a list with a header', ['name;Утас', `Bold;+976 ${c}`]],
    ['a bare list', [c]],
    ['a file without its last line end', [`phone`, `9900-0002`]],
  ])('leaves out the recipients of %s', async (_, stop) => {
    const here = desk(list);
    here.write('stop.csv', stop);
    const { code, stdout, stderr } = await here.run(
      `sms bulk list.csv ${sends} --job july --exclude stop.csv`,
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('Excluded    2 rows by stop.csv\n');
    expect(stdout).toMatch(/^excluded +2$/m);
    expect(sentTo(here)).toEqual([a, b]);
    expect((await here.run('jobs show july')).stdout).toMatch(/^excluded +2$/m);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({
      planned: 2,
      excluded: 2,
    });
    const report = await here.run('jobs report july --output csv');
    expect(report.stdout).toContain(`${c},Bold,,,excluded,,,4,,july`);
  });

  it('compares addresses as duplicates are', async () => {
    const here = desk([]);
    here.write('list.csv', ['email', 'Bat@Example.mn', 'dorj@example.mn', 'dorj+news@example.mn']);
    const stop = { stdin: ' DORJ@example.MN \n' };
    const line = `email bulk list.csv --subject S ${sends} --exclude -`;
    expect(await here.run(line, stop)).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual(['Bat@example.mn', 'dorj+news@example.mn']);
  });

  it.each([
    [
      'bad rows',
      ['phone', a, 'nobody', '', '123', '1,2'],
      /stop\.csv:3: phone: "nobody" is not a phone number; 2 more in lines 5, 6\n/,
    ],
    ['no rows', ['phone'], /stop\.csv has no recipients\n/],
    ['nothing', [], /stop\.csv has no recipients\n/],
    [
      'no recipient column',
      ['name,tag', 'Bat,x'],
      /stop\.csv:1: no recipient column found\n.*--exclude-column/,
    ],
    ['everyone', [a, b, c], /list\.csv: --exclude leaves out all 4 rows\n/],
  ])('refuses a list with %s, exit 8', async (_, stop, said) => {
    const here = desk(list);
    here.write('stop.csv', stop);
    const { code, stderr } = await here.run(`sms bulk list.csv ${sends} --skip-invalid --exclude stop.csv`);
    expect({ code, stderr }).toEqual({ code: 8, stderr: expect.stringMatching(said) });
    expect(here.project.sends).toEqual([]);
  });

  it.each([
    ['- --exclude -', 2],
    ['list.csv --exclude-column phone', 2],
    ['list.csv --exclude list.csv --report list.csv', 2],
    ['list.csv --exclude stop.csv --report ./stop.csv', 2],
    ['list.csv --exclude gone.csv', 13],
  ])('refuses %s', async (words, exit) => {
    const here = desk(list);
    here.write('stop.csv', [a]);
    expect(await here.run(`sms bulk ${words} ${sends}`, { stdin: a })).toMatchObject({ code: exit });
    expect(here.read('stop.csv')).toBe(`${a}\n`);
  });
});

describe('--first', () => {
  it('counts the recipients who are left, and prints a command that sends to the others', async () => {
    const here = desk([
      `${a},Bat`,
      `${b},Dorj`,
      `${a},Bat`,
      `${c},Bold`,
      `${d},Saran`,
      `${b},Dorj`,
      `${e},Tuya`,
    ]);
    here.write('stop.csv', [d]);
    const first = `sms bulk list.csv --text 'Hi {name}' --yes --exclude stop.csv --where name!=tuya --first 2`;
    const { code, stdout, stderr } = await here.run(first);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('Only first  2 of 3 recipients\n');
    expect(stdout).toMatch(/^merged +2$/m);
    expect(stdout).toMatch(/^later +1$/m);
    expect(stderr).toMatch(
      /Left for later: 1 recipient\. Send to them with: urtuu sms bulk \S*list\.csv --skip-sent --like/,
    );
    expect(sentTo(here)).toEqual([a, b]);
    expect(await here.run(first)).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('Left for later: 1 recipient (urtuu sms bulk'),
    });
    expect(await here.run(printed(stderr))).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual([a, b, c]);
  });

  it('takes wave after wave, in the order of the list, each recipient once', async () => {
    const here = desk([...people(4), 'nobody,Bat', ...people(9), ...people(2)]);
    let line = `sms bulk list.csv ${sends} --skip-invalid --where name!=nobody --first 4`;
    for (const after of [4, 8]) {
      const { code, stderr } = await here.run(line);
      expect({ code, stderr }).toMatchObject({ code: 3 });
      expect(sentTo(here)).toEqual(numbers(after));
      line = `${/urtuu (sms bulk \S* --skip-sent .*)\n/.exec(stderr)?.[1]} --first 4`;
    }
    const { code, stderr } = await here.run(line);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stderr).toContain('Only first  all 1 recipient\n');
    expect(stderr).not.toContain('Left for later');
    expect(sentTo(here)).toEqual(numbers(9));
  });

  it('is not about those whom another job sends to later in the list', async () => {
    const here = desk(people(5), { credits: 10 });
    here.write('last.csv', ['phone', e, d, '99112233']);
    expect(await here.run(`sms bulk last.csv ${sends} --allow-partial`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    expect(await here.run(`sms bulk list.csv ${sends} --first 3`)).toMatchObject({ code: 0 });
    expect(await here.run(`sms bulk list.csv ${sends} --first 4 --skip-sent`)).toMatchObject({ code: 11 });
    expect(sentTo(here)).toEqual([a, b, c]);
  });

  it.each(['list.csv', '-'])(
    'leaves out the first ones and their retries, however long ago: %s',
    async (file) => {
      const failing = new Set([b]);
      const here = desk(people(4), { failing });
      const stdin = here.read('list.csv');
      const { stderr } = await here.run(`sms bulk ${file} --text 'Hi {name}' --yes --job july --first 2`, {
        stdin,
      });
      const rest = /urtuu (sms bulk \S* --skip-sent .*)\n/.exec(stderr)?.[1] ?? '';
      failing.clear();
      expect(await here.run('jobs retry july --yes')).toMatchObject({ code: 0 });
      const later = { stdin, clock: { now: () => Date.parse('2027-01-01T00:00:00.000Z') } };
      const typed = await here.run(`sms bulk ${file} --text 'Hi {name}' --yes --skip-sent`, later);
      expect(typed).toMatchObject({ code: 11, stderr: expect.stringContaining('add --like july') });
      const { code, stderr: said } = await here.run(rest, later);
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(said).toContain('Sent before 2 left out: they were sent the same message\n');
      expect(sentTo(here)).toEqual(numbers(4));
    },
  );

  it('is filled up by those who are new, if a person chooses them', async () => {
    const here = desk(people(4));
    here.write('first.csv', ['phone', a]);
    await here.run(`sms bulk first.csv ${sends}`);
    const questions = answers('new', true);
    const { code } = await here.run("sms bulk list.csv --text 'Hello' --first 2", {
      terminal: 80,
      questions,
    });
    expect(code).toBe(0);
    expect(questions.asked).toEqual([
      expect.stringMatching(/^Send to 2 recipients for 20 credits\? 1 was sent the same/),
      expect.stringMatching(/^Send to 2 recipients for 20 credits\?$/),
    ]);
    expect(sentTo(here)).toEqual([a, b, c]);
  });

  it('prints the others after the job was resumed, with how their list is read', async () => {
    const here = desk([], { credits: 10 });
    here.write('list.csv', [`${a};УБ`, `${b};УБ`, `${c};УБ`, `${d};Дархан`]);
    const line = `sms bulk list.csv ${sends} --headerless --delimiter semicolon --to-column 1 --where 2=уб --first 2 --job july`;
    const partly = await here.run(line.replace("'Hello'", "'Hello {1}'").concat(' --allow-partial'));
    expect(partly).toMatchObject({ code: 7, stderr: expect.not.stringContaining('Left for later') });
    here.project.balance = 1_000;
    const { code, stderr } = await here.run('jobs resume july');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await here.run(`${printed(stderr)} --yes`)).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual([a, b, c]);
  });

  it.each([
    ['--only failed', 2],
    ['--first 0', 2],
  ])('refuses %s', async (option, exit) => {
    const here = desk(people(2));
    expect(await here.run(`sms bulk list.csv ${sends} --first 1 ${option}`)).toMatchObject({ code: exit });
  });
});

describe('what selects the rows of a job', () => {
  it('is taken over by --like, also from another folder, and by the jobs that retry its messages', async () => {
    const failing = new Set([c]);
    const here = desk([`${a},Bat`, `${b},Dorj`, `${c},Bold`, 'nobody,Bold'], { failing });
    here.write('stop.csv', ['mobile,phone', `${a},x`]);
    const line = `sms bulk list.csv --text 'Hi {name}' --yes --job july --where name!=dorj`;
    const first = await here.run(`${line} --exclude stop.csv --exclude-column mobile --skip-invalid`);
    expect(first).toMatchObject({ code: 3 });
    failing.clear();
    const cwd = '/';
    expect(await here.run('jobs retry july --yes', { cwd })).toMatchObject({ code: 0 });
    here.write('next.csv', ['phone,name', `${a},Bat`, `${b},Dorj`, `${d},Saran`]);
    const next = `sms bulk ${here.home}/next.csv --yes`;
    expect(await here.run(`${next} --like july-retry-1`, { cwd })).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual([c, d]);
    here.write('stop.csv', ['phone', e]);
    here.write('next.csv', ['phone,name', `${b},Bat`, `${e},Bold`]);
    expect(await here.run(`${next} --like july --exclude stop.csv`)).toMatchObject({ code: 0 });
    expect(sentTo(here)).toEqual([b, c, d]);
  });

  it('is asked for again where it came from standard input', async () => {
    const here = desk(people(3));
    expect(await here.run(`sms bulk list.csv ${sends} --job july --exclude -`, { stdin: a })).toMatchObject({
      code: 0,
    });
    const { code, stderr } = await here.run('sms bulk list.csv --yes --like july');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--exclude FILE') });
  });

  it('is not printed where the job was planned without it', async () => {
    const here = desk(people(3));
    expect(await here.run(`sms bulk list.csv ${sends} --first 1 --job july`)).toMatchObject({ code: 0 });
    const line = `sms bulk list.csv ${sends} --first 1 --job july --where 'name!=Bat 2' --if-finished ok`;
    const { code, stderr } = await here.run(line);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain('--like');
  });
});
