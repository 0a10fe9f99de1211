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
    expect(stderr).toMatch(
      /Certain: 3 accepted; nothing in doubt\. Fix the rejected rows, then send only those/,
    );
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
    ['a plain job', `${line} --skip-invalid --max-credits 100`, '--max-credits 100 --yes'],
    ['a job with a long name', `${line} --skip-invalid --job ${'j'.repeat(100)}`, '--yes'],
    ['a named job', `${line} --skip-invalid --job july`, '--job july-rejects --yes'],
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
    expect(stderr).toMatch(/ --to-column 2 --yes\n$/);
    writeFileSync(join(here.home, 'bare.csv'), `${numbers(4)[0]}\nnobody\n`);
    const { code, stderr: said } = await here.run(bare.replace(' --to-column 2', ''));
    expect(code).toBe(3);
    const [, next = ''] = /only those with: urtuu (.*)\n$/.exec(said) ?? [];
    expect(next).toMatch(/ --to-column 1 --yes$/);
    const path = next.split(' ')[2] ?? '';
    writeFileSync(path, readFileSync(path, 'utf8').replace('nobody', numbers(4)[3] ?? ''));
    expect(await here.run(next)).toMatchObject({ code: 0 });
  });
});

describe('a command that a terminal would show as another one', () => {
  it('is not printed', async () => {
    const here = desk([...people(3), 'nobody,Dorj']);
    const argv = ['sms', 'bulk', 'list.csv', '--text', 'one\ntwo', '--skip-invalid', '--yes'];
    const { code, stderr } = await here.run('', { argv });
    expect(code).toBe(3);
    expect(stderr).toMatch(/1 rejected; nothing in doubt\.\n$/);
  });
});
