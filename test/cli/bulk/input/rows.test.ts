import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { delimiterNamed } from '../../../../src/cli/bulk/input/delimiter.js';
import { buildPlan } from '../../../../src/cli/bulk/plan/build-plan.js';
import { plan, planned, quickDisk, refusal, requestsOf, rowsOf, temporaryFolder } from '../plans.js';

const to = async (csv: string, options = {}) =>
  (await requestsOf(await plan(csv, options))).flatMap((request) => request.to);

describe('delimiters', () => {
  it.each([',', ';', '\t', '|'])('%j is read off the header', async (mark) => {
    const outcome = await plan(
      ['phone,name', '99112233,"a;b|c\td,e"'].join('\n').replace(/,(?=\S+$|")/gm, mark),
    );
    expect(outcome.delimiter).toBe(mark);
    expect((await requestsOf(outcome))[0]?.to).toEqual(['99112233']);
  });
  it('quotes in the header are respected', async () => {
    expect((await plan('"a,b,c,\nd";phone\nx;99112233\n')).delimiter).toBe(';');
  });
  it('a sep= line is no row', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      for (const blockBytes of [1, 2, 100]) {
        const outcome = await plan(`sep=;${end}phone;a,b,c${end}99112233;x${end}9;x${end}`, {
          blockBytes,
          skipInvalid: true,
        });
        expect((await requestsOf(outcome))[0]?.lines).toEqual([3]);
        expect(outcome.rejects.first[0]).toMatch(/^list\.csv:4: phone: "9" /);
      }
    }
  });
  it('one that is named is taken', async () => {
    expect(await to('phone;a,b,c\n99112233;x\n', { delimiter: delimiterNamed('semicolon') ?? ',' })).toEqual([
      '99112233',
    ]);
  });
  it.each([
    ['phone;na,me\n', /ambiguous delimiter: , and ;/],
    ['sep=#\nphone\n', /unknown delimiter: sep=#/],
  ])('%j is refused', async (csv, message) => {
    expect(await refusal(csv)).toMatchObject({ kind: 'delimiter', message: expect.stringMatching(message) });
  });
});

describe('a row for the header', () => {
  it.each([1, 2, 3, 1_000])('lies below a title, in blocks of %i', async (blockBytes) => {
    for (const end of ['\n', '\r\n', '\r']) {
      const csv = ['List of "July, 2026",,,', '', 'phone;name', '99112233;a,b,c', '9;x', ''].join(end);
      const outcome = await plan(csv, { headerRow: 3, blockBytes, skipInvalid: true });
      expect(outcome.delimiter).toBe(';');
      expect(await requestsOf(outcome)).toMatchObject([{ to: ['99112233'], lines: [4] }]);
      expect(outcome.rejects.first).toEqual(['list.csv:5: phone: "9" is not a phone number']);
      expect((await rowsOf(outcome)).map(({ line }) => line)).toEqual([4, 5]);
    }
  });

  it('may be the first', async () => {
    expect(await to('phone\n99112233\n', { headerRow: 1 })).toEqual(['99112233']);
  });

  it('beyond the end is an empty file', async () => {
    for (const end of ['', '\n', '\r\n', '\r'])
      expect(await refusal(`phone\n99112233${end}`, { headerRow: 9 })).toMatchObject({ kind: 'empty' });
  });

  it.each([
    ['Утасны жагсаалт 2026\nphone,name\n99112233,a\n', {}],
    ['Утасны жагсаалт 2026,,\nphone,name,x\n99112233,a,b\n', {}],
    ['Жагсаалт\nphone,name\n', { toColumn: 'phone' }],
    ['phone\n99112233\n', { text: 'Hi {name}' }],
  ])('is named where the first row has one cell: %j', async (csv, options) => {
    expect(await refusal(csv, options)).toMatchObject({
      hint: expect.stringMatching(/ If a later row names the columns, add --header-row with its number\.$/),
    });
  });

  it.each(['name,x\n', 'phone,name,name\n'])('is not named for %j', async (csv) => {
    expect(await refusal(csv)).toMatchObject({ hint: expect.not.stringContaining('--header-row') });
  });
});

describe('line ends and line numbers', () => {
  it.each([1, 2, 3, 1_000])('CRLF, LF and CR in any mixture, in blocks of %i', async (blockBytes) => {
    const csv = 'phone,name\r\n99112233,a\r88112233,b\n\n80112233,c\r\n\r\n86112233,d\r\r89112233,e';
    const outcome = await plan(csv, { blockBytes });
    expect(await requestsOf(outcome)).toMatchObject([
      { to: ['99112233', '88112233', '80112233', '86112233', '89112233'], lines: [2, 3, 5, 7, 9] },
    ]);
  });
  it.each([1, 5, 1_000])('quoted line ends count as lines, in blocks of %i', async (blockBytes) => {
    const csv =
      '"phone","no\r\nte"\r\n99112233,"a\r\nb\r\n\r\nc"\r\n88112233,"a\nb\rc"\r\n9,x\r\n80112233,y\r\n';
    const outcome = await plan(csv, { blockBytes, skipInvalid: true });
    expect((await requestsOf(outcome))[0]?.lines).toEqual([3, 7, 11]);
    expect(outcome.rejects.first).toEqual(['list.csv:10: phone: "9" is not a phone number']);
    expect((await rowsOf(outcome)).map(({ line }) => line)).toEqual([3, 7, 10, 11]);
  });
});

describe('rows that are not as the header says', () => {
  it('blank rows and empty fields beyond the header are no error', async () => {
    const outcome = await plan('phone;name\n\n99112233;a;;;\n;\n;;;;\n \u00a0;\t\n88112233;b\n;;;;\n');
    expect((await requestsOf(outcome))[0]?.lines).toEqual([3, 7]);
    expect((await rowsOf(outcome)).map(({ values }) => values)).toEqual([
      ['99112233', 'a'],
      ['88112233', 'b'],
    ]);
  });
  it('too many fields are', async () => {
    const outcome = await plan('phone,name,note\n99112233,a\n88112233,b,c,d\n80112233,e,f\n');
    expect(outcome.plan).toBeNull();
    expect(outcome.rejects.first).toEqual(['list.csv:3: note: the row has 4 fields, the header has 3']);
  });
  it.each([
    ['phone,name\n99112233,"a\n88112233,b\n', 2, /unclosed quote/],
    ['phone,name\n99112233,a\n88112233,"b" c\n', 3, /text after a closing quote/],
  ])('%j cannot be read on', async (csv, line, message) => {
    expect(await refusal(csv, { skipInvalid: true })).toMatchObject({
      kind: 'csv',
      line,
      message: expect.stringMatching(message),
    });
  });
  it.each(['', '\n\n', 'phone,name\n', 'phone,name\r\n\r\n,,\r\n', '\ufeff'])(
    '%j has no recipients',
    async (csv) => {
      expect(await refusal(csv)).toMatchObject({ kind: 'empty', message: 'list.csv: no recipients' });
    },
  );
  it('a quote that is never closed does not take the memory', async () => {
    let read = 0;
    async function* endless() {
      yield Buffer.from('phone,name\n99112233,"');
      for (; read < 100_000_000; read += 65_536) yield Buffer.alloc(65_536, 'a');
    }
    const input = { bytes: endless(), source: '-' };
    const folder = join(temporaryFolder(), 'plan');
    const base = {
      channel: 'sms',
      baseUrl: '',
      templates: { text: 'x' },
      createdAt: '',
      pricing: null,
    } as const;
    await expect(buildPlan(input, { ...base, folder, disk: quickDisk })).rejects.toMatchObject({
      message: 'standard input:2: row over 2,000,000 characters',
    });
    expect(read).toBeLessThan(3_000_000);
  });
});

describe('a bad row', () => {
  const csv = 'phone,name\n99112233,Bat\n9911,Dorj\n88112233,\n+976 8011 2233,"=1+1"\n';
  it('stops the planning, and is reported with all others', async () => {
    const folder = temporaryFolder();
    const rejects = { folder, name: 'list' };
    const outcome = await plan(csv, { text: 'Hi {name}', folder: join(folder, 'plan'), rejects });
    const rejectsFile = outcome.rejects.file ?? '';
    expect(rejectsFile).toMatch(/[/\\]list-[0-9a-f]{12}\.csv$/);
    expect(outcome.plan).toBeNull();
    expect(outcome.rejects).toEqual({
      count: 2,
      quoted: ['9911'],
      first: [
        'list.csv:3: phone: "9911" is not a phone number',
        'list.csv:4: name: is empty, but the message uses it',
      ],
      rows: [
        { line: 3, column: 'phone', value: '9911', message: '"9911" is not a phone number' },
        { line: 4, column: 'name', value: '', message: 'is empty, but the message uses it' },
      ],
      file: join(folder, basename(rejectsFile)),
    });
    expect(readFileSync(rejectsFile, 'utf8').split('\r\n')).toEqual([
      'phone,name,line,error',
      '9911,Dorj,3,"phone: ""9911"" is not a phone number"',
      '88112233,,4,"name: is empty, but the message uses it"',
      '',
    ]);
  });
  it('is left out with skipInvalid', async () => {
    const outcome = await plan(csv, { text: 'Hi {name}', skipInvalid: true });
    expect((await requestsOf(outcome)).map(({ body }) => body)).toEqual([
      '{"to":"99112233","text":"Hi Bat"}',
      '{"to":"80112233","text":"Hi =1+1"}',
    ]);
    expect(outcome.meta).toMatchObject({ recipients: 2, rejected: 2, repaired: 1 });
    expect(await rowsOf(outcome)).toEqual([
      { line: 2, values: ['99112233', 'Bat'], place: { request: 0, index: 0 }, error: null },
      { line: 3, values: ['9911', 'Dorj'], place: null, error: 'phone: "9911" is not a phone number' },
      { line: 4, values: ['88112233', ''], place: null, error: 'name: is empty, but the message uses it' },
      { line: 5, values: ['+976 8011 2233', '=1+1'], place: { request: 1, index: 0 }, error: null },
    ]);
  });
  it('says everything that is wrong with it', async () => {
    const outcome = await plan('phone,a,b\n9,,\n', { text: '{a}{b}' });
    expect(outcome.rejects.first).toEqual([
      'list.csv:2: phone: "9" is not a phone number; a: is empty, but the message uses it; b: is empty, but the message uses it',
    ]);
  });
  it('keeps a line and an error of its own', async () => {
    const { rejects } = await plan('line,phone,error\n4,9911,E7\n');
    expect(readFileSync(rejects.file ?? '', 'utf8').split('\r\n')).toEqual([
      'line,phone,error,urtuu_line,urtuu_error',
      '4,9911,E7,2,"phone: ""9911"" is not a phone number"',
      '',
    ]);
  });
  it.each(['L7,E42', '7,E42', '7,', 'L7,phone: x'])('keeps them at its end, too: %s', async (own) => {
    const { rejects } = await plan(`phone,line,error\n9911,${own}\n`);
    expect(readFileSync(rejects.file ?? '', 'utf8').split('\r\n')).toEqual([
      'phone,line,error,urtuu_line,urtuu_error',
      `9911,${own},2,"phone: ""9911"" is not a phone number"`,
      '',
    ]);
  });
  it.each(['phone: x', '"same recipient as line 3, with another message"', 'phone: x,more'])(
    'takes the place of the rejects file that it comes from: %s',
    async (error) => {
      const { rejects } = await plan(`phone,line,error\n9911,7,${error}\n9922,9,\n`);
      const [names, row] = readFileSync(rejects.file ?? '', 'utf8').split('\r\n');
      expect(names).toBe('phone,line,error');
      expect(row).toMatch(/^9911,(?:2,"phone: ""9911""|more,2,"error: the row has 4 fields)/);
    },
  );
  it('may have line separators, which end no line of its record', async () => {
    const outcome = await plan('phone\n"9\u20288"\n7\n');
    expect(outcome.rejects.first).toEqual([
      'list.csv:2: phone: "9\\u20288" is not a phone number',
      'list.csv:3: phone: "7" is not a phone number',
    ]);
  });
  it('plans nothing when every row is bad', async () => {
    const outcome = await plan('phone\n9\n8\n', { skipInvalid: true });
    expect(outcome).toMatchObject({ plan: null, rejects: { count: 2 } });
  });
  it.each([
    ...[
      '#N/A',
      '#REF!',
      '#VALUE!',
      '#DIV/0!',
      '#NAME?',
      '#NULL!',
      '#NUM!',
      '#SPILL!',
      '#CALC!',
      '#GETTING_DATA',
      '#ERROR!',
    ],
    ...[
      '#Н/Д',
      '#ЗНАЧ!',
      '#ССЫЛКА!',
      '#ДЕЛ/0!',
      '#ИМЯ?',
      '#ЧИСЛО!',
      '#ПУСТО!',
      '#NV',
      '#WERT!',
      '#BEZUG!',
      '#¡REF!',
    ],
    ...['Err:502', 'Ошибка:508', '########', '\\N', '#n/a', ' #N/A ', '\ufeff#N/A'],
  ])('has %j in a column that the message uses, and none in others', async (cell) => {
    const csv = `phone,name,amount\n99112233,Bat,${cell}\n`;
    expect((await plan(csv, { text: 'Hi {amount}' })).rejects.first).toEqual([
      `list.csv:2: amount: ${cell.trim()} is an error, not a value`,
    ]);
    expect((await plan(csv, { text: 'Hi {name}' })).rejects.first).toEqual([]);
  });
  it.each(['#1', '#Улаанбаатар', '# 5', '##', 'No error', 'Error', '\\n', 'N', 'Err', '-'])(
    'is none for %j, which may be a value',
    async (cell) => {
      const csv = `phone,amount\n99112233,${cell}\n`;
      expect((await plan(csv, { text: 'Hi {amount}' })).rejects.first).toEqual([]);
    },
  );
  it('is formula-safe in the rejects file, which can be read again', async () => {
    const bad = await plan("phone,name\n9,=1+1\n8,-5\n7,'=x\n6,'y\n", { text: '{name}' });
    const rejected = readFileSync(bad.rejects.file ?? '', 'utf8');
    expect(rejected).toContain("9,'=1+1,2,");
    const again = await plan(rejected.replace(/^(\d),/gm, '9911223$1,'), {
      text: '{name}',
      source: 'rejects.csv',
    });
    expect((await requestsOf(again)).map(({ body }) => JSON.parse(body).text)).toEqual([
      '=1+1',
      '-5',
      "'=x",
      "'y",
    ]);
  });
});

describe('--only reads the status column of a report', () => {
  const report =
    'phone,name,message_id,batch_id,status,error_code,credits,line\r\n' +
    "99112233,Bat,,,failed,provider_failed,0,2\r\n88112233,'-5,,,sent,,10,3\r\n80112233,'=x,,,Failed,,0,4\r\n9,x,,,sent,,0,5\r\n";
  it('and plans just those rows', async () => {
    const outcome = await plan(report, { only: ['failed'], text: 'Hi {name}' });
    expect((await requestsOf(outcome)).map(({ body }) => body)).toEqual([
      '{"to":"99112233","text":"Hi Bat"}',
      '{"to":"80112233","text":"Hi =x"}',
    ]);
    expect(outcome).toMatchObject({ leftOut: { only: 2 }, rejects: { count: 0 } });
    expect((await rowsOf(outcome)).map(({ line }) => line)).toEqual([2, 4]);
  });
  it('needs that column, and a row that has one', async () => {
    expect(await refusal('phone\n99112233\n', { only: ['failed'] })).toMatchObject({ kind: 'columns' });
    expect(await refusal(report, { only: ['rejected', 'pending'] })).toMatchObject({
      message: 'list.csv: no row has the status rejected or pending',
    });
  });
});

it('the folder holds no more than the plan', async () => {
  const { readdirSync } = await import('node:fs');
  const { folder } = planned(await plan('phone\n99112233\n'));
  expect(readdirSync(folder).sort()).toEqual([
    'bodies',
    'chunks',
    'errors',
    'input.csv',
    'lines',
    'places',
    'plan.json',
  ]);
});
