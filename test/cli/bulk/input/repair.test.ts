import { describe, expect, it } from 'vitest';
import { plan, requestsOf } from '../plans.js';

/** Plans one number as it was written and says what came out. */
async function read(written: string) {
  const outcome = await plan(`phone,x\n"${written.replaceAll('"', '""')}",x\n`);
  if (outcome.plan === null) return outcome.rejects.first[0]?.replace('list.csv:2: phone: ', '');
  const [request] = await requestsOf(outcome);
  return { to: request?.to, repairs: outcome.repairs };
}

describe('a number is repaired only where that is certain', () => {
  it.each([
    ['99112233', {}],
    ['9911 22-33', { separators: 1 }],
    ['+97699112233', { country_code: 1 }],
    ['976 9911 2233', { separators: 1, country_code: 1 }],
    ['0097699112233', { country_code: 1 }],
    ['9911\u00a02233', { invisible: 1 }],
    ['\u202a99112233\u202c', { invisible: 1 }],
    ['\u202d+97699112233\u202e', { invisible: 1, country_code: 1 }],
    ['\ufeff99112233', { invisible: 1 }],
    ['9911\ufe0f2233', { invisible: 1 }],
    ['\t99112233\r\n', { invisible: 1 }],
    ['9911\u20112233', { separators: 1 }],
    ['9911\u22122233', { separators: 1 }],
    ['(976)99112233', { separators: 1, country_code: 1 }],
    ['(+976) 9911-2233', { separators: 1, country_code: 1 }],
    ['+976 (9911) 2233', { separators: 1, country_code: 1 }],
    ['[9911] 2233', { separators: 1 }],
    ['9911.2233', { separators: 1 }],
    ['9911/2233', { separators: 1 }],
    ['+976 9911.2233', { separators: 1, country_code: 1 }],
    ['99.11.22.33', { separators: 1 }],
    ['976.9911.2233', { separators: 1, country_code: 1 }],
    ['(９７６)９９１１.２２３３', { full_width: 1, separators: 1, country_code: 1 }],
    ['９９１１２２３３', { full_width: 1 }],
    ['＋９７６９９１１２２３３', { full_width: 1, country_code: 1 }],
    ["'99112233", { apostrophe: 1 }],
    ["'+97699112233", { apostrophe: 1, country_code: 1 }],
    ['="99112233"', { formula: 1 }],
    ['99112233.0', { decimals: 1 }],
    ['97699112233,00', { decimals: 1, country_code: 1 }],
    ['9.9112233E7', { exponent: 1 }],
    ['9.9112233E+07', { exponent: 1 }],
    ['9,9112233e+7', { exponent: 1 }],
    ['9.7699112233E+10', { exponent: 1, country_code: 1 }],
  ])('%j becomes 99112233', async (written, repairs) => {
    expect(await read(written)).toEqual({ to: ['99112233'], repairs });
  });

  it.each([
    ['9.91E+07', /has lost its last digits/],
    ['9.911223E+07', /has lost its last digits/],
    ['9.9112233E+08', /has lost its last digits/],
    ['9.76991E+10', /has lost its last digits/],
    ['9.91122334E7', /has lost its last digits/],
    ['99112233.5', /is not a phone number/],
    ['9911O233', /is not a phone number/],
    ['991122.33', /is not a phone number/],
    ['9911223.3', /is not a phone number/],
    ['99,112,233', /is not a phone number/],
    ['9911.223.3', /is not a phone number/],
    ['(9)9112233', /is not a phone number/],
    ['(99112233', /is not a phone number/],
    ['99112233/34', /is not a phone number/],
    ['99112233/88112233', /has two numbers; put each in its own row/],
    ['99112233 88112233', /has two numbers/],
    ['9911-2233, 8811-2233', /has two numbers/],
    ['9911 2233; +976 8811 2233', /has two numbers/],
    ['99112233\n88112233', /has two numbers/],
    ['Бат 99112233, гэр 70112233', /has two numbers/],
    ['99112233 881122', /is not served by any operator/],
    ["99112233'", /is not a phone number/],
    ['٩٩١١٢٢٣٣', /is not a phone number/],
    ['70112233', /is not served by any operator/],
    ['9911223', /is not served by any operator/],
    ['-', /is not a phone number/],
    ['', /is empty/],
    ['\u00a0', /is empty/],
  ])('%j is refused', async (written, reason) => {
    expect(await read(written)).toMatch(reason);
  });
});

describe('an address is repaired only at its edges', () => {
  it.each([
    ['bat@example.mn', {}],
    ['  bat@example.mn ', { separators: 1 }],
    ['\u200bbat@example.mn\u00a0', { invisible: 1 }],
    ['bat@EXAMPLE.mn', {}],
  ])('%j becomes bat@example.mn', async (written, repairs) => {
    const outcome = await plan(`email\n"${written}"\n`, { channel: 'email', subject: 'Hi' });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['bat@example.mn']);
    expect(outcome.repairs).toEqual(repairs);
  });

  const mixed = 'mixes letters of two alphabets, such as Latin and Cyrillic';
  const none = 'is not an email address';
  it.each([
    ...['bat@gmail.соm', 'dorj@exаmple.mn', 'bаt@example.mn', 'bat@gmail.сом'].map((one) => [one, mixed]),
    ...['bat@example', 'bat', 'Bat <bat@example.mn>', 'a@b.mn; c@d.mn'].map((one) => [one, none]),
  ])('%j is refused: it %s', async (written, why) => {
    const outcome = await plan(`email\n"${written}"\n`, { channel: 'email', subject: 'Hi' });
    expect(outcome.plan).toBeNull();
    expect(outcome.rejects.first).toEqual([`list.csv:2: email: "${written}" ${why}`]);
  });
});
