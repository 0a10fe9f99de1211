import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindTemplate, parseTemplate } from '../../../../src/cli/bulk/plan/template/template.js';
import { plan, refusal, requestsOf } from '../plans.js';

const columns = ['name', 'day', 'Дүн', 'a b', 'D'];
const render = (text: string, values: string[], content: 'plain' | 'html' = 'plain') =>
  bindTemplate(parseTemplate(text, 'text', content), columns, content).render(values);

describe('templates', () => {
  it.each([
    ['', ''],
    ['Hello', 'Hello'],
    ['{name}', 'Бат'],
    ['Hi {name}, {day}!', 'Hi Бат, Monday!'],
    ['{ name }{Name}{a_b}', 'БатБатx'],
    ['{Дүн}', '5{0}'],
    ['{{nmae}} {{ {name} }} }}{{', '{nmae} { Бат } }{'],
    [
      `[nmae] 10% of 20% a:day «nmae» bat@name.mn snake__name :D \${name} #{name} <{name}> {{day: 1}}`,
      '[nmae] 10% of 20% a:day «nmae» bat@name.mn snake__name :D $Бат #Бат <Бат> {day: 1}',
    ],
    ['$& $1 \\0 {name}', '$& $1 \\0 Бат'],
  ])('%j', (text, expected) => expect(render(text, ['Бат', 'Monday', '5{0}', 'x'])).toBe(expected));

  it('HTML escapes what is put in, and only that', () => {
    expect(render('<b>{name}</b> & {day}', ['<i>"&\'', 'a&amp;'], 'html')).toBe(
      '<b>&lt;i&gt;&quot;&amp;&#39;</b> & a&amp;amp;',
    );
  });

  const css = 'body { color: #333; }\n@media (max-width:600px){td{width:100%}} a{}[name]:hover{}';
  it.each([
    [`<style>${css}</style>{name}`, `<style>${css}</style>Бат`],
    [`<STYLE type="a>b">${css}</Style >{name}`, `<STYLE type="a>b">${css}</Style >Бат`],
    ['<script>if (a) { b({}) } /\\d{2}/</script>{name}', '<script>if (a) { b({}) } /\\d{2}/</script>Бат'],
    ['<!-- {x} {name} --!>{name}<!-- } --><!--{-->', '<!-- {x} {name} --!>Бат<!-- } --><!--{-->'],
    // Outlook shows what is in these, and others what is in those.
    [
      '<!--[if (gte mso 9)|(IE)]><style>td{x:y}</style><td>{name}</td><![endif]-->',
      '<!--[if (gte mso 9)|(IE)]><style>td{x:y}</style><td>Бат</td><![endif]-->',
    ],
    ['<!--[if !mso]><!-->{name}<!--<![endif]-->', '<!--[if !mso]><!-->Бат<!--<![endif]-->'],
    ['<!--->{name}<!-->{name}', '<!--->Бат<!-->Бат'],
    // A block that doubles its braces is read as before.
    ['<style>td {{ color: {day}; }}</style>{name}', '<style>td { color: Monday; }</style>Бат'],
    ['<!-- {name} -->', '<!-- Бат -->'],
    ['<styled>{name}</styled>', '<styled>Бат</styled>'],
  ])('in HTML, braces of styles, scripts and comments are text: %j', (text, expected) => {
    expect(render(text, ['Бат', 'Monday', '5', 'x'], 'html')).toBe(expected);
  });

  it.each([
    ['<style>td { color: {day}; }</style>', '"{day}" is text in this <style>, not the column'],
    ['<script>{"a": {"name": "{name}"}}</script>', '"{name}" is text in this <script>, not the column'],
    ['<style>td{color:red}', 'unknown column {color:red}'],
    ['<!-- {color} ', 'unknown column {color}'],
    ['<!--[if mso]>{color}<![endif]-->', 'unknown column {color}'],
    ['<style>a{b:c}</style><p>}', '"}" at character 25 is not a column'],
  ])('in HTML, no column is lost in them: %j', (text, message) => {
    expect(() => render(text, ['Бат', 'Monday'], 'html')).toThrow(message);
  });

  it.each([
    ['Hi {nmae}', 'text: unknown column {nmae}', 'Columns: phone, name. For braces, write {{ and }}.'],
    ['Hi {', 'text: "{" at character 4 is not a column', /\{\{ and \}\}/],
    ['Hi }', 'text: "}" at character 4 is not a column', /\{\{ and \}\}/],
    ['{}', 'text: "{}" at character 1 is not a column', /\{\{ and \}\}/],
    ['{{{name}', 'text: "{" at character 8 is not a column', /./],
    ['Hi {{{name}}}', 'text: "{{{name}}}" would be the column in braces', /\{\{ \{name\} \}\}/],
  ])('%j is an error before any row is read', async (text, message, hint) => {
    if (text === '{{{name}') return expect(render(text, ['a'])).toBe('{a');
    expect(await refusal('phone,name\n9,x\n', { text })).toMatchObject({
      kind: 'template',
      message,
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
    });
  });

  it.each([
    ['{{name}}', '{name}'],
    ['{{ Name }}', '{ Name }'],
    ['{{name|title}}', '{name|title}'],
    ['{{a_b}}', '{a_b}'],
    ['{{{{name}}}}', '{name}'],
    ['%name%'],
    ['%%name%%', '%name%'],
    ['50% %name%', '%name%'],
    ['[name]'],
    ['[[ Дүн ]]', '[ Дүн ]'],
    ['<<name>>'],
    ['<name>'],
    ['*|NAME|*'],
    ['#name#'],
    ['Hi :name', ':name'],
    ['Hi $name!', '$name'],
    ['{name} [day]', '[day]'],
    ['[name] {day} }}', '[name]'],
    ['«name»'],
    ['&laquo;name&raquo;'],
    ['&#123;&#123; name &#125;&#125;', '&#123; name &#125;'],
    ['&#X7b;&#x7b;name&#x7D;&#x7d;', '&#x7b;name&#x7D;'],
    ['<a href="?n=%7Bname%7d">', '%7Bname%7d'],
    ['Hi %(name)s', '%(name)s'],
    ['<% name %>'],
    ['<%= name %>'],
    ['@name@'],
    ['@@name,', '@@name'],
    ['__name__'],
  ])(
    '%j, a field of another program that names a column, is refused with both ways out',
    (text, written = text) => {
      const refused = (given: string, content: 'plain' | 'html' = 'plain') => {
        try {
          return render(given, ['Бат', 'Monday', '5', 'x'], content);
        } catch (error) {
          return error;
        }
      };
      const source = written.replace(/[{}]/g, '$&$&');
      expect(refused(text)).toMatchObject({
        kind: 'template',
        message: `text: ${JSON.stringify(source)} is text here, not the column`,
        hint: expect.stringMatching(
          /^Write \{(name|day|a b|Дүн)\} for the column\. To send ".*" itself, give the column another name in the file\.$/,
        ),
      });
      if (text !== '<name>') expect(refused(text, 'html')).toMatchObject({ kind: 'template' });
    },
  );

  it.each([
    ['{{&nbsp;name&nbsp;}}', '{{ name }}'],
    ['{{<b>name</b>}}', '{{ name }}'],
    ['{{<span\n class="x">&#xa0;</span>Name}}', '{{   Name}}'],
    ['[<b>day</b>]', '[ day ]'],
  ])('%j in HTML is refused by what everybody would see', (text, shown) => {
    expect(() => render(text, ['Бат', 'Monday'], 'html')).toThrow(`${JSON.stringify(shown)} is text here`);
    expect(render('<td>:</td><td>name</td>10%<b>name</b>20% <i>[</i>', ['Бат'], 'html')).toContain(':</td>');
  });

  it('{{name}} and [name] are text where they name no column: of a list without a header, and of a report', async () => {
    const own = 'phone,line,error\n99112233,2,x\n';
    const texts = async (csv: string, text: string, headerless = false) =>
      (await requestsOf(await plan(csv, { text, headerless }))).map(({ body }) => JSON.parse(body).text);
    expect(await texts(own, '{{line}} [line] %error%')).toEqual(['{line} [line] %error%']);
    expect(await refusal('99112233\n', { text: '{{1}}', headerless: true })).toMatchObject({
      kind: 'template',
    });
    expect(await texts('99112233\n', '[1] %1% :1', true)).toEqual(['[1] %1% :1']);
  });

  it('any text is itself when its braces are doubled, whatever the values', () => {
    const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('{', '}', '{nmae}', '{{')));
    fc.assert(
      fc.property(texts, fc.string(), (pieces, value) => {
        const text = pieces.join('');
        const doubled = text.replace(/[{}]/g, '$&$&');
        // A column that random texts do not name.
        const rendered = (template: string) =>
          bindTemplate(parseTemplate(template, 'text'), ['name'], 'plain').render([value]);
        expect(rendered(doubled)).toBe(text);
        expect(rendered(`${doubled}|{name}|${doubled}`)).toBe(`${text}|${value}|${text}`);
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
