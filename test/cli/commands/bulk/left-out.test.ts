import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    ['a plain job', `${line} --skip-invalid --max-credits 100`, '--skip-invalid --max-credits 70 --yes'],
    ['a job with a long name', `${line} --skip-invalid --job ${'j'.repeat(100)}`, '--yes'],
    ['a named job', `${line} --skip-invalid --job july`, '--skip-invalid --yes'],
    [
      'a named job that skips who was sent to',
      `${line} --skip-invalid --skip-sent --job july`,
      '--skip-invalid --skip-sent --job july-rejects --yes',
    ],
    ['a named file', `${line} --skip-invalid --rejects 'the bad rows.csv'`, '--yes'],
  ])('names the command that sends only the fixed rows: %s', async (_, command, options) => {
    const here = desk([...people(3), 'nobody,Dorj']);
    const { code, stderr } = await here.run(command);
    expect(code).toBe(3);
    const [, next = ''] =
      /Fix the rejected rows, then send only those with: urtuu (.*)\n$/.exec(stderr) ?? [];
    expect(next).toMatch(/^sms bulk \S.*csv'? --text Hello /);
    expect(next.endsWith(options)).toBe(true);
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
    expect(stderr).toMatch(/ --to-column 2 --skip-invalid --yes\n$/);
    writeFileSync(join(here.home, 'bare.csv'), `${numbers(4)[0]}\nnobody\n`);
    const { code, stderr: said } = await here.run(bare.replace(' --to-column 2', ''));
    expect(code).toBe(3);
    const [, next = ''] = /only those with: urtuu (.*)\n$/.exec(said) ?? [];
    expect(next).toMatch(/ --to-column 1 --skip-invalid --yes$/);
    const path = next.split(' ')[2] ?? '';
    writeFileSync(path, readFileSync(path, 'utf8').replace('nobody', numbers(4)[3] ?? ''));
    expect(await here.run(next)).toMatchObject({ code: 0 });
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
    return { command, ...(await here.run(command)), here };
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
    ['--max-credits 15', '--max-credits 5', 7],
    ['--max-credits 20', '--max-credits 10', 0],
    ['--rate 5 --concurrency 2 --max-wait 5m', '--rate 5 --concurrency 2 --max-wait 5m', 0],
    ['--skip-sent --allow-partial', '--skip-sent --job two-rejects --allow-partial', 0],
  ])('spends no more than the run might have: %s', async (options, kept, exit) => {
    const { command, code } = await fixed(options, numbers(3)[2] ?? '');
    expect(command).toContain(` ${kept} `);
    expect(code).toBe(exit);
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
    expect(lines[1]).toMatch(/ --only rejected --yes$/);
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
    expect(lines).toEqual([
      `sms bulk ${here.home}/out.csv --text 'Hello {name}' --only rejected --skip-invalid --max-credits 80 --yes`,
    ]);
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

describe('a command that a terminal would show as another one', () => {
  it('is not printed', async () => {
    const here = desk([...people(3), 'nobody,Dorj']);
    const argv = ['sms', 'bulk', 'list.csv', '--text', 'one\ntwo', '--skip-invalid', '--yes'];
    const { code, stderr } = await here.run('', { argv });
    expect(code).toBe(3);
    expect(stderr).toMatch(/1 rejected\. Nothing is in doubt\.\n$/);
  });
});
