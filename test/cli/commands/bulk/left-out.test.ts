import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
      /finished before; nothing was sent now\. Fix the rejected rows, then send only those/,
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
    expect({ code, stderr }).toEqual({ code: 11, stderr: expect.stringContaining('got the same message') });
    expect([...here.project.received().values()]).toEqual(once(2));
  });

  it.each([
    ['--max-credits 15', '--max-credits 5', 7],
    ['--max-credits 20', '--max-credits 10', 0],
    ['--rate 5 --concurrency 2', '--rate 5 --concurrency 2', 0],
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

describe('a command that a terminal would show as another one', () => {
  it('is not printed', async () => {
    const here = desk([...people(3), 'nobody,Dorj']);
    const argv = ['sms', 'bulk', 'list.csv', '--text', 'one\ntwo', '--skip-invalid', '--yes'];
    const { code, stderr } = await here.run('', { argv });
    expect(code).toBe(3);
    expect(stderr).toMatch(/1 rejected\. Nothing is in doubt\.\n$/);
  });
});
