import { constantFrom, integer, property, assert as propertyHolds } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isZone,
  parseHours,
  quietHoursOf,
  spanAt,
  untilOpenFor,
  wallTime,
} from '../../../src/service/quiet/quiet-hours.js';

const hour = 3_600_000;
const ofZone = (hours: string, zone = 'Asia/Ulaanbaatar') => {
  const read = quietHoursOf({ quiet_hours: hours, quiet_zone: zone });
  if (read === null) throw new Error(hours);
  return read;
};
const at = (iso: string) => Date.parse(iso);
const shown = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z');

describe('quiet hours', () => {
  // In Ulaanbaatar it is 8 hours later than UTC, all year. Berlin: on 2026-03-29 from 02:00 to 03:00, on 2026-10-25 from
  // 03:00 to 02:00. On Lord Howe half an hour. In Santiago at midnight: on 2026-09-06 from 24:00 to 01:00.
  it.each`
    hours            | zone                     | now                           | quiet    | until
    ${'21:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T12:59:59.999Z'} | ${false} | ${'2026-11-28T13:00:00Z'}
    ${'21:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T13:00:00Z'}     | ${true}  | ${'2026-11-29T00:00:00Z'}
    ${'21:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T16:00:00Z'}     | ${true}  | ${'2026-11-29T00:00:00Z'}
    ${'21:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T23:59:59.999Z'} | ${true}  | ${'2026-11-29T00:00:00Z'}
    ${'21:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-29T00:00:00Z'}     | ${false} | ${'2026-11-29T13:00:00Z'}
    ${'12:30-13:15'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T04:30:00Z'}     | ${true}  | ${'2026-11-28T05:15:00Z'}
    ${'12:30-13:15'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T05:15:00Z'}     | ${false} | ${'2026-11-29T04:30:00Z'}
    ${'00:00-23:59'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T15:59:30Z'}     | ${false} | ${'2026-11-28T16:00:00Z'}
    ${'00:00-08:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T16:00:00Z'}     | ${true}  | ${'2026-11-29T00:00:00Z'}
    ${'21:00-00:00'} | ${'Asia/Ulaanbaatar'}    | ${'2026-11-28T13:00:00Z'}     | ${true}  | ${'2026-11-28T16:00:00Z'}
    ${'21:00-08:00'} | ${'Europe/Berlin'}       | ${'2026-03-28T21:00:00Z'}     | ${true}  | ${'2026-03-29T06:00:00Z'}
    ${'21:00-08:00'} | ${'Europe/Berlin'}       | ${'2026-10-24T20:00:00Z'}     | ${true}  | ${'2026-10-25T07:00:00Z'}
    ${'21:00-02:30'} | ${'Europe/Berlin'}       | ${'2026-03-29T00:30:00Z'}     | ${true}  | ${'2026-03-29T01:00:00Z'}
    ${'02:00-03:00'} | ${'Europe/Berlin'}       | ${'2026-03-29T00:30:00Z'}     | ${false} | ${'2026-03-30T00:00:00Z'}
    ${'02:30-08:00'} | ${'Europe/Berlin'}       | ${'2026-03-29T00:30:00Z'}     | ${false} | ${'2026-03-29T01:00:00Z'}
    ${'21:00-02:30'} | ${'Europe/Berlin'}       | ${'2026-10-25T00:00:00Z'}     | ${true}  | ${'2026-10-25T00:30:00Z'}
    ${'21:00-02:30'} | ${'Europe/Berlin'}       | ${'2026-10-25T00:30:00Z'}     | ${false} | ${'2026-10-25T01:00:00Z'}
    ${'21:00-02:30'} | ${'Europe/Berlin'}       | ${'2026-10-25T01:00:00Z'}     | ${true}  | ${'2026-10-25T01:30:00Z'}
    ${'21:00-08:00'} | ${'Australia/Lord_Howe'} | ${'2026-10-03T12:00:00Z'}     | ${true}  | ${'2026-10-03T21:00:00Z'}
    ${'22:00-00:30'} | ${'America/Santiago'}    | ${'2026-09-06T03:00:00Z'}     | ${true}  | ${'2026-09-06T04:00:00Z'}
  `('$hours in $zone: at $now quiet $quiet, until $until', ({ hours, zone, now, quiet, until }) => {
    const span = spanAt(ofZone(hours, zone), at(now));
    expect([span.isQuiet, shown(span.until)]).toEqual([quiet, until]);
    expect(span.since).toBeLessThanOrEqual(at(now));
  });

  it('are quiet at a moment exactly when a clock on the wall is between them, in every zone and night', () => {
    const zones = [
      'Asia/Ulaanbaatar',
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/St_Johns',
      'Asia/Kathmandu',
    ];
    const minutes = integer({ min: 0, max: 1_439 });
    const start = at('2026-01-01T00:00:00Z');
    const written = (minute: number) =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    const times = integer({ min: 0, max: 366 * 24 * 60 });
    propertyHolds(
      property(constantFrom(...zones), minutes, minutes, times, (zone, from, to, minute) => {
        if (from === to) return;
        const now = start + minute * 60_000;
        const hours = ofZone(`${written(from)}-${written(to)}`, zone);
        const isIn = (time: number) => {
          const wall = wallTime(zone, time);
          const [first, last] = [wall >= written(from), wall < written(to)];
          return from < to ? first && last : first || last;
        };
        const { isQuiet, since, until } = spanAt(hours, now);
        expect(isQuiet).toBe(isIn(now));
        expect([isIn(since), isIn(until - 60_000), isIn(until)]).toEqual([isQuiet, isQuiet, !isQuiet]);
      }),
      { numRuns: 300 },
    );
  });

  it.each`
    now                       | openHours | hours
    ${'2026-11-28T12:59:00Z'} | ${1}      | ${12}
    ${'2026-11-28T12:59:00Z'} | ${24}     | ${46}
    ${'2026-11-28T00:00:00Z'} | ${13}     | ${13}
    ${'2026-11-28T14:00:00Z'} | ${2}      | ${12}
    ${'2026-11-28T02:00:00Z'} | ${24}     | ${35}
  `('leave $openHours open hours after $now within $hours hours', ({ now, openHours, hours }) => {
    expect(untilOpenFor(ofZone('21:00-08:00'), at(now), openHours * hour)).toBe(hours * hour);
  });

  it('of nearly all of the day make nobody wait for more than 31 days', () => {
    expect(
      untilOpenFor(ofZone('00:00-23:59'), at('2026-11-28T00:00:00Z'), 24 * hour) / (24 * hour),
    ).toBeCloseTo(30.3, 0);
  });

  it.each([
    '',
    '21-08',
    '21:00',
    '21:00-24:00',
    '21:60-08:00',
    '9:00-10:00',
    '21:00-21:00',
    '21:00–08:00',
    ' 21:00-08:00',
    '21:00-08:00\n',
  ])('are not written as "%s"', (text) => expect(parseHours(text)).toBeNull());

  it.each(['+08:00', 'Foo/Bar', '', 'Asia/Ulaanbaatar '])('have no zone "%s"', (zone) =>
    expect(isZone(zone)).toBe(false),
  );

  it('go by Ulaanbaatar where only another instance knows their zone', () => {
    expect(shown(spanAt(ofZone('21:00-08:00', 'Moon/Base'), at('2026-11-28T13:00:00Z')).until)).toBe(
      '2026-11-29T00:00:00Z',
    );
  });
});
