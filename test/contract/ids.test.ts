import { expect, it } from 'vitest';
import { idAsWritten, normalId } from '../../src/contract/index.js';

const id = '0193a1b2-0000-7000-8000-0000000000af';

it.each([
  [id, id],
  [id.toUpperCase(), id],
  ['0193A1b2-0000-7000-8000-0000000000aF', id],
  [`{${id}}`, null],
  [`${id} `, null],
  [id.replaceAll('-', ''), null],
  ['5NJin2600nv7oDFrg8w2n', null],
  ['', null],
])('the id %j is read as %j', (written, read) => {
  expect(normalId(written)).toBe(read);
  expect(idAsWritten(written)).toBe(read ?? written);
});
