import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saying } from '../../../support/saying.js';
import { workbook } from '../../bulk/input/workbook/write-workbook.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, people, personal } from './desks.js';

describe('a file that cannot be written', () => {
  it.each([
    ['--report', 'nowhere/r.csv', 'its folder does not exist'],
    ['--report', '.', 'it is a folder'],
    ['--rejects', 'nowhere/r.csv', 'its folder does not exist'],
    ['--rejects', '.', 'it is a folder'],
  ])('stops the job before anything is sent: %s %s', async (option, name, why) => {
    const here = desk(people(3));
    expect(await here.run(`${constant} ${option} ${name}`)).toMatchObject(saying(13, why));
    expect(here.project.service.requests).toEqual([]);
  });

  it.each(['--rejects out.csv --report ./out.csv', '--rejects out.csv --report link.csv'])(
    'stops the job where the report would take the place of the rejects: %s',
    async (options) => {
      const here = desk([...people(3), 'nobody,Dorj']);
      if (options.includes('link')) here.write('out.csv', ['old']);
      symlinkSync('out.csv', join(here.home, 'link.csv'));
      expect(await here.run(`${constant} --skip-invalid ${options}`)).toMatchObject(
        saying(2, '--report and --rejects name the same file'),
      );
      expect(here.project.sends).toEqual([]);
    },
  );

  it.each([
    ['--rejects ./list.csv', '--rejects names the list itself'],
    ['--rejects link.csv', '--rejects names the list itself'],
    ['--report list.csv', '--report names the list itself'],
    ['--report link.csv', '--report names the list itself'],
    ['--text-file text.txt --report ./text.txt', '--report names the file of --text-file'],
  ])('stops the job where it is read by the job, and stays as it is: %s', async (options, why) => {
    const here = desk([...people(3), 'nobody,Dorj']);
    here.write('text.txt', ['Hello']);
    symlinkSync('list.csv', join(here.home, 'link.csv'));
    const before = ['list.csv', 'text.txt'].map((name) => here.read(name));
    const text = options.includes('--text-file') ? '' : '--text Hello';
    expect(await here.run(`sms bulk list.csv ${text} --yes ${options}`)).toMatchObject(saying(2, why));
    expect(['list.csv', 'text.txt'].map((name) => here.read(name))).toEqual(before);
    expect(here.project.sends).toEqual([]);
  });

  it('stops a job of a report that would take the place of that report', async () => {
    const here = desk(people(3), { failing: new Set(numbers(1)) });
    await here.run(`${personal} --report report.csv`);
    const before = here.read('report.csv');
    here.project.options.failing = new Set();
    const only = "sms bulk report.csv --only failed --text 'Hello {name}' --yes --job more";
    expect(await here.run(`${only} --report report.csv`)).toMatchObject(
      saying(2, '--report names the list itself and would overwrite it'),
    );
    expect(here.read('report.csv')).toBe(before);
    expect(await here.run(`${only} --report more.csv`)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });

  it.each([
    ['list.csv', '.', 'list.csv'],
    ['list.csv', 'other', 'link.csv'],
    ['list.csv', 'other', '../list.csv'],
    ['list.xlsx', 'other', '../list.xlsx'],
  ])(
    'stops a resume and a report that would take the place of %s, in %s: %s',
    async (list, folder, report) => {
      const here = desk(people(3), { failing: new Set(numbers(1)) });
      const cwd = join(here.home, folder);
      mkdirSync(join(here.home, 'other'));
      symlinkSync('../list.csv', join(here.home, 'other', 'link.csv'));
      const rows = people(3).map((row) => row.split(','));
      writeFileSync(
        join(here.home, 'list.xlsx'),
        workbook({ sheets: [{ rows: [['phone', 'name'], ...rows] }] }),
      );
      await here.run(personal.replace('list.csv', list));
      const before = readFileSync(join(here.home, list));
      for (const command of ['jobs report july', 'jobs resume july --retry-failed']) {
        const { code, stderr } = await here.run(`${command} --report ${report}`, { cwd });
        expect({ code, stderr }).toMatchObject(
          saying(2, '--report names the list of this job and would overwrite it'),
        );
      }
      expect(readFileSync(join(here.home, list))).toEqual(before);
      expect(here.project.messages).toHaveLength(3);
      expect(await here.run('jobs report july --report report.csv', { cwd })).toMatchObject({ code: 0 });
    },
  );

  it('stops a resume and a report', async () => {
    const here = desk(people(3), { credits: 10 });
    await here.run("sms bulk list.csv --text 'Hello {name}' --job july --yes --allow-partial");
    const sent = here.project.sends.length;
    here.project.balance = 1_000;
    expect(await here.run('jobs resume july --report nowhere/r.csv')).toMatchObject({ code: 13 });
    expect(await here.run('jobs report july --report nowhere/r.csv')).toMatchObject({ code: 13 });
    expect(here.project.sends).toHaveLength(sent);
  });
});

describe('a link', () => {
  it('is followed by --report and --rejects', async () => {
    const here = desk([...people(2), 'nobody,Dorj']);
    mkdirSync(join(here.home, 'kept'));
    for (const name of ['report.csv', 'rejects.csv']) {
      writeFileSync(join(here.home, 'kept', name), 'old');
      symlinkSync(join('kept', name), join(here.home, name));
    }
    const line = `${constant} --skip-invalid --report report.csv --rejects rejects.csv`;
    expect(await here.run(line)).toMatchObject({ code: 3 });
    for (const name of ['report.csv', 'rejects.csv']) {
      expect(lstatSync(join(here.home, name)).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(here.home, 'kept', name), 'utf8')).toContain('nobody,Dorj');
    }
  });
});

describe('a link in the place of a journal', () => {
  it('is not followed: what it points to stays as it is, and nothing is sent', async () => {
    const here = desk(people(3), { credits: 10 });
    const line = "sms bulk list.csv --text 'Hello {name}' --job july --yes --allow-partial";
    await here.run(line);
    const sent = here.project.sends.length;
    here.project.balance = 1_000;
    rmSync(here.jobFile('july', 'journal'));
    for (const [content, said] of [
      ['', 'is a link'],
      ['precious\n', 'the journal is damaged'],
    ] as const) {
      writeFileSync(join(here.home, 'precious'), content);
      rmSync(here.jobFile('july', 'journal'), { force: true });
      symlinkSync(join(here.home, 'precious'), here.jobFile('july', 'journal'));
      expect(await here.run(line)).toMatchObject(saying(13, said));
      expect(here.read('precious')).toBe(content);
    }
    expect(here.project.sends).toHaveLength(sent);
  });
});
