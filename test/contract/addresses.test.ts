import { describe, expect, it } from 'vitest';
import { normalizeAddress } from '../../src/contract/index.js';

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
