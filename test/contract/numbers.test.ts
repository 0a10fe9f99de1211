import { describe, expect, it } from 'vitest';
import { readNumber } from '../../src/contract/index.js';

describe('POST /v1/sms `to`: an 8-digit number; a leading +976, spaces and dashes are accepted', () => {
  it.each([
    ['99112233', '99112233', 'Mobicom'],
    ['+97699112233', '99112233', 'Mobicom'],
    ['97699112233', '99112233', 'Mobicom'],
    ['0097699112233', '99112233', 'Mobicom'],
    ['+976 9911-2233', '99112233', 'Mobicom'],
    [' 9911 22 33 ', '99112233', 'Mobicom'],
    ['9-9-1-1-2-2-3-3', '99112233', 'Mobicom'],
    ['88112233', '88112233', 'Unitel'],
    ['80112233', '80112233', 'Unitel'],
    ['91112233', '91112233', 'Skytel'],
    ['83112233', '83112233', 'G-Mobile'],
    // Eight digits are a whole number even where they begin like the country code.
    ['97699112', '97699112', 'G-Mobile'],
    ['+97697699112', '97699112', 'G-Mobile'],
  ])('%j is %s of %s', (written, number, operator) => {
    expect(readNumber(written)).toEqual({ kind: 'number', number, operator });
  });
});

describe('rule 1: a landline, a foreign or another unserved number is unsupported', () => {
  it.each(['11321234', '70112233', '+12025550123', '+97699112', '+99112233', '123456', '123456789012345'])(
    '%j',
    (written) => {
      expect(readNumber(written)).toEqual({ kind: 'unsupported' });
    },
  );
});

describe('invalid: not a phone number', () => {
  it.each([
    '',
    ' ',
    '-',
    '12345',
    '1234567890123456',
    '9911223a',
    'bat',
    '++97699112233',
    '9911+2233',
    '９９１１２２３３',
    '99112233\n',
    '(976)99112233',
    '976.99112233',
  ])('%j', (written) => {
    expect(readNumber(written)).toEqual({ kind: 'invalid' });
  });
});

it('reads another operator table', () => {
  const table = { Ondo: ['60'] };
  expect(readNumber('60112233', table)).toEqual({ kind: 'number', number: '60112233', operator: 'Ondo' });
  expect(readNumber('99112233', table)).toEqual({ kind: 'unsupported' });
});
