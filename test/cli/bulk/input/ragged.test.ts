import { describe, expect, it } from 'vitest';
import { plan, refusal, requestsOf, rowsOf } from '../plans.js';
import { workbook } from './workbook/write-workbook.js';

const sent = async (...planned: Parameters<typeof plan>) =>
  (await requestsOf(await plan(...planned))).map(({ body }) => JSON.parse(body));
const firstOf = async (...planned: Parameters<typeof plan>) => (await plan(...planned)).rejects.first;

describe('rows without their last fields', () => {
  it.each([1, 2, 1_000])('have empty ones, and are counted, in blocks of %i', async (blockBytes) => {
    for (const end of ['\n', '\r\n', '\r']) {
      const csv = ['phone,name,note', '99112233', '88112233,Бат', '80112233,"a,b"', '86112233,x,y', ''].join(
        end,
      );
      const outcome = await plan(csv, { blockBytes });
      expect(outcome.unread).toEqual({ columns: 0, shortRows: 3 });
      expect((await rowsOf(outcome)).map(({ values }) => values)).toEqual([
        ['99112233', '', ''],
        ['88112233', 'Бат', ''],
        ['80112233', 'a,b', ''],
        ['86112233', 'x', 'y'],
      ]);
    }
  });

  it.each(['88112233,Б', '88112233,"Бат"', '88112233'])(
    'are cut off at the end of a file without a line end: %s',
    async (last) => {
      for (const blockBytes of [1, 3, 1_000]) {
        const csv = `phone,name,note\n99112233,Бат\n${last}`;
        const outcome = await plan(csv, { skipInvalid: true, blockBytes });
        expect((await requestsOf(outcome))[0]?.to).toEqual(['99112233']);
        const fields = last.includes(',') ? 'name: the row has 2 fields' : 'phone: the row has 1 field';
        expect(outcome.rejects.first).toEqual([
          `list.csv:3: ${fields}, the header has 3, and its line has no end: the file may be cut off`,
        ]);
        expect((await plan(`${csv}\n`, { blockBytes })).unread.shortRows).toBe(2);
      }
    },
  );

  it('are bad if the message uses one', async () => {
    expect(await firstOf('phone,name\n99112233\n', { text: '{name}' })).toEqual([
      'list.csv:2: name: is empty, but the message uses it',
    ]);
  });
});

describe('columns without a name', () => {
  it.each<[string, string, number]>([
    ['a delimiter at the end of every line', 'phone;name;\r99112233;Бат;\r88112233;Дорж;\r', 1],
    ['of some lines', 'phone,name,,\n99112233,Бат\n88112233,Дорж,,,,\n', 2],
    ['one between others', 'phone,,name\n99112233,,Бат\n88112233, ,Дорж\n', 1],
    ['the index of pandas', ',phone,name\n0,99112233,Бат\n1,88112233,Дорж\n', 1],
    ['that of R', '"","phone","name"\n"1","99112233","Бат"\n"2","88112233","Дорж"\n', 1],
    ['an index of two levels', ',,phone,name\na,0,99112233,Бат\n,1,88112233,Дорж\n', 2],
  ])('are left out, and counted: %s', async (_, csv, columns) => {
    for (const blockBytes of [1, 1_000]) {
      const outcome = await plan(csv, { text: 'Сайн уу {name}', blockBytes });
      expect(outcome.unread).toEqual({ columns, shortRows: 0 });
      expect(outcome.meta.columns).toEqual(['phone', 'name']);
      expect((await requestsOf(outcome)).map(({ body }) => JSON.parse(body))).toEqual([
        { to: '99112233', text: 'Сайн уу Бат' },
        { to: '88112233', text: 'Сайн уу Дорж' },
      ]);
      expect((await rowsOf(outcome)).map(({ values }) => values.length)).toEqual([2, 2]);
    }
  });

  it.each([
    [
      'phone,amount,\n88112233,700,\n99112233,1,500\n',
      'list.csv:3: column 3: the column has no name in the header',
    ],
    [
      'amount,,phone\n700,,88112233\n1,500,99112233\n',
      'list.csv:3: column 2: the column has no name in the header',
    ],
    [
      ',phone,amount\n0,88112233,700\n1,99112233,1,500\n',
      'list.csv:3: column 4: the column has no name in the header',
    ],
  ])('make a row bad that has a value in one, which may be a part of another: %s', async (csv, error) => {
    const outcome = await plan(csv, { text: '{amount}', skipInvalid: true });
    expect(outcome.rejects.first).toEqual([error]);
    expect((await requestsOf(outcome)).map(({ body }) => JSON.parse(body).text)).toEqual(['700']);
  });

  it('are those before the first name in a sheet too', async () => {
    const rows = [
      [null, 'phone', 'name'],
      [0, 99_112_233, 'Бат'],
      [1, 88_112_233, 'Дорж'],
    ];
    const outcome = await plan(workbook({ sheets: [{ rows }] }), { text: '{name}' });
    expect(outcome.unread).toEqual({ columns: 1, shortRows: 0 });
    expect((await requestsOf(outcome)).map(({ body }) => JSON.parse(body).text)).toEqual(['Бат', 'Дорж']);
  });
});

describe('quotes', () => {
  it.each([
    ['88112233,5" pipe', '5" pipe'],
    ['88112233,Зочид буудал "Чингис"', 'Зочид буудал "Чингис"'],
    ['88112233, "a, b"', 'a, b'],
    ['88112233,\t"a ""b"" c"', 'a "b" c'],
    ['88112233,\u00a0\ufeff"Бат"', 'Бат'],
    ['"88112233" , "Бат" ', 'Бат'],
    ['88112233,"  Бат "', 'Бат'],
    ['88112233,"""Бат"""', '"Бат"'],
    ['88112233,  " "" "', '"'],
  ])('%s has the text %j', async (row, name) => {
    for (const blockBytes of [1, 2, 3, 7, 1_000])
      for (const end of ['\n', '\r\n'])
        expect(
          await sent(`phone,name${end}${row}${end}99112233,"x${end}y"${end}`, {
            text: '[{name}]',
            blockBytes,
          }),
        ).toEqual([
          { to: '88112233', text: `[${name}]` },
          { to: '99112233', text: '[x\ny]' },
        ]);
  });

  it('within a name of the header are text', async () => {
    expect(await sent('phone,size 5",a;b\n99112233,x,y\n', { text: '{size 5"}' })).toEqual([
      { to: '99112233', text: 'x' },
    ]);
  });

  it.each([
    ['88112233,"b" c', 'list.csv:2: text after a closing quote'],
    ['88112233,"b" c\n80112233,x\n86112233,"a"b', 'list.csv:2: text after a closing quote; also in line 4'],
    [
      `80112233,x\n${'88112233,"b" c\n'.repeat(23)}`,
      `list.csv:3: text after a closing quote; also in lines ${Array.from({ length: 20 }, (_, at) => at + 4).join(', ')} and 2 more`,
    ],
    ['88112233,"b" c\n80112233,"d', 'list.csv:2: text after a closing quote'],
  ])('before text are an error that names every line: %j', async (rows, message) => {
    for (const blockBytes of [1, 1_000])
      expect(await refusal(`phone,name\n${rows}\n`, { skipInvalid: true, blockBytes })).toMatchObject({
        kind: 'csv',
        message,
        hint: 'Put quotes around the whole field, and double those inside it: "5"" pipe".',
      });
  });

  it('take a time that grows with them, not with their square', async () => {
    const before = process.cpuUsage();
    const fields = [' '.repeat(200_000), 'a'.repeat(200_000), `${' '.repeat(99)}a`];
    for (const field of fields) await plan(`phone,name\n99112233,${field}${'"'.repeat(400_000)}x\n`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(4);
  });
});

describe('a row for the header', () => {
  it.each([1, 2, 1_000])(
    'is counted in rows, whatever line ends are in them, in blocks of %i',
    async (blockBytes) => {
      for (const end of ['\n', '\r\n', '\r']) {
        const csv = ['"Жагсаалт', '2026, ""7"" сар";;', 'x "y;', 'phone;name', '99112233;a', '9;b', ''].join(
          end,
        );
        const outcome = await plan(csv, { headerRow: 3, blockBytes, skipInvalid: true });
        expect(await requestsOf(outcome)).toMatchObject([{ to: ['99112233'], lines: [5] }]);
        expect(outcome.rejects.first).toEqual(['list.csv:6: phone: "9" is not a phone number']);
      }
    },
  );

  it('lies below a title whose quote is never closed', async () => {
    expect(await sent('"Жагсаалт\nphone\n99112233\n', { headerRow: 2 })).toEqual([
      { to: '99112233', text: 'Hello' },
    ]);
  });
});

describe('a rejects file that has lost both of its columns', () => {
  it.each(['july.rejected.csv', 'folder/july.rejected-2.csv', 'state/rejects/july-0123456789ab.csv'])(
    'is known by its name, and has no guard in its texts: %s',
    async (source) => {
      const csv = "phone,amount\n99112233,\"'-5,000₮\"\n88112233,''=x\n";
      expect((await sent(csv, { source, text: '{amount}' })).map(({ text }) => text)).toEqual([
        '-5,000₮',
        "'=x",
      ]);
    },
  );
});
