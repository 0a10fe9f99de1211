import { expect, it } from 'vitest';
import { fillIn } from '../../../../../src/service/storage/postgres/schema/fill-in.js';

it('fills in names, and leaves casts, assignments and times as they are', () => {
  expect(
    fillIn(
      [
        "at := time_1(x)::bigint - :tolerance; to_char(t, 'HH24:MI:SS')",
        '-:tolerance, array_fill(:missing_part)',
      ],
      { tolerance: 15_000, missing_part: "'[$&]'" },
    ),
  ).toEqual(["at := time_1(x)::bigint - 15000; to_char(t, 'HH24:MI:SS')", "-15000, array_fill('[$&]')"]);
});

it('throws for a name that is unknown, and for one that no text has', () => {
  expect(() => fillIn(['SELECT :tolerance'], {})).toThrow(':tolerance is unknown');
  expect(() => fillIn(['SELECT 1'], { tolerance: 1 })).toThrow('no text has :tolerance');
});
