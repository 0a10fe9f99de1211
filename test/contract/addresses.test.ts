import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mixesAlphabets, normalizeAddress, normalizeAnyAddress } from '../../src/contract/index.js';

describe('email addresses: the domain is case-insensitive, the local part is exact', () => {
  it.each([
    ['bat@example.mn', 'bat@example.mn'],
    ['Bat.Dorj+news@EXAMPLE.mn', 'Bat.Dorj+news@example.mn'],
    ["o'neil@example.co.uk", "o'neil@example.co.uk"],
    ['bat@xn--80ah2ava2a.xn--l1acc', 'bat@xn--80ah2ava2a.xn--l1acc'],
    ['bat@EXAMPLE.straße.de', 'bat@example.xn--strae-oqa.de'],
    ['bat@ｅxample.mn', 'bat@example.mn'],
    [`${'a'.repeat(64)}@example.mn`, `${'a'.repeat(64)}@example.mn`],
  ])('%j', (written, normal) => expect(normalizeAddress(written)).toBe(normal));

  it.each([
    ['as it is read', 'caf\u00e9.шуудан.мон'],
    ['in letters and accents apart (NFD)', 'cafe\u0301.шуудан.мон'],
    ['in capitals', 'CAF\u00c9.ШУУДАН.МОН'],
    ['in capitals and accents apart', 'CAFE\u0301.ШУУДАН.МОН'],
    ['in the form of name servers', 'xn--caf-dma.xn--80ah2ava2a.xn--l1acc'],
    ['in that form and in capitals', 'XN--CAF-DMA.xn--80AH2AVA2A.XN--L1ACC'],
    ['in both forms', 'xn--caf-dma.шуудан.xn--l1acc'],
  ])('one domain has one form: %s', (_, domain) =>
    expect(normalizeAddress(`Bat@${domain}`)).toBe('Bat@xn--caf-dma.xn--80ah2ava2a.xn--l1acc'),
  );

  it.each([
    'bat@xn--a.mn',
    'bat@xn--.mn',
    // 64 characters, once it is in the form of name servers.
    `bat@${'\u00e9'.repeat(60)}.mn`,
    // To a URL that would be 1.0.0.2.
    'bat@\uff11.2',
    'bat@127.0.0.1',
    'bat@1.2.3.0x4',
    'bat@example.0x7f',
    'bat@example.0X',
    'bat@example.123',
    'bat@\u4f8b.0\uff58\uff17f',
    'bat@a\u200db.mn',
    '',
    '@',
    'bat',
    'bat@',
    '@example.mn',
    'bat@example',
    'bat@@example.mn',
    'ba t@example.mn',
    ' bat@example.mn',
    'bat@example.mn\n',
    'bat@example..mn',
    'bat@-example.mn',
    '.bat@example.mn',
    'bat.@example.mn',
    'Bat <bat@example.mn>',
    'bat@example.mn,dorj@example.mn',
    `${'a'.repeat(65)}@example.mn`,
    `bat@${'a'.repeat(64)}.mn`,
    `bat@${'a.'.repeat(130)}mn`,
  ])('%j is none', (written) => expect(normalizeAddress(written)).toBeNull());
});

it('an address at an IP address that an earlier release stored can be found and erased', () =>
  expect(normalizeAnyAddress('Bat@127.0.0.1')).toBe('Bat@127.0.0.1'));

describe('an email address whose parts mix alphabets is not the one that it looks like', () => {
  it.each([
    ['a Cyrillic с and о', 'bat@gmail.соm', 'bat@gmail.xn--m-0tbi'],
    ['a Cyrillic а', 'dorj@exаmple.mn', 'dorj@xn--exmple-4nf.mn'],
    ['the same in capitals', 'dorj@EXАMPLE.MN', 'dorj@xn--exmple-4nf.mn'],
    ['the same as name servers write it', 'dorj@XN--exmple-4nf.mn', 'dorj@xn--exmple-4nf.mn'],
    ['a Cyrillic а with a combining mark', 'bat@cа\u0301fe.mn', 'bat@xn--cfe-kdc82m.mn'],
    ['a Tamil letter', 'bat@bankஅ.mn', 'bat@xn--bank-esl.mn'],
    ['a Greek π', 'bat@πaypal.com', 'bat@xn--aypal-wce.com'],
    ['com in Cyrillic, which does not exist', 'bat@gmail.сом', 'bat@gmail.xn--l1adi'],
    ['co in Cyrillic, which does not exist', 'bat@gmail.со', 'bat@gmail.xn--n1af'],
    ['a Cyrillic а before the @', 'bаt@example.mn', null],
  ])('%s: nothing is sent to %s', (_, written, stored) => {
    expect(normalizeAddress(written)).toBeNull();
    expect(mixesAlphabets(written)).toBe(true);
    // What an earlier release stored can be found and erased.
    expect(normalizeAnyAddress(written)).toBe(stored);
  });

  it.each([
    'bat@шуудан.мон',
    'bat@mail.шуудан.мон',
    'bat@өртөө-2.мон',
    'bat@почта.рус',
    'bat@caf\u00e9.mn',
    'bat@straße.de',
    'bat@ｅxample.mn',
    'bat@例子.公司',
    'bat@dメニュー.jp',
    'bat@ελλάδα.ελ',
    'bat@ᠮᠣᠩᠭᠣᠯ.mn',
    'bat@தமிழ்.mn',
  ])('%s does not', (written) => {
    expect(normalizeAddress(written)).not.toBeNull();
    expect(mixesAlphabets(written)).toBe(false);
  });

  it('the letters of a label are read from its form of name servers as Node.js reads them', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'abéöабвгөү邮箱αβ19ㄅか'),
      minLength: 1,
      maxLength: 12,
    });
    const alphabets = [/[a-z邮箱ㄅかéö]/u, /[абвгөү]/u, /[αβ]/u];
    fc.assert(
      fc.property(letters, (label) => {
        const ascii = domainToASCII(`${label}.mn`);
        fc.pre(ascii !== '' && normalizeAnyAddress(`a@${ascii}`) !== null);
        const read = domainToUnicode(ascii).slice(0, -'.mn'.length);
        const mixed = alphabets.filter((alphabet) => alphabet.test(read)).length > 1;
        expect(normalizeAddress(`a@${ascii}`) === null).toBe(mixed);
      }),
    );
  });
});
