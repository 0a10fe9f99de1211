import { expect, it } from 'vitest';
import { masked } from '../../../src/cli/output/mask.js';

it.each([
  ['99112233', '9911**33'],
  ['+97699112233', '+9769911**33'],
  ['9911 2233', '9911**33'],
  ['bat@example.mn', 'b***@example.mn'],
  ['123', '****'],
  ['99112233/99445566', '9911**'],
  ['99112233;99445566', '9911**33;9944**66'],
  ['99112233(home99445566)', '9911**33(home9944**66)'],
  ['+97699112233 x12', '+9769911**33 x12'],
  ['99112233 99445566', '9911**'],
  ['9911.2233', '9911**33'],
  ['(976)9911/2233', '9769911**33'],
  ['4 recipients', '4 recipients'],
  ['nobody', 'no**dy'],
])('%s is masked as %s', (recipient, shown) => {
  expect(masked(recipient)).toBe(shown);
});
