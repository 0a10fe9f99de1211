import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutLinks } from '../../src/contract/links.js';
import { cpuTime } from '../support/cpu-time.js';

describe('POST /v1/sms, rule 6: links are removed on the route that carries none', () => {
  it.each([
    ['with a scheme', 'See https://example.mn/a?b=c now', 'See now'],
    ['with a scheme, in capitals', 'See HTTPS://EXAMPLE.MN now', 'See now'],
    ['another scheme', 'Get ftp://files.example.mn/x today', 'Get today'],
    ['an app scheme', 'Open urtuu://pay?id=1 today', 'Open today'],
    ['with www.', 'Visit www.example.mn today', 'Visit today'],
    ['with WWW.', 'Visit WWW.Example.MN today', 'Visit today'],
    ['a domain with a path', 'Go to example.mn/sale today', 'Go to today'],
    ['a domain with a bare slash', 'Go to example.mn/ today', 'Go to today'],
    ['a subdomain with a path', 'Go to shop.big-store.com.mn/a/b#c today', 'Go to today'],
    ['a domain with port and path', 'Go to example.mn:8080/x today', 'Go to today'],
    ['a Cyrillic domain with a path', 'Орно уу пример.рф/акция өнөөдөр', 'Орно уу өнөөдөр'],
    ['a Mongolian domain with a path', 'Орно уу жишээ.мон/хямдрал өнөөдөр', 'Орно уу өнөөдөр'],
    ['a Cyrillic path', 'Орно уу example.mn/хямдрал өнөөдөр', 'Орно уу өнөөдөр'],
    ['right behind Cyrillic letters and a colon', 'Холбоос:https://example.mn/a за', 'Холбоос: за'],
    ['at the beginning', 'https://example.mn/a is new', 'is new'],
    ['at the end', 'It is at https://example.mn/a', 'It is at'],
    ['before a full stop', 'It is at https://example.mn/a.', 'It is at.'],
    ['before a comma', 'At example.mn/a, then home', 'At, then home'],
    ['before !', 'At www.example.mn!', 'At!'],
    ['in brackets', 'Sale (https://example.mn/a) today', 'Sale () today'],
    ['with brackets of its own', 'Read https://example.mn/a_(b) today', 'Read today'],
    ['in angle brackets', 'Sale <https://example.mn/a> today', 'Sale <> today'],
    ['in quotes', 'Sale "https://example.mn/a" today', 'Sale "" today'],
    ['on a line of its own', 'One\nhttps://example.mn/a\nTwo', 'One\n\nTwo'],
    ['at the end of a line', 'One https://example.mn/a\nTwo', 'One\nTwo'],
    ['several', 'A https://a.mn/x https://b.mn/y B www.c.mn C', 'A B C'],
    ['a short link', 'Pay: bit.ly/3xYz', 'Pay:'],
    ['punycode', 'Go xn--e1afmkfd.xn--p1ai/a now', 'Go now'],
    ['behind an underscore', 'See _example.mn/x now', 'See now'],
    ['behind a hyphen', 'See -example.mn/x now', 'See now'],
    ['behind a bullet and a hyphen', '•-example.mn/x now', '• now'],
    ['behind @', 'See @example.mn/x now', 'See @ now'],
    ['of an address with a path', 'Write to bat.dorj@mail.example.mn/today', 'Write to bat.dorj@'],
    ['behind dots', 'See ...example.mn/x now', 'See ... now'],
    ['behind a full stop without a blank', 'Сайн уу.example.mn/x', 'Сайн'],
    ['www. behind an underscore', 'See _www.example.mn now', 'See _ now'],
    ['www. behind a hyphen', 'See -www.example.mn now', 'See - now'],
    ['www. behind @', 'See @www.example.mn now', 'See @ now'],
    ['www. behind dots', 'See ...www.example.mn now', 'See ... now'],
    ['www. with a hyphen or an underscore behind it', 'See www.-a.mn or www._a.mn', 'See or'],
    ['with _ in a label', 'See my_shop.example.mn/x now', 'See now'],
    ['with _ at both ends of a label', 'See a._b_.mn/x now', 'See now'],
    ['with a final dot before the path', 'See example.mn./x now', 'See now'],
    ['with a final dot before the port', 'See example.mn.:80/x now', 'See now'],
    ['under a top-level domain in Mongolian letters', 'Go дэлгүүр.монгол/x now', 'Go now'],
    ['under a top-level domain in Georgian letters', 'Go a.გე/x now', 'Go now'],
    ['under a top-level domain in Chinese letters', 'Go 例子.中国/x now', 'Go now'],
    ['under a top-level domain in Devanagari, with marks', 'Go a.संगठन/x now', 'Go now'],
    ['under a top-level domain in letters of two alphabets', 'Go a.моn/x now', 'Go now'],
    ['with ideographic full stops', 'Go 例子。中国/x and example．mn/y now', 'Go and now'],
    ['with an emoji in its name', 'Go i❤️.ws/x or 😀.mn/y now', 'Go or now'],
    ['with a label longer than any domain has', `Go ${'a'.repeat(80)}.mn/x now`, 'Go now'],
    ['with letters in two parts (NFD)', 'Go caf\u0065\u0301.mn/x now', 'Go now'],
    ['an abbreviation with a slash, which cannot be told from it', 'Үнэ 500 төг.кг/өдөр', 'Үнэ 500'],
  ])('%s', (_, text, cleaned) => expect(withoutLinks(text)).toBe(cleaned));

  it.each([
    ['a number', 'Pi is 3.14 or so'],
    ['a fraction', 'Take 1/2 of it'],
    ['a decimal with a slash', 'It is 3.14/2 today'],
    ['an abbreviation', 'Bring food, e.g. bread, i.e. cake'],
    ['an email address', 'Write to info@example.mn today'],
    ['an email address with dots', 'Write to bat.dorj@mail.example.mn today'],
    ['a domain without a path', 'example.mn is ours'],
    ['a Cyrillic abbreviation', 'Үнэ 500 төг.кг өдөрт'],
    ['a label with digits last', 'a.mn2/x and x.2024/1'],
    ['either/or', 'и/эсвэл, and/or'],
    ['a date', '2026.05.01/02 and 01.05.2026'],
    ['a time', 'At 10:30/11:00'],
    ['a missing blank', 'Сайн уу.Та ирнэ үү'],
    ['a version', 'v1.2.3 is out'],
    ['www alone', 'the www is big, awww.ok'],
    ['two slashes', 'a // b :// c'],
    ['a slash without a dot', '_example/ and -a/b'],
    ['double blanks that were there', 'a  b  c'],
  ])('%s stays', (_, text) => expect(withoutLinks(text)).toBe(text));

  it.each([
    'https://example.mn/a',
    ' www.example.mn ',
    'example.mn/a.',
    'https://a.mn/x https://b.mn/y',
    '(https://a.mn/x)',
    'https://a.mn\nhttps://b.mn',
  ])('only a link leaves nothing: %j', (text) => expect(withoutLinks(text)).toBeNull());

  it('cleaning twice is cleaning once, and leaves no link with a scheme or www.', () => {
    const word = fc.constantFrom(
      'Сайн',
      'https://a.mn/b',
      'www.c.mn',
      'd.mn/e',
      '3.14',
      'x@y.mn',
      '(',
      ').',
      '\n',
      'www.',
      'мон/х',
      'a.',
      '_',
      '@',
      '...',
      '/',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.constantFrom(' ', ''), (words, between) => {
        const once = withoutLinks(words.join(between));
        if (once === null) return;
        expect(withoutLinks(once)).toBe(once);
        expect(once).not.toMatch(/[a-z]:\/\/|(?<![\p{L}\p{N}])www\.\p{L}|\p{L}\.\p{L}+\//u);
      }),
    );
  });

  it('takes time in proportion to the text', () => {
    const hostile = ['a.'.repeat(350), 'a-'.repeat(350), `${'a.'.repeat(300)}/`, 'http:'.repeat(140)];
    for (const text of hostile) {
      const start = cpuTime();
      withoutLinks(text);
      expect(cpuTime() - start).toBeLessThan(200);
    }
  });
});
