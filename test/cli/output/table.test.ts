import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { card, type TableStyle } from '../../../src/cli/output/card.js';
import { fittedWidths, totalWidth } from '../../../src/cli/output/fit.js';
import { table } from '../../../src/cli/output/table.js';
import { field, type View } from '../../../src/cli/output/view.js';
import { painter, plain } from '../../../src/cli/terminal/colour.js';
import { cpuTime } from '../../support/cpu-time.js';

interface Row {
  name: string;
  size: number;
  status: string;
}
const { columns }: View<Row> = {
  columns: [field('name'), field('size', { kind: 'number' }), field('status', { kind: 'status' })],
  record: (row) => row,
};
const pipe: TableStyle = { paint: plain, header: true, width: null, mask: false };
const rows = (names: string[]): Row[] => names.map((name, index) => ({ name, size: index, status: 'sent' }));

const scripts = [
  ['Latin', 'Sukhbaatar'],
  ['Cyrillic', 'Өлзийсайхан'],
  ['Cyrillic with marks of its own', 'а\u0483бы\u0487'],
  ['combining', 'e\u0301о\u0301'],
  ['Chinese', '蒙古国'],
  ['half-width Katakana', 'ﾓﾝｺﾞﾙ'],
  ['full-width digits', '９９１１'],
  ['Mongolian with a variation selector', 'ᠮᠣᠩᠭᠣᠯ\u180b'],
  ['Devanagari', 'हिन्दी'],
  ['emoji', '👍🏽🇲🇳❤️'],
  ['a newer emoji', '\u{1fae0}\u{1fae8}'],
  ['a sign', '₮ № — …'],
  ['private use', '\ue000\ue001x\ue001'],
  ['nothing', ''],
] as const;

describe('a table', () => {
  it('shortens a text on a terminal only, where a pipe is searched for all of it', async () => {
    const short = [{ ...field<Row>('name'), short: ({ name }: Row) => `${name.slice(0, 3)}…` }];
    expect(await table(short, rows(['customers.csv']), pipe)).toBe('NAME\ncustomers.csv\n');
    expect(await table(short, rows(['customers.csv']), { ...pipe, width: 80 })).toBe('NAME\ncus…\n');
  });

  it.each(scripts)('lines up %s', async (_, text) => {
    const printed = await table(columns, rows([text, 'x', text + text]), pipe);
    const lines = printed.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]?.startsWith(text)).toBe(true);
    expect(lines[3]?.startsWith(text + text)).toBe(true);
    const places = lines.slice(1).map((line) => stringWidth(line.slice(0, line.indexOf('sent'))));
    expect(new Set(places).size).toBe(1);
  });

  it('lines up all scripts together, in any number of rows, as one table', async () => {
    const names = Array.from({ length: 30 }, () => scripts.map(([, text]) => text)).flat();
    const lines = (await table(columns, rows(names), pipe)).trimEnd().split('\n');
    expect(lines).toHaveLength(names.length + 1);
    expect(new Set(lines.slice(1).map((line) => stringWidth(line.slice(0, line.indexOf('sent'))))).size).toBe(
      1,
    );
    for (const [index, name] of names.entries()) expect(lines[index + 1]?.startsWith(name)).toBe(true);
  });

  it('has no border, no colour of its own, and no space at the end of a line', async () => {
    expect(await table(columns, rows(['a', 'bb']), pipe)).toBe(
      'NAME  SIZE  STATUS\na        0  sent\nbb       1  sent\n',
    );
    expect(await table(columns, [], pipe)).toBe('');
  });

  it('takes a time that grows with its rows', async () => {
    const started = cpuTime();
    await table(columns, rows(Array.from({ length: 10_000 }, (_, index) => `name ${index}`)), pipe);
    expect(cpuTime() - started).toBeLessThan(6_000);
  });

  it('is painted around the text, so that colours do not move anything', async () => {
    const coloured = await table(columns, rows(['蒙古', 'b']), { ...pipe, paint: await painter(true) });
    expect(coloured).toContain('\u001b[1mNAME\u001b[22m');
    expect(coloured).toContain('\u001b[32msent\u001b[39m');
    const bare = await table(columns, rows(['蒙古', 'b']), pipe);
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(bare);
  });
});

describe('a table on a narrow terminal', () => {
  interface Check {
    check: string;
    status: string;
    hint: string | null;
    detail: string;
  }
  const checks: View<Check>['columns'] = [
    field('check'),
    field('status', { kind: 'status' }),
    field('hint'),
    field('detail'),
  ];
  const path = '/home/bat/.config/urtuu/config.json';
  const found: Check[] = [
    { check: 'node', status: 'ok', hint: null, detail: 'v22.20.0' },
    { check: 'config', status: 'ok', hint: null, detail: `${path}, 2 profiles, private to this user` },
    { check: 'clock', status: 'warning', hint: null, detail: '蒙古国 '.repeat(80) },
  ];
  const at = async (width: number, rows = found, style = {}) =>
    (await table(checks, rows, { ...pipe, width, ...style })).trimEnd().split('\n');

  it('leaves out empty columns, then wraps the widest, under itself', async () => {
    expect(await at(80, found.slice(0, 2))).toEqual([
      'CHECK   STATUS  DETAIL',
      'node    ok      v22.20.0',
      `config  ok      ${path}, 2 profiles, private to this`,
      '                user',
    ]);
  });

  it('shows five lines of a text, and that there are more', async () => {
    for (const width of [40, 80]) {
      const lines = await at(width, found.slice(2));
      expect(lines).toHaveLength(6);
      expect(lines[5]).toMatch(/蒙古国 …$/);
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('keeps the words of the last column whole, over the edge', async () => {
    expect((await at(40)).join('\n')).toContain(`${path},\n`);
  });

  interface Job {
    job: string;
    created: string;
    credits: number;
    state: string;
  }
  const jobs: View<Job>['columns'] = [
    field('job'),
    field('created', { kind: 'time', spare: true }),
    field('credits', { kind: 'number' }),
    field('state'),
  ];
  const list: Job[] = [
    { job: 'clinic-november', created: '2026-11-21T08:00:00', credits: 90, state: 'stopped: 12 in doubt' },
  ];
  const jobsAt = async (width: number, shown = jobs) =>
    (await table(shown, list, { ...pipe, width })).trimEnd().split('\n');

  it('leaves out what can be spared, and keeps a number beside its unit', async () => {
    expect(await jobsAt(60)).toEqual([
      'JOB              CREATED              CREDITS  STATE',
      'clinic-november  2026-11-21 08:00:00       90  stopped:',
      '                                               12 in doubt',
    ]);
    expect(await jobsAt(40)).toEqual([
      'JOB              CREDITS  STATE',
      'clinic-november       90  stopped: 12 in',
      '                          doubt',
    ]);
  });

  it('breaks times between date and hour before it turns into cards', async () => {
    const kept = jobs.map((column) => ({ ...column, spare: false }));
    expect((await jobsAt(50, kept)).slice(1)).toEqual([
      'clinic-november  2026-11-21        90  stopped:',
      '                 08:00:00              12 in doubt',
    ]);
    expect((await jobsAt(30, kept))[0]).toBe('job      clinic-november');
  });

  it('gives an id a line of its own in a card that would break it', async () => {
    const id = '01a1dbd3-4b2b-7000-9152-80051b35d1ef';
    const lines = await card([field<{ id: string }>('id')], { id }, { ...pipe, width: 39 });
    expect(lines).toBe(`id\n  ${id}\n`);
    expect(await card([field<{ id: string }>('id')], { id }, { ...pipe, width: 40 })).toBe(`id  ${id}\n`);
  });

  it('turns into cards where a text would be too narrow', async () => {
    expect((await at(24))[0]).toBe('check   node');
    expect((await at(28, found, { header: false }))[0]).toBe('node    ok       v22.20.0');
  });

  it('does not touch statuses, numbers, recipients and times', async () => {
    const wide = [{ name: 'a b c', size: 1, status: 'all the words of a status that is long' }];
    expect((await table(columns, wide, { ...pipe, width: 40 })).split('\n')[0]).toBe('name    a b c');
  });

  it('never widens a column, narrows none below its least, and fits or gives up', () => {
    const extent = fc
      .tuple(fc.nat(100), fc.nat(60))
      .map(([width, min]) => ({ width, min: Math.min(width, min) }));
    fc.assert(
      fc.property(fc.array(extent, { minLength: 1, maxLength: 8 }), fc.nat(200), (extents, room) => {
        const widths = fittedWidths(extents, room);
        const least = totalWidth(extents.map(({ min }) => min));
        if (widths === null) {
          expect(least).toBeGreaterThan(room);
          return;
        }
        expect(totalWidth(widths)).toBeLessThanOrEqual(room);
        for (const [index, { width, min }] of extents.entries()) {
          expect(widths[index]).toBeLessThanOrEqual(width);
          expect(widths[index]).toBeGreaterThanOrEqual(min);
        }
        // No room is wasted.
        const total = totalWidth(extents.map(({ width }) => width));
        expect(totalWidth(widths)).toBe(Math.min(total, room));
      }),
    );
  });
});

describe('a card', () => {
  const long = {
    name: `Check the key with urtuu doctor, ${'or sign in again, '.repeat(5)}`,
    size: 1,
    status: 'ok',
  };

  it('breaks long values between words, under each other', async () => {
    const printed = await card(columns, long, { ...pipe, width: 40 });
    const lines = printed.split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect(lines[1]).toMatch(/^ {8}\S/);
    expect(printed.replace(/\s+/g, ' ')).toContain(long.name.trim());
  });

  it('never breaks a word: a command, a path or an id can be copied', async () => {
    const path = `/home/${'x'.repeat(100)}/config.json`;
    const printed = await card(
      columns,
      { ...long, name: `Run: chmod 600 ${path} now` },
      { ...pipe, width: 40 },
    );
    expect(printed).toContain(path);
  });

  it('is as wide as it is on a pipe', async () => {
    expect((await card(columns, long, pipe)).split('\n')).toHaveLength(4);
  });
});
