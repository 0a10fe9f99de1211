import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindTemplate, parseTemplate } from '../../../../src/cli/bulk/plan/template.js';
import { plan, refusal, requestsOf } from '../plans.js';

const columns = ['name', 'day', 'Дүн', 'a b'];
const render = (text: string, values: string[], content: 'plain' | 'html' = 'plain') =>
  bindTemplate(parseTemplate(text, 'text'), columns, content).render(values);

describe('templates', () => {
  it.each([
    ['', ''],
    ['Hello', 'Hello'],
    ['{name}', 'Бат'],
    ['Hi {name}, {day}!', 'Hi Бат, Monday!'],
    ['{ name }{Name}{a_b}', 'БатБатx'],
    ['{Дүн}', '5{0}'],
    ['{{name}} {{{name}}} }}{{', '{name} {Бат} }{'],
    ['$& $1 \\0 {name}', '$& $1 \\0 Бат'],
  ])('%j', (text, expected) => expect(render(text, ['Бат', 'Monday', '5{0}', 'x'])).toBe(expected));

  it('HTML escapes what is put in, and only that', () => {
    expect(render('<b>{name}</b> & {day}', ['<i>"&\'', 'a&amp;'], 'html')).toBe(
      '<b>&lt;i&gt;&quot;&amp;&#39;</b> & a&amp;amp;',
    );
  });

  it.each([
    ['Hi {nmae}', 'text: unknown column {nmae}', 'Columns: phone, name.'],
    ['Hi {', 'text: "{" at character 4 is not a column', /\{\{ and \}\}/],
    ['Hi }', 'text: "}" at character 4 is not a column', /\{\{ and \}\}/],
    ['{}', 'text: "{}" at character 1 is not a column', /\{\{ and \}\}/],
    ['{{{name}', 'text: "{" at character 8 is not a column', /./],
  ])('%j is an error before any row is read', async (text, message, hint) => {
    if (text === '{{{name}') return expect(render(text, ['a'])).toBe('{a');
    expect(await refusal('phone,name\n9,x\n', { text })).toMatchObject({
      kind: 'template',
      message,
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
    });
  });

  it('any text is itself when its braces are doubled, whatever the values', () => {
    const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('{', '}', '{name}', '{{')));
    fc.assert(
      fc.property(texts, fc.string(), (pieces, value) => {
        const text = pieces.join('');
        const doubled = text.replace(/[{}]/g, '$&$&');
        expect(render(doubled, [value])).toBe(text);
        expect(render(`${doubled}{name}${doubled}`, [value])).toBe(text + value + text);
      }),
    );
  });
});

describe('the rules of messages, for every row before anything is sent', () => {
  const email = { channel: 'email', subject: 'Hi', text: undefined } as const;
  it.each([
    [
      'SMS over 5 parts, Latin',
      { text: `{v}` },
      'a'.repeat(751),
      'text: the text has 6 parts (751 latin characters); the limit is 5',
    ],
    [
      'SMS over 5 parts, Cyrillic',
      { text: `{v}` },
      'ө'.repeat(301),
      'text: the text has 6 parts (301 cyrillic characters); the limit is 5',
    ],
    [
      'subject over 255',
      { ...email, subject: '{v}', text: 'x' },
      'a'.repeat(256),
      'subject: the subject has 256 characters; the limit is 255',
    ],
    [
      'subject of two lines',
      { ...email, subject: '{v}', text: 'x' },
      'a\nb',
      'subject: the subject has a line break or a control character',
    ],
    [
      'subject with a tab',
      { ...email, subject: '{v}', text: 'x' },
      'a\tb',
      'subject: the subject has a line break or a control character',
    ],
    [
      'sender of two lines',
      { ...email, fromName: '{v}', text: 'x' },
      'a\rb',
      'from-name: the from-name has a line break or a control character',
    ],
    [
      'reply-to that is none',
      { ...email, replyTo: '{v}', text: 'x' },
      'a@b',
      'reply-to: "a@b" is not an email address',
    ],
    [
      'bodies over 256 KB',
      { ...email, html: '{v}', text: 'x' },
      'a'.repeat(262_144),
      'html: html and text have 262145 bytes together; the limit is 262144',
    ],
    [
      'a request over 1 MB',
      { ...email, text: '{v}' },
      '\u0001'.repeat(170_000),
      'text: the request would have 1021025 bytes; the limit is 1000000',
    ],
  ])('%s', async (_, options, value, error) => {
    const csv = `${'channel' in options ? 'email' : 'phone'},v\n${'channel' in options ? 'a@b.mn' : '99112233'},"${value}"\n`;
    expect((await plan(csv, options)).rejects.first).toEqual([`list.csv:2: ${error}`]);
  });

  it('counts the characters of a subject as the service does', async () => {
    const csv = `email,v\na@b.mn,${'😀'.repeat(255)}\n`;
    expect((await plan(csv, { ...email, subject: '{v}', text: 'x' })).rejects.first).toEqual([]);
  });

  it.each([
    [{ text: '' }, 'text: the text is empty'],
    [{ text: 'a'.repeat(751) }, 'text: the text has 6 parts (751 latin characters); the limit is 5'],
    [{ ...email }, 'text: the body is empty'],
    [{ ...email, subject: ' ', text: 'x' }, 'subject: the subject is empty'],
  ])('a constant message that breaks a rule is one error: %j', async (options, message) => {
    const csv = 'channel' in options ? 'email\na@b.mn\n' : 'phone\n99112233\n';
    expect(await refusal(csv, options)).toMatchObject({ kind: 'template', message });
  });

  it('750 Latin and 300 Cyrillic characters are 5 parts', async () => {
    const csv = `phone,v\n99112233,${'a'.repeat(750)}\n88112233,${'ө'.repeat(300)}\n`;
    expect((await plan(csv, { text: '{v}' })).meta.cost).toEqual([
      { kind: 'latin', recipients: 1, parts: 5, credits: 0 },
      { kind: 'cyrillic', recipients: 1, parts: 5, credits: 0 },
    ]);
  });

  it('an email body has its fields in one order, and only those given', async () => {
    const csv = 'email,n\nBat@EXAMPLE.mn,"<Ө"""\n';
    const all = {
      ...email,
      subject: 'S {n}',
      html: '<p>{n}</p>',
      text: 'T {n}',
      fromName: 'F',
      replyTo: 'r@b.mn',
    };
    expect((await requestsOf(await plan(csv, all)))[0]?.body).toBe(
      '{"to":"Bat@example.mn","subject":"S <Ө\\"","html":"<p>&lt;Ө&quot;</p>","text":"T <Ө\\"","from_name":"F","reply_to":"r@b.mn"}',
    );
    expect((await requestsOf(await plan(csv, { ...email, html: '<p>' })))[0]?.body).toBe(
      '{"to":"Bat@example.mn","subject":"Hi","html":"<p>"}',
    );
  });
});
