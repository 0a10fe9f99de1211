import { describe, expect, it } from 'vitest';
import { readDuration } from '../../../src/cli/input/duration.js';

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['30', 30_000],
    ['1.5s', 1_500],
    ['0', 0],
  ])('%s is %i ms', (written, milliseconds) => expect(readDuration(written)).toBe(milliseconds));

  it.each(['', 's', '-1s', '1d', '1 s', '1e3', '10m30s', '999999999h', 'NaN'])('%s is none', (written) => {
    expect(() => readDuration(written)).toThrow(
      expect.objectContaining({ code: 'commander.invalidArgument' }),
    );
  });
});
