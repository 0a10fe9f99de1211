import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answers } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
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
    expect(await here.run(`${line} --yes`)).toMatchObject(saying(0, 'Column      phone (sheet: July)\n'));
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
    expect(questions.asked[0]).toBe('list.xlsx has several sheets with rows. Which sheet should be sent?');
    expect(received(here)).toEqual(['99000002']);
  });

  it('is exit 8 with several sheets elsewhere, and names --sheet, which chooses one', async () => {
    const here = workbookDesk({ sheets: [july, august] });
    const refused = await here.run(`${line} --yes`);
    expect(refused).toMatchObject(saying(8, 'list.xlsx has several sheets with rows'));
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
    expect(await workbookDesk({ sheets: [july] }).run(`${line} --yes ${option}`)).toMatchObject(
      saying(2, message),
    );
  });

  it('of CSV with --sheet is exit 2', async () => {
    expect(await desk(['99000000,Bat']).run('sms bulk list.csv --text hi --yes --sheet July')).toMatchObject(
      saying(2, 'list.csv is not an Excel workbook, so it has no sheets'),
    );
  });

  describe('with hidden rows', () => {
    const phone = (row: number, number: number, hidden = '') =>
      `<row r="${row}"${hidden}><c r="A${row}"><v>${number}</v></c></row>`;
    const data = `<row r="1" hidden="1"><c r="A1" t="str"><v>phone</v></c></row>${phone(2, 99_000_000)}${phone(3, 99_000_001, ' hidden="1"')}`;
    const hello = "sms bulk list.xlsx --text 'Hello'";

    it('warns of them, and reads them', async () => {
      const here = workbookDesk({ sheets: [{ data }] });
      expect(await here.run(`${hello} --yes`)).toMatchObject(
        saying(0, 'sheet Sheet1: 1 hidden row included; to leave them out, add --visible-only'),
      );
      expect(received(here)).toEqual(['99000000', '99000001']);
    });

    it('leaves them out with --visible-only', async () => {
      const here = workbookDesk({ sheets: [{ data }] });
      expect(await here.run(`${hello} --yes --visible-only`)).toMatchObject(
        saying(0, 'sheet Sheet1: 1 hidden row left out'),
      );
      expect(received(here)).toEqual(['99000000']);
    });

    it('asks once, also if the list is planned anew without those who were sent the message', async () => {
      const here = workbookDesk({ sheets: [{ data }] });
      here.write('first.csv', ['phone', '99000000']);
      expect(await here.run(`${hello.replace('xlsx', 'csv').replace('list', 'first')} --yes`)).toMatchObject({
        code: 0,
      });
      const questions = answers('All rows', 'Only the 1 new', true);
      expect(await here.run(hello, { terminal: 80, questions })).toMatchObject({ code: 0 });
      expect(questions.asked.map((question) => question.split(/[.?]/)[0])).toEqual([
        'Sheet Sheet1 has 1 hidden row',
        'Send to 2 recipients for 20 credits',
        'Send to 1 recipient for 10 credits',
      ]);
      expect(received(here)).toEqual(['99000000', '99000001']);
    });

    it.each([
      ['Only the visible rows', ['99000000']],
      ['All rows', ['99000000', '99000001']],
    ])('asks on a terminal: %s', async (choice, numbers) => {
      const here = workbookDesk({ sheets: [{ data }] });
      const questions = answers(choice, true);
      expect(await here.run(hello, { terminal: 80, questions })).toMatchObject({ code: 0 });
      expect(questions.asked[0]).toBe('Sheet Sheet1 has 1 hidden row. Which rows should be sent?');
      expect(received(here)).toEqual(numbers);
    });

    it('are none in CSV: --visible-only is exit 2', async () => {
      expect(
        await desk(['99000000,Bat']).run('sms bulk list.csv --text hi --yes --visible-only'),
      ).toMatchObject(saying(2, 'list.csv is not an Excel workbook, so it has no hidden rows'));
    });
  });

  describe('with a title above its header', () => {
    const rows = [['Үзлэгийн жагсаалт 2026'], null, ['phone', 'name'], [99_000_000, 'Бат'], ['x', 'Дорж']];

    it('names --header-row, which finds it', async () => {
      const here = workbookDesk({ sheets: [{ rows }] });
      const refused = await here.run(`${line} --yes`);
      expect(refused).toMatchObject(
        saying(
          8,
          'Columns: Үзлэгийн жагсаалт 2026. For braces, write {{ and }}. If a later row names the columns, add --header-row with its number.',
        ),
      );
      expect(await here.run(`${line} --yes --header-row 3 --skip-invalid --report out.csv`)).toMatchObject(
        saying(3, 'list.xlsx!Sheet1:A5: phone: "x" is not a phone number'),
      );
      expect(received(here)).toEqual(['99000000']);
      expect(here.read('out.csv')).toMatch(/\n99000000,Бат,[\w-]+,,\w+,,\d+,4,/);
    });

    it.each([
      ['--header-row 0', 'rows are counted from 1'],
      ['--header-row x', "'x' is not a whole number"],
      ['--header-row 3 --headerless', '--headerless cannot be combined with --header-row'],
    ])('with %s is exit 2', async (options, message) => {
      expect(await workbookDesk({ sheets: [{ rows }] }).run(`${line} --yes ${options}`)).toMatchObject(
        saying(2, message),
      );
    });
  });

  it('names bad rows by their cells, on screens and for programs', async () => {
    const rows = [
      ['phone', 'name'],
      [99_000_000, { xml: 't="e"><v>#N/A</v>' }],
    ];
    const here = workbookDesk({ sheets: [{ rows }] });
    expect(await here.run(`${line} --yes`)).toMatchObject(
      saying(8, 'list.xlsx!Sheet1:B2: name: #N/A is an error, not a value'),
    );
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
      expect(await here.run(`sms bulk ${again} --text 'Hello {name}' --yes`)).toMatchObject(
        saying(8, ': name: '),
      );
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

  describe('with formats', () => {
    const formats = ['00000000', '#,##0" ₮"', '0%', '0.00E+00', ';;;', '"№ "@'];
    const styled = (style: number, value: number | string) => ({ xml: `s="${style}"><v>${value}</v>` });
    const text = (style: number, value: string) => ({ xml: `s="${style}" t="str"><v>${value}</v>` });
    const texts = (here: ReturnType<typeof desk>) => here.project.sends.map(({ body }) => body?.text);

    it('puts into the text what the sheet shows, and sends to all digits of a number', async () => {
      const rows = [
        ['phone', 'card', 'amount', 'share'],
        [styled(4, '9.9E7'), styled(1, 12_345), styled(2, 1_234.5), styled(3, 0.15)],
        [styled(5, 99_000_001), styled(1, 7), styled(2, -5), styled(3, 1)],
        [styled(2, 99_000_002), text(6, 'А'), styled(2, 0), styled(3, 0)],
        [text(6, '99000003'), 12_345, 0.5, 'all'],
      ];
      const here = workbookDesk({ formats, sheets: [{ rows }] });
      const line = "sms bulk list.xlsx --text '{card} {amount} {share}' --yes --report out.csv";
      expect(await here.run(line)).toMatchObject({ code: 0 });
      expect(received(here)).toEqual(['99000000', '99000001', '99000002', '99000003']);
      const shown = ['00012345 1,235 ₮ 15%', '00000007 -5 ₮ 100%', '№ А 0 ₮ 0%', '12345 0.5 all'];
      expect(texts(here)).toEqual(shown);
      const again = "sms bulk out.csv --only queued,sent --text 'again: {card} {amount} {share}' --yes";
      expect(await here.run(again)).toMatchObject({ code: 0 });
      expect(texts(here).slice(4)).toEqual(shown.map((each) => `again: ${each}`));
    });

    it('does so in the first row, too, where it is data', async () => {
      const rows = [[styled(1, 5), styled(4, 99_000_000)]];
      const here = workbookDesk({ formats, sheets: [{ rows }] });
      const line = "sms bulk list.xlsx --headerless --to-column 2 --text 'card {1}' --yes";
      expect(await here.run(line)).toMatchObject({ code: 0 });
      expect(received(here)).toEqual(['99000000']);
      expect(texts(here)).toEqual(['card 00000005']);
    });

    it('takes a value that the sheet hides for an empty one', async () => {
      const rows = [
        ['phone', 'card'],
        [99_000_000, styled(5, 12_345)],
      ];
      const here = workbookDesk({ formats, sheets: [{ rows }] });
      expect(await here.run("sms bulk list.xlsx --text '{card}' --yes")).toMatchObject(
        saying(8, 'list.xlsx!Sheet1:B2: card: is empty, but the message uses it'),
      );
    });

    it('names columns by what their cells hold', async () => {
      const rows = [
        ['phone', styled(1, 2026)],
        [99_000_000, 'a'],
      ];
      const here = workbookDesk({ formats, sheets: [{ rows }] });
      expect(await here.run("sms bulk list.xlsx --text '{2026}' --yes")).toMatchObject({ code: 0 });
      expect(texts(here)).toEqual(['a']);
    });
  });

  it('says the sheet in the figures of --dry-run', async () => {
    const { stdout } = await workbookDesk({ sheets: [july] }).run(`${line} --dry-run --json`);
    const figures = { to_column: 'phone', sheet: 'July', delimiter: null, recipients: 2 };
    expect(JSON.parse(stdout)).toMatchObject(figures);
  });
});
