import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answers } from '../../../support/run.js';
import { type TestWorkbook, workbook } from '../../bulk/input/workbook/write-workbook.js';
import { desk } from './desks.js';

const july = {
  name: 'July',
  rows: [
    ['phone', 'name'],
    [99_000_000, 'Бат'],
    [99_000_001, 'Дорж'],
  ],
};
const august = {
  name: 'August',
  rows: [
    ['phone', 'name'],
    [99_000_002, 'Цэцэг'],
  ],
};
const line = "sms bulk list.xlsx --text 'Hello {name}'";

function workbookDesk(book: TestWorkbook) {
  const here = desk([]);
  writeFileSync(join(here.home, 'list.xlsx'), workbook(book));
  return here;
}
const received = (here: ReturnType<typeof desk>) => [...here.project.received().keys()];

describe('sms bulk list.xlsx', () => {
  it('sends to the rows of its only sheet with rows', async () => {
    const here = workbookDesk({ sheets: [july, { rows: [] }] });
    const { code, stderr } = await here.run(`${line} --yes`);
    expect(code).toBe(0);
    expect(stderr).toContain('Column      phone (sheet: July)\n');
    expect(received(here)).toEqual(['99000000', '99000001']);
  });

  it('comes from standard input, too', async () => {
    const here = desk([]);
    const stdin = workbook({ sheets: [july] });
    expect(await here.run("sms bulk - --text 'Hello {name}' --yes", { stdin })).toMatchObject({ code: 0 });
    expect(received(here)).toHaveLength(2);
  });

  it('asks on a terminal which of several sheets is meant', async () => {
    const here = workbookDesk({ sheets: [july, august] });
    const questions = answers('August', true);
    expect(await here.run(line, { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(questions.asked[0]).toBe('list.xlsx has several sheets with rows. Which sheet is it?');
    expect(received(here)).toEqual(['99000002']);
  });

  it('is exit 8 with several sheets elsewhere, and names --sheet, which chooses one', async () => {
    const here = workbookDesk({ sheets: [july, august] });
    const refused = await here.run(`${line} --yes`);
    expect(refused.code).toBe(8);
    expect(refused.stderr).toContain('list.xlsx has several sheets with rows');
    expect(refused.stderr).toMatch(/Choose one with --sheet\. Sheets: July, August\./);
    const stdin = workbook({ sheets: [july, august] });
    const piped = await here.run("sms bulk - --text 'Hello'", { stdin, terminal: 80, questions: answers() });
    expect(piped).toMatchObject({ code: 8 });
    expect(piped.stderr).toContain('standard input has several sheets with rows');
    expect(here.project.sends).toHaveLength(0);
    expect(await here.run(`${line} --yes --sheet August`)).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(['99000002']);
  });

  it.each([
    ['--encoding utf-8', 'list.xlsx is an Excel workbook, which has no encoding'],
    ['--delimiter tab', 'list.xlsx is an Excel workbook, which has no delimiter'],
  ])('with %s is exit 2', async (option, message) => {
    const { code, stderr } = await workbookDesk({ sheets: [july] }).run(`${line} --yes ${option}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('of CSV with --sheet is exit 2', async () => {
    const { code, stderr } = await desk(['99000000,Bat']).run(
      'sms bulk list.csv --text hi --yes --sheet July',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('list.csv is not an Excel workbook, so it has no sheets');
  });

  it('warns of hidden rows, which it reads', async () => {
    const data =
      '<row r="1"><c r="A1" t="str"><v>phone</v></c></row><row r="2" hidden="1"><c r="A2"><v>99000000</v></c></row>';
    const here = workbookDesk({ sheets: [{ data }] });
    const { code, stderr } = await here.run("sms bulk list.xlsx --text 'Hello' --yes");
    expect(code).toBe(0);
    expect(stderr).toContain('sheet Sheet1: 1 hidden row included');
    expect(received(here)).toEqual(['99000000']);
  });

  it('names bad rows by their cells, on screens and for programs', async () => {
    const rows = [
      ['phone', 'name'],
      [99_000_000, { xml: 't="e"><v>#N/A</v>' }],
    ];
    const here = workbookDesk({ sheets: [{ rows }] });
    const { code, stderr } = await here.run(`${line} --yes`);
    expect(code).toBe(8);
    expect(stderr).toContain('list.xlsx!Sheet1:B2: name: #N/A is an error, not a value');
    const { error } = JSON.parse((await here.run(`${line} --yes --json`)).stderr);
    expect(error.rows).toEqual([
      { line: 2, column: 'name', value: '#N/A', message: '#N/A is an error, not a value' },
    ]);
  });

  it.each([
    ['an error', 't="e"><v>#N/A</v>'],
    ['a formula without a value', '><f>B9</f>'],
  ])('sends %s to nobody as a text, from its rejects file or report neither', async (_, xml) => {
    const rows = [
      ['phone', 'name'],
      [99_000_000, { xml }],
      [99_000_001, 'Дорж'],
    ];
    const here = workbookDesk({ sheets: [{ rows }] });
    const files = '--rejects bad.csv --report out.csv';
    expect(await here.run(`${line} --yes --skip-invalid --job july ${files}`)).toMatchObject({ code: 3 });
    expect(received(here)).toEqual(['99000001']);
    for (const again of ['bad.csv', 'out.csv --only rejected']) {
      const { code, stderr } = await here.run(`sms bulk ${again} --text 'Hello {name}' --yes`);
      expect(code).toBe(8);
      expect(stderr).toContain(': name: ');
    }
    const others = await here.run("sms bulk out.csv --only sent --text 'Again {name}' --yes --json");
    expect(JSON.parse(others.stdout)).toMatchObject({ planned: 1, accepted: 1 });
    expect(received(here)).toEqual(['99000001']);
    writeFileSync(join(here.home, 'bad.csv'), here.read('bad.csv').replace(/(?:#N\/A|'=B9)(?=,)/, 'Бат'));
    expect(await here.run("sms bulk bad.csv --text 'Hello {name}' --yes")).toMatchObject({ code: 0 });
    expect(received(here)).toEqual(['99000001', '99000000']);
  });

  it('is reported as CSV with the columns of the sheet, which is fed in again, as CSV or saved as a workbook', async () => {
    const rows = [
      [null, 'phone', null, 'name'],
      null,
      [null, 99_000_000, null, '=Бат'],
      [null, 99_000_001, null, 'Дорж'],
    ];
    const here = workbookDesk({ sheets: [{ rows }] });
    expect(await here.run(`${line} --yes --job july --report out.csv`)).toMatchObject({ code: 0 });
    const [header, first] = here.read('out.csv').split('\r\n');
    expect(header).toBe('\ufeffphone,name,message_id,batch_id,status,error_code,credits,line,delivery,job');
    expect(first).toMatch(/^99000000,'=Бат,[\w-]+,,(?:sent|queued),,\d+,3,,july$/);
    const again = await here.run("sms bulk out.csv --text 'Again {name}' --only sent,queued --yes --json");
    expect(JSON.parse(again.stdout)).toMatchObject({ planned: 2, accepted: 2 });
    const cells = here
      .read('out.csv')
      .slice(1)
      .trim()
      .split('\r\n')
      .map((each) => each.split(','));
    writeFileSync(join(here.home, 'out.xlsx'), workbook({ sheets: [{ rows: cells }] }));
    const saved = await here.run(
      "sms bulk out.xlsx --text 'Once more {name}' --only sent,queued --yes --json",
    );
    expect(JSON.parse(saved.stdout)).toMatchObject({ planned: 2, accepted: 2 });
    expect(here.project.sends.at(-2)?.body).toMatchObject({ text: 'Once more =Бат' });
  });

  it('says the sheet in the figures of --dry-run', async () => {
    const { stdout } = await workbookDesk({ sheets: [july] }).run(`${line} --dry-run --json`);
    expect(JSON.parse(stdout)).toMatchObject({ to_column: 'phone', sheet: 'July', recipients: 2 });
  });
});
