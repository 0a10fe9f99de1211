import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutLinks } from '../../../src/service/delivery/links.js';

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
  ])('%s', (_, text, cleaned) => expect(withoutLinks(text)).toBe(cleaned));

  it.each([
    ['a number', 'Pi is 3.14 or so'],
    ['a fraction', 'Take 1/2 of it'],
    ['a decimal with a slash', 'It is 3.14/2 today'],
    ['an abbreviation', 'Bring food, e.g. bread, i.e./or cake'],
    ['an email address', 'Write to info@example.mn today'],
    ['an email address with dots', 'Write to bat.dorj@mail.example.mn/today'],
    ['a domain without a path', 'example.mn is ours'],
    ['a Cyrillic abbreviation with a slash', 'Үнэ 500 төг.кг/өдөр'],
    ['either/or', 'и/эсвэл, and/or'],
    ['a date', '2026.05.01/02 and 01.05.2026'],
    ['a time', 'At 10:30/11:00'],
    ['a missing blank', 'Сайн уу.Та ирнэ үү'],
    ['a version', 'v1.2.3 is out'],
    ['www alone', 'the www is big, awww.ok'],
    ['two slashes', 'a // b :// c'],
    ['an underscore before', '_example.mn/'],
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
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const once = withoutLinks(words.join(' '));
        if (once === null) return;
        expect(withoutLinks(once)).toBe(once);
        expect(once).not.toMatch(/:\/\/|www\./);
      }),
    );
  });

  it('takes time in proportion to the text', () => {
    const hostile = ['a.'.repeat(350), 'a-'.repeat(350), `${'a.'.repeat(300)}/`, 'http:'.repeat(140)];
    for (const text of hostile) {
      const start = performance.now();
      withoutLinks(text);
      expect(performance.now() - start).toBeLessThan(200);
    }
  });
});
