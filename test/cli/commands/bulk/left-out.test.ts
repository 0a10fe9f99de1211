import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import { numbers } from '../../bulk/memory-plan.js';
import { desk, people } from './desks.js';

const line = "sms bulk list.csv --text 'Hello' --yes";
const once = (count: number) => Array(count).fill(1);
const header = 'phone,name';

describe('a row that --skip-invalid leaves out of a job that was planned without it', () => {
  const changed = [header, ...people(3), 'nobody,Dorj'];
  const personal = "sms bulk list.csv --text 'Hello {name}' --job july --yes";

  it('is exit 3 where the job goes on', async () => {
    const here = desk(people(3), { credits: 10 });
    expect(await here.run(`${personal} --allow-partial`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    here.write('list.csv', changed);
    const { code, stderr } = await here.run(`${personal} --skip-invalid`);
    expect(code).toBe(3);
    expect(stderr).toMatch(/3 accepted\. Nothing is in doubt\. Fix the rejected rows, then send only those/);
  });

  it('is exit 3 where the job was finished, and that counts as a success', async () => {
    const here = desk(people(3));
    expect(await here.run(personal)).toMatchObject({ code: 0 });
    here.write('list.csv', changed);
    const { code, stderr } = await here.run(`${personal} --skip-invalid --if-finished ok`);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /finished before; nothing was sent this time\. Fix the rejected rows, then send only those/,
    );
  });
});

describe('the last line after --skip-invalid', () => {
  it.each([
    ['a plain job', `${line} --skip-invalid --max-credits 100`, /sms-\w+/],
    ['a named job that skips who was sent to', `${line} --skip-invalid --skip-sent --job july`, /july/],
    ['a named file', `${line} --skip-invalid --rejects 'the bad rows.csv'`, /sms-\w+/],
  ])('names the command that sends only the fixed rows: %s', async (_, command, job) => {
    const here = desk([...people(3), 'nobody,Dorj']);
    const { code, stderr } = await here.run(command);
    expect(code).toBe(3);
    const [, next = ''] =
      /Fix the rejected rows, then send only those with: urtuu (.*)\n$/.exec(stderr) ?? [];
    expect(next).toMatch(new RegExp(`^sms bulk \\S.*csv'? --like ${job.source} --yes$`));
    expect(await here.run(next)).toMatchObject({ code: 8 });
    const [, file = ''] = /^sms bulk (?:'([^']+)'|\S+)/.exec(next) ?? [];
    const path = file === '' ? (next.split(' ')[2] ?? '') : file;
    writeFileSync(path, readFileSync(path, 'utf8').replace('nobody', numbers(4)[3] ?? ''));
    expect(await here.run(next)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(4));
  });

  it('names the recipient column of a file without a header, whose rejects have one', async () => {
    const here = desk(people(3));
    writeFileSync(join(here.home, 'bare.csv'), `Bold;${numbers(4)[2]}\nDorj;nobody\n`);
    const bare = 'sms bulk bare.csv --headerless --to-column 2 --text Hello --yes --skip-invalid';
    const { stderr } = await here.run(bare);
    writeFileSync(join(here.home, 'bare.csv'), `${numbers(4)[0]}\nnobody\n`);
    const { code, stderr: said } = await here.run(bare.replace(' --to-column 2', ''));
    expect(code).toBe(3);
    const [bat, , bold, dorj] = numbers(4);
    for (const [printed, to = ''] of [
      [stderr, numbers(2)[1]],
      [said, dorj],
    ]) {
      const [, next = ''] = /only those with: urtuu (.*)\n$/.exec(printed ?? '') ?? [];
      const path = next.split(' ')[2] ?? '';
      writeFileSync(path, readFileSync(path, 'utf8').replace('nobody', to));
      expect(await here.run(next)).toMatchObject({ code: 0 });
    }
    expect([...here.project.received().keys()].sort()).toEqual([bat, numbers(2)[1], bold, dorj].sort());
  });
});

describe('the command for the fixed rows', () => {
  const [bat, dorj] = numbers(2) as [string, string];
  const printed = (stderr: string) => / only those with: urtuu (.*)\n$/.exec(stderr)?.[1] ?? 'none';
  /** Runs it on an earlier recipient's row in place of the rejected one. */
  async function fixed(options: string, row: string, earlier = '') {
    const here = desk([]);
    here.write('one.csv', ['phone', bat]);
    here.write('two.csv', ['phone', dorj, 'nobody']);
    expect(await here.run('sms bulk one.csv --text Hello --job one --yes')).toMatchObject({ code: 0 });
    if (earlier !== '') await here.run(earlier);
    const { stderr } = await here.run(
      `sms bulk two.csv --text Hello --job two --skip-invalid --rejects rej.csv --yes ${options}`,
    );
    const command = printed(stderr);
    here.write('rej.csv', here.read('rej.csv').trim().replace('nobody', row).split('\r\n'));
    return { ...(await here.run(command)), here };
  }

  it('skips who got the text from another job, where the run did', async () => {
    const { code, here } = await fixed('--skip-sent', bat);
    expect(code).toBe(11);
    expect([...here.project.received().values()]).toEqual(once(2));
  });

  it.each([
    ['the job itself', dorj],
    ['another job', bat],
  ])('sends to nobody who got the text from %s without asking', async (_, row) => {
    const { code, stderr, here } = await fixed('', row);
    expect({ code, stderr }).toEqual({
      code: 11,
      stderr: expect.stringContaining('sent the same message'),
    });
    expect([...here.project.received().values()]).toEqual(once(2));
  });

  it.each([
    ['--max-credits 15', 7],
    ['--max-credits 20', 0],
  ])('spends no more than the run might have: %s', async (options, exit) => {
    expect(await fixed(options, numbers(3)[2] ?? '')).toMatchObject({ code: exit });
  });

  it('is of the rows of a report that the run chose', async () => {
    const here = desk([], { failing: new Set([bat, dorj]) });
    here.write('list.csv', [header, ...people(3)]);
    await here.run("sms bulk list.csv --text 'Hello {name}' --job july --report report.csv --yes");
    here.project.options.failing = new Set();
    here.write('report.csv', here.read('report.csv').trim().replace(bat, 'nobody').split('\r\n'));
    const failed = 'sms bulk report.csv --only failed --skip-invalid --rejects rej.csv --yes';
    const { stderr } = await here.run(`${failed} --text 'Hello {name}'`);
    here.write('rej.csv', here.read('rej.csv').trim().replace('nobody', bat).split('\r\n'));
    const command = printed(stderr);
    expect(command).toContain(' --only failed ');
    expect(await here.run(command)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual(once(3));
  });
});

describe('the last lines where the service rejected rows', () => {
  const [first = '', , , , fixed = ''] = numbers(5);
  const personal = "sms bulk list.csv --text 'Hello {name}' --job july --yes";
  const unsupported = new Set([first]);
  /** The commands of the last lines, as words. */
  const commands = (stderr: string) =>
    [...stderr.matchAll(/: urtuu (.*)$/gm)].map(([, command = '']) => command);
  /** Pastes commands in another folder, with the cells of the report made right before the last. */
  async function pasted(here: Desk, lines: string[], file: string, fix: (text: string) => string) {
    const cwd = join(here.home, 'elsewhere');
    mkdirSync(cwd);
    for (const line of lines.slice(0, -1)) expect(await here.run(line, { cwd })).toMatchObject({ code: 0 });
    writeFileSync(join(here.home, file), fix(here.read(file)));
    return here.run(lines.at(-1) ?? '', { cwd });
  }

  it.each([
    ['a single', personal],
    ['a batch', line.replace('--yes', '--job july --yes')],
  ])('write its report, and send only those of it, once they are fixed: %s', async (_, command) => {
    const here = desk(people(4), { unsupported });
    const { code, stderr } = await here.run(command);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'Nothing is in doubt. The rejected rows are in the report of the job: urtuu jobs',
    );
    const lines = commands(stderr);
    expect(lines[0]).toBe(`jobs report july --report ${here.home}/july-report.csv`);
    expect(lines[1]).toBe(`sms bulk ${here.home}/july-report.csv --only rejected --like july --yes`);
    // They are where the commands say, not where they are pasted.
    const sent = await pasted(here, lines, 'july-report.csv', (text) => text.replace(first, fixed));
    expect(sent).toMatchObject({ code: 0 });
    expect([...here.project.received()].sort()).toEqual(
      numbers(5)
        .slice(1)
        .map((to) => [to, 1]),
    );
  });

  it('send the rows that were left out, too, from the report that is written', async () => {
    const here = desk([...people(3), 'nobody,Dorj'], { unsupported });
    const { stderr } = await here.run(
      `${personal} --skip-invalid --report out.csv --max-credits 100 --rejects bad.csv`,
    );
    const lines = commands(stderr);
    expect(lines).toEqual([`sms bulk ${here.home}/out.csv --only rejected --like july --yes`]);
    const [, , , fourth = ''] = numbers(4);
    const sent = await pasted(here, lines, 'out.csv', (text) =>
      text.replace('nobody', fourth).replace(first, fixed),
    );
    expect(sent).toMatchObject({ code: 0 });
    expect([...here.project.received()].sort()).toEqual(
      numbers(5)
        .slice(1)
        .map((to) => [to, 1]),
    );
  });

  it('name both files where the rows left out are not those of the job', async () => {
    const here = desk(people(3), { unsupported });
    await here.run(personal);
    here.write('list.csv', [header, ...people(3), 'nobody,Dorj']);
    const { code, stderr } = await here.run(`${personal} --skip-invalid --if-finished ok --rejects bad.csv`);
    expect(code).toBe(3);
    expect(stderr).toContain(`only those with: urtuu sms bulk ${here.home}/bad.csv `);
  });

  it('know the recipient column of a file without a header', async () => {
    const here = desk([], { unsupported });
    writeFileSync(join(here.home, 'list.csv'), `Bat;${first}\nBold;${numbers(2)[1]}\n`);
    const { stderr } = await here.run(
      'sms bulk list.csv --headerless --text Hello --yes --report out.csv --to-column 2',
    );
    const sent = await pasted(here, commands(stderr), 'out.csv', (text) => text.replace(first, fixed));
    expect(sent).toMatchObject({ code: 0 });
    expect([...here.project.received().keys()].sort()).toEqual([numbers(2)[1], fixed].sort());
  });

  it.each([
    ['to somebody on the list', 'july'],
    ['to somebody on another list', 'june'],
  ])('ask before a fixed row goes %s', async (_, job) => {
    const here = desk(people(3), { unsupported });
    const [, second = '', third = ''] = numbers(3);
    if (job === 'june') {
      here.write('june.csv', ['phone,name', `${fixed},Bat`]);
      await here.run('sms bulk june.csv --text Hello --job june --yes');
    }
    const { stderr } = await here.run(`${line} --job july --report out.csv`);
    const sent = await pasted(here, commands(stderr), 'out.csv', (text) =>
      text.replace(first, job === 'july' ? third : fixed),
    );
    expect(sent).toMatchObject({ code: 11, stderr: expect.stringContaining('sent the same message') });
    // A name does not answer for rows of a report.
    expect(await here.run(`${commands(stderr).at(-1)} --job other`)).toMatchObject({ code: 11 });
    const all = job === 'july' ? [second, third] : [second, third, fixed];
    expect([...here.project.received()].sort()).toEqual(all.map((to) => [to, 1]).sort());
  });

  it.each(['jobs watch july', 'jobs resume july --if-finished ok'])(
    'name the report: %s',
    async (command) => {
      const here = desk(people(3), { unsupported });
      await here.run(personal);
      const { code, stderr } = await here.run(command);
      expect(code).toBe(3);
      expect(stderr).toContain(
        `The rejected rows are in the report of the job: urtuu jobs report july --report ${here.home}/july-report.csv\n`,
      );
    },
  );
});

describe('a rejects file or report that somebody has changed', () => {
  const [bat, dorj] = numbers(2) as [string, string];
  const texts = (here: Desk) => here.project.sends.map(({ body }) => body?.text);
  const printed = (stderr: string) => / only those with: urtuu (.*)\n$/.exec(stderr)?.[1] ?? 'none';

  it.each([
    ['line', '{line}', 'line', '7'],
    ['Line', '{line}', 'Line', '7'],
    ['line', '{Line}', 'line', '7'],
    [' line ', '{ line }', 'line', '7'],
    ['error', '{error}', 'error', '7'],
    ['urtuu_line', '{urtuu_line}', 'urtuu_line', '7'],
    ['linе', '{linе}', 'linе', '7'],
  ])(
    "has the cells of the column %j of the list, never urtuu's own, for %s",
    async (column, field, kept, value) => {
      const here = desk([]);
      here.write('list.csv', [`name,phone,${column}`, `Бат,${bat},5`, 'Дорж,nobody,7']);
      const { stderr } = await here.run(
        `sms bulk list.csv --text '{name}, ${field} шугам' --skip-invalid --rejects rej.csv --yes`,
      );
      const [names = '', row = ''] = here.read('rej.csv').split('\r\n');
      expect(names.startsWith(`name,phone,${kept},`)).toBe(true);
      here.write('rej.csv', [names, row.replace('nobody', dorj)]);
      expect(await here.run(printed(stderr))).toMatchObject({ code: 0 });
      expect(texts(here)).toEqual(['Бат, 5 шугам', `Дорж, ${value} шугам`]);
    },
  );

  it("is sent to the column that --to-column names, also if that has the name of one of urtuu's", async () => {
    const here = desk([]);
    here.write('list.csv', ['name,line', `Бат,${bat}`, 'Дорж,nobody']);
    const { stderr } = await here.run(
      "sms bulk list.csv --to-column line --text 'Hi {name}' --skip-invalid --rejects rej.csv --yes",
    );
    here.write('rej.csv', here.read('rej.csv').trim().replace('nobody', dorj).split('\r\n'));
    expect(await here.run(printed(stderr))).toMatchObject({ code: 0 });
    expect([...here.project.received().keys()]).toEqual([bat, dorj]);
  });

  it('is refused where the text has a column that urtuu added, by an earlier release too', async () => {
    const here = desk([]);
    here.write('old.csv', ['name,phone,line,error', `Дорж,${dorj},3,x`]);
    here.write('report.csv', [
      'phone,status_input,message_id,batch_id,status,error_code,credits,line,delivery,job',
      `${dorj},VIP,,,failed,x,0,2,,july`,
    ]);
    for (const [file, field, columns] of [
      ['old.csv', '{line}', 'name, phone'],
      ['report.csv', '{status}', 'phone, status_input'],
      ['report.csv', '{Credits}', 'phone, status_input'],
    ]) {
      const { code, stderr } = await here.run(`sms bulk ${file} --text 'Hi ${field}' --yes`);
      expect({ code, stderr }).toEqual({
        code: 8,
        stderr:
          `urtuu: text: ${field} is a column of urtuu's report or rejects file, not of the list\n` +
          `  If it is your own, give it another name in the file. Columns: ${columns}.\n`,
      });
    }
    expect(
      await here.run("sms bulk report.csv --only failed --text 'Hi {status_input}' --yes"),
    ).toMatchObject({ code: 0 });
    expect(texts(here)).toEqual(['Hi VIP']);
  });

  it('has the cells of the list for {status}, {line} and {credits} in a report, and its own for --only', async () => {
    const here = desk([], { failing: new Set([dorj]) });
    here.write('list.csv', [
      'name,phone,line,status,credits',
      `Бат,${bat},5,VIP,120`,
      `Дорж,${dorj},7,энгийн,80`,
    ]);
    const text = "--text '{name} {line} {status} {credits}'";
    await here.run(`sms bulk list.csv ${text} --job july --report out.csv --yes`);
    here.project.options.failing = new Set();
    const before = texts(here).length;
    expect(await here.run(`sms bulk out.csv ${text} --only failed --yes`)).toMatchObject({ code: 0 });
    expect(texts(here).slice(before)).toEqual(['Дорж 7 энгийн 80']);
  });

  it("has urtuu's status for --only, and the list's for a text, without the columns that show a report", async () => {
    const here = desk([], { failing: new Set([bat]) });
    here.write('list.csv', ['name,phone,Status', `Бат,${bat},active`, `Дорж,${dorj},failed`]);
    await here.run("sms bulk list.csv --text '{name} {status}' --job july --report out.csv --yes");
    const rows = (parse(here.read('out.csv')) as string[][]).map((cells) =>
      cells.filter((_, at) => at !== 3 && at !== 4),
    );
    expect(rows[0]?.slice(0, 4)).toEqual(['name', 'phone', 'Status', 'urtuu_status']);
    here.write(
      'out.csv',
      rows.map((cells) => cells.join()),
    );
    const before = texts(here).length;
    const refused = await here.run("sms bulk out.csv --text '{urtuu_status}' --only failed --yes");
    expect(refused).toMatchObject({
      code: 8,
      stderr: expect.stringContaining("is a column of urtuu's report"),
    });
    here.project.options.failing = new Set();
    expect(await here.run("sms bulk out.csv --text '{name} {status}' --only failed --yes")).toMatchObject({
      code: 0,
    });
    expect(texts(here).slice(before)).toEqual(['Бат active']);
  });

  const original = ['name,phone,amount', `Бат,nobody,"-5,000₮"`, `Туяа,noone,'=x`, `Болд,none,'5`];
  const move = (from: number, to: number) => (cells: string[]) => {
    const [cell = ''] = cells.splice(from, 1);
    cells.splice(to, 0, cell);
    return cells;
  };
  const without = (at: number) => (cells: string[]) => cells.filter((_, index) => index !== at);
  it.each<[string, (cells: string[]) => string[], number?]>([
    ['as it was', (cells) => cells],
    ['with a column more at its end', (cells) => [...cells, 'x']],
    ['with a column more at its beginning', (cells) => ['y', ...cells]],
    ["with urtuu's columns first", (cells) => move(4, 0)(move(4, 0)(cells))],
    ["with urtuu's columns apart", move(3, 0)],
    ['without a column of the list', without(0)],
    [
      'with its names in capitals',
      (cells) => cells.map((cell) => (/^[a-z]+$/.test(cell) ? cell.toUpperCase() : cell)),
    ],
    ['without the errors', without(4), 8],
    ['without the lines', without(3), 8],
  ])('has no guard against formulas in its texts, or is refused: %s', async (_, change, exit = 0) => {
    const here = desk([]);
    here.write('list.csv', original);
    await here.run("sms bulk list.csv --text 'Hi {amount}' --rejects rej.csv --yes");
    const rows = parse(here.read('rej.csv')) as string[][];
    expect(rows.map((cells) => cells[2])).toEqual(['amount', "'-5,000₮", "''=x", "'5"]);
    const fixed = rows.map((cells, at) =>
      change(cells.map((cell, index) => (at > 0 && index === 1 ? (numbers(4)[at] ?? '') : cell))),
    );
    here.write(
      'rej.csv',
      fixed.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')),
    );
    const { code, stderr } = await here.run("sms bulk rej.csv --text 'Hi {amount}' --yes");
    expect(code).toBe(exit);
    if (exit === 0) expect(texts(here)).toEqual(['Hi -5,000₮', "Hi '=x", "Hi '5"]);
    else expect(stderr).toContain(`amount: "'-5,000₮" begins with ' and a sign`);
  });

  it('is a list whose own cells with an apostrophe are sent as they are', async () => {
    const here = desk([]);
    here.write('list.csv', ['phone,amount', `${bat},'-5`, `${dorj},'5`]);
    expect(await here.run("sms bulk list.csv --text 'Hi {amount}' --yes")).toMatchObject({ code: 0 });
    expect(texts(here)).toEqual(["Hi '-5", "Hi '5"]);
  });

  it('rejected from a sorted report names the lines of the job, which knows its rows by them', async () => {
    const here = desk([`${bat},Bat`, `${dorj},Dorj`], { failing: new Set([dorj]) });
    await here.run("sms bulk list.csv --text 'Hi {name}' --job july --report out.csv --yes");
    const [names = '', one = '', two = ''] = here.read('out.csv').split('\r\n');
    here.write('out.csv', [names, two.replace(dorj, 'nobody'), one]);
    await here.run("sms bulk out.csv --text 'Hi {name}' --only failed --rejects rej.csv --yes");
    const [header, row] = here.read('rej.csv').split('\r\n');
    expect(header).toBe(`${names},error`);
    expect(row).toMatch(/^nobody,Dorj,.*,3,[^,]*,july,/);
  });
});
