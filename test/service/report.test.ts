import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/service/clock.js';
import { createReport, type Fault } from '../../src/service/report.js';

function reported(error: unknown, about?: Parameters<ReturnType<typeof createReport>>[1]): Fault[] {
  const faults: Fault[] = [];
  const report = createReport(new ManualClock(Date.UTC(2026, 2, 2)), (fault) => faults.push(fault));
  report(error, about);
  return faults;
}
const headOf = (error: unknown) => reported(error)[0]?.stack.split('\n')[0];

describe('a fault', () => {
  it('has time, level, request id, code and stack', () => {
    const error = Object.assign(new RangeError('the disk is full'), { code: 'ENOSPC' });
    expect(reported(error, { requestId: 'r1' })).toEqual([
      {
        time: '2026-03-02T00:00:00.000Z',
        level: 'error',
        request_id: 'r1',
        code: 'ENOSPC',
        stack: expect.stringMatching(/^RangeError: the disk is full\n +at .*report\.test\.ts/),
      },
    ]);
  });

  it('has the code of a database, which looks like a number', () => {
    expect(reported(Object.assign(new Error('no'), { code: '57014' }))[0]?.code).toBe('57014');
  });

  it('names its causes', () => {
    const error = new Error('not settled', { cause: new TypeError('no such column: lease') });
    const [fault] = reported(error, { level: 'warning' });
    expect(fault).toMatchObject({ level: 'warning', request_id: null, code: 'Error' });
    expect(fault?.stack).toMatch(
      /^Error: not settled\n[\s\S]*\ncaused by TypeError: no such column: lease\n/,
    );
  });

  it('shows no line of its message as a frame', () => {
    const [fault] = reported(new Error('bad\n    at Сайн уу\n'));
    expect(fault?.stack.match(/Сайн/g)).toHaveLength(1);
    expect(fault?.stack).toMatch(/\n +at .*report\.test\.ts/);
  });

  it('without an end in its causes has one itself', () => {
    const error = new Error('a');
    error.cause = error;
    expect(reported(error)[0]?.stack.split('caused by')).toHaveLength(6);
  });

  it.each([
    ['a key', 'no key urtuu_0123456789abcdefghijABCDEFGHIJ0123456789', 'Error: no key …'],
    ['a number', 'cannot reach 99112233', 'Error: cannot reach …'],
    ['a number as people write it', 'cannot reach +976 9911-2233 now', 'Error: cannot reach … now'],
    ['an address', 'cannot reach Bat <bat.dorj@example.mn>', 'Error: cannot reach Bat …'],
    ['a code', 'wrong: 4711', 'Error: wrong: …'],
    [
      'a text in quotes',
      `Unexpected token 'С', "Сайн уу" is not valid JSON`,
      'Error: Unexpected token …, … is not valid JSON',
    ],
    ['a text in other quotes', 'no “Сайн”, «уу» or `you`', 'Error: no …, … or …'],
  ])('does not show %s', (_, message, shown) => expect(headOf(new Error(message))).toBe(shown));

  it('shows ids and names of properties', () => {
    const message = "message 01990000-0000-7000-8000-000000000001 (reading 'to') of 2000 rows at 12:30";
    expect(headOf(new Error(message))).toBe(
      "Error: message 01990000-0000-7000-8000-000000000001 (reading 'to') of … rows at 12:30",
    );
  });

  it('shows processes of a database, which its owner may have to end', () => {
    const message =
      'held by PostgreSQL process 31337 of the role bob, not by process 4711 or PostgreSQL process 99112233';
    expect(headOf(new Error(message))).toBe(
      'Error: held by PostgreSQL process 31337 of the role bob, not by process … or PostgreSQL process …',
    );
  });

  it.each([['Сайн уу 99112233'], [{ text: 'Сайн уу' }], [undefined], [null], [7]])(
    'that is no error shows nothing of its value: %j',
    (value) => {
      const [fault] = reported(value);
      expect(fault?.stack).toMatch(/^thrown: a value of type \w+, not an Error$/);
      expect(JSON.stringify(fault)).not.toMatch(/Сайн|99112233/);
    },
  );

  it('goes to standard error where it cannot be told', () => {
    const lines: string[] = [];
    const write = vi
      .spyOn(process.stderr, 'write')
      .mockImplementation((line) => lines.push(String(line)) > 0);
    const report = createReport(new ManualClock(), () => {
      throw new RangeError('the log is full');
    });
    report(new Error('disk full'));
    write.mockRestore();
    const stacks = lines.map((line) => (JSON.parse(line) as Fault).stack);
    expect(stacks).toMatchObject([
      expect.stringMatching(/^Error: disk full/),
      expect.stringMatching(/^RangeError/),
    ]);
  });

  it('is told once, however often it ends something', () => {
    const faults: Fault[] = [];
    const report = createReport(new ManualClock(), (fault) => faults.push(fault));
    const error = new Error('disk full');
    for (let message = 0; message < 2_000; message += 1) report(error);
    report(new Error('disk full'));
    expect(faults).toHaveLength(2);
  });
});
