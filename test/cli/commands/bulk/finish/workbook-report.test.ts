import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../../support/desk.js';
import { read } from '../../../bulk/input/workbook/read.js';
import { constant, desk, figures, people, personal } from '../desks.js';

const header = 'message_id,batch_id,status,error_code,credits,line,delivery,job'.split(',');

const sheetOf = async (here: Desk, file: string, sheet?: string) =>
  (await read(readFileSync(join(here.home, file)), sheet === undefined ? {} : { sheet })).rows.map(
    ({ record }) => record,
  );

/** A job whose second recipient failed, reported as a workbook. */
async function reported(rows = ['99000000,Бат', '99000001,=1+2', "99000002,'=x"]) {
  const here = desk(rows, { failing: new Set(['99000001']) });
  const ended = await here.run(`${personal} --wait --report out.xlsx`);
  return { here, ended };
}

describe('a report whose name ends in .xlsx', () => {
  it('is a workbook: texts as they are, credits and lines as numbers, and the figures of the job', async () => {
    const { here, ended } = await reported();
    expect(ended.code).toBe(3);
    const [names, ...rows] = await sheetOf(here, 'out.xlsx');
    expect(names).toEqual(['phone', 'name', ...header]);
    expect(rows.map((row) => [row[0], row[1], row[4], row[6], row[7], row[9]])).toEqual([
      ['99000000', 'Бат', 'sent', '10', '2', 'july'],
      ['99000001', '=1+2', 'failed', '0', '3', 'july'],
      // One more guard against formulas, which a reader of reports takes off.
      ['99000002', "''=x", 'sent', '10', '4', 'july'],
    ]);
    const summary = Object.fromEntries(await sheetOf(here, 'out.xlsx', 'Summary'));
    expect(summary).toMatchObject({ job: 'july', source: 'list.csv', planned: '3', credits: '20' });
    expect(summary.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it('is fed in again, without its second sheet', async () => {
    const { here } = await reported();
    const again = await here.run("sms bulk out.xlsx --only sent --text 'Again {name}' --yes --json");
    expect(figures(again.stdout)).toMatchObject({ planned: 2, accepted: 2 });
    expect(here.project.sends.slice(-2).map(({ body }) => body?.text)).toEqual(['Again Бат', "Again '=x"]);
    const failed = await here.run("sms bulk out.xlsx --only failed --text 'Hi {name}' --dry-run --json");
    expect(figures(failed.stdout)).toMatchObject({ recipients: 1, sheet: 'Report' });
  });

  it('is written again by jobs report, with the columns and masks that are asked for', async () => {
    const { here } = await reported();
    const { code, stdout } = await here.run(
      'jobs report july --report again.XLSX --columns phone,status --mask',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect((await sheetOf(here, 'again.XLSX')).slice(0, 2)).toEqual([
      ['phone', 'status'],
      ['9900**00', 'sent'],
    ]);
  });

  it.each([
    ['--json', 'out.xlsx is written as a workbook, not as json'],
    ['-o csv', 'out.xlsx is written as a workbook, not as csv'],
    ['--no-header', 'out.xlsx is a workbook, which always has a header'],
  ])('with %s is exit 2', async (option, message) => {
    const here = desk(people(1));
    await here.run(constant);
    const { code, stderr } = await here.run(`jobs report july --report out.xlsx ${option}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(join(here.home, 'out.xlsx'))).toBe(false);
  });

  it('leaves the file as it was where a text does not fit, and says the way out', async () => {
    const here = desk([`99000000,${'x'.repeat(40_000)}`]);
    here.write('out.xlsx', ['of yesterday']);
    const ended = await here.run(`${constant} --report out.xlsx`);
    expect(ended.code).toBe(13);
    expect(ended.stderr).toContain(
      'the report does not fit in a workbook (a text in it has over 32767 characters): name a file that ends in .csv',
    );
    expect(here.read('out.xlsx')).toBe('of yesterday\n');
    expect(await here.run('jobs report july --report out.csv')).toMatchObject({ code: 0 });
  });

  it('is not what --rejects writes', async () => {
    const here = desk(['1,Bat']);
    const { code, stderr } = await here.run(`${constant} --rejects bad.xlsx`);
    expect(code).toBe(2);
    expect(stderr).toContain('bad.xlsx would not be a workbook: rejected rows are written as CSV');
  });
});
