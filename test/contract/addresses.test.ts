import { describe, expect, it } from 'vitest';
import { normalizeAddress } from '../../src/contract/index.js';

describe('email addresses: the domain is case-insensitive, the local part is exact', () => {
  it.each([
    ['bat@example.mn', 'bat@example.mn'],
    ['Bat.Dorj+news@EXAMPLE.mn', 'Bat.Dorj+news@example.mn'],
    ["o'neil@example.co.uk", "o'neil@example.co.uk"],
    ['bat@шуудан.мон', 'bat@шуудан.мон'],
    [`${'a'.repeat(64)}@example.mn`, `${'a'.repeat(64)}@example.mn`],
  ])('%j', (written, normal) => expect(normalizeAddress(written)).toBe(normal));

  it.each([
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
