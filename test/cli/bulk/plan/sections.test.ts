import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindTemplate, parseTemplate } from '../../../../src/cli/bulk/plan/template/template.js';
import { plan, refusal, requestsOf, rowsOf } from '../plans.js';

const columns = ['name', 'debt', 'city', 'a|b', '?x', '/x', '!x', 'Day of pay'];
const render = (text: string, values: string[], content: 'plain' | 'html' = 'plain') =>
  bindTemplate(parseTemplate(text, 'text', content), columns, content).render(values);

const textsOf = async (outcome: Parameters<typeof requestsOf>[0]) =>
  (await requestsOf(outcome)).map(({ body }) => JSON.parse(body).text);

describe('fallbacks and sections', () => {
  it.each([
    ['Hi {name|эрхэм}!', ['Бат'], 'Hi Бат!'],
    ['Hi {name|эрхэм}!', [''], 'Hi эрхэм!'],
    ['Hi{ name |  dear\ncustomer }!', ['\u00a0\u200b '], 'Hi  dear\ncustomer !'],
    ['Hi{name|}!', [' '], 'Hi!'],
    ['{debt|none}', ['', '0'], '0'],
    ['{name|a|b}', [''], 'a|b'],
    ['{?debt}Owes {debt}.{/debt}Bye', ['', '0'], 'Owes 0.Bye'],
    ['{?debt}Owes {debt}.{/debt}Bye', ['', ' '], 'Bye'],
    ['{!debt}Paid.{/debt}Bye', ['', ''], 'Paid.Bye'],
    ['{!debt}Paid.{/debt}Bye', ['', '0'], 'Bye'],
    ['{? Debt }{debt}{/DEBT}{!debt}-{/debt}{name|x}', ['', '5'], '5x'],
    ['{?day_of-pay}{name|x} {/Day of pay}{name}', ['Бат', '', '', '', '', '', '', '1'], 'Бат Бат'],
    ['{{{?debt}x{/debt}}} {{?debt}}', ['', '1'], '{x} {?debt}'],
    // A column that is really called so wins, and the longest name.
    ['{a|b}{a|b|c}{?x}{/x}{!x}', ['', '', '', 'AB', 'q', 's', 'e'], 'ABABqse'],
    ['{a|b|c}{?a|b}y{/a|b}{??x}z{/?x}{?x|-}', ['', '', '', ''], 'c-'],
  ])('%j with %j is %j', (text, values, expected) => {
    expect(render(text, values)).toBe(expected);
    expect(render(text, values, 'html')).toBe(expected);
  });

  it.each([
    ['{name|<b>&</b>}', ['<'], '&lt;'],
    ['{name|<b>&</b>}', [''], '<b>&</b>'],
    ['{?debt}<b>{debt}</b>{/debt}', ['', '<'], '<b>&lt;</b>'],
    [
      '<style>a{!important} b{?y} c{z|w} d{/z}</style>{name|x}',
      [''],
      '<style>a{!important} b{?y} c{z|w} d{/z}</style>x',
    ],
    ['<!-- {?debt} --><style>a{b:c}</style>{debt}<!-- {/debt} -->', ['', ''], '<!--  -->'],
    [
      '<!-- {?debt} --><style>a{b:c}</style>{debt}<!-- {/debt} -->',
      ['', '5'],
      '<!--  --><style>a{b:c}</style>5<!--  -->',
    ],
    ['<!--[if mso]>{?debt}{debt}{/debt}<![endif]-->', ['', '5'], '<!--[if mso]>5<![endif]-->'],
  ])(
    'HTML %j with %j is %j: a fallback is not escaped, and other braces of a block are text',
    (text, values, expected) => {
      expect(render(text, values, 'html')).toBe(expected);
    },
  );

  it.each([
    [
      'Hi {nmae|x}',
      'unknown column {nmae} in "{nmae|x}" at character 4',
      /^Columns: name, .* \{\{ and \}\}\.$/,
    ],
    ['{?nmae}x{/nmae}', 'unknown column {nmae} in "{?nmae}" at character 1', /^Columns: /],
    ['{name|{debt}}', '"{" at character 1 is not a column', /./],
    ['{?}x{/}', 'unknown column {} in "{?}" at character 1', /./],
    ['Hi {?debt}x', '"{?debt}" at character 4 is not closed', /^Write \{\/debt\} where that section ends\.$/],
    [
      'x{/debt}',
      '"{/debt}" at character 2 closes no section',
      /^Write \{\?debt\} or \{!debt\} where the section begins\.$/,
    ],
    ['{?debt}x{/city}', '"{/city}" at character 9 closes no section', /^Write \{\/debt\} where/],
    [
      '{?debt}{?city}x{/debt}{/city}',
      '"{?city}" at character 8 is inside the section "{?debt}" at character 1',
      /cannot be nested/,
    ],
    [
      '{?debt}{!debt}x{/debt}',
      '"{!debt}" at character 8 is inside the section "{?debt}" at character 1',
      /cannot be nested/,
    ],
    ['{name|[city]}', '"[city]" is text here, not the column', /./],
    ['{?debt}[city]{/debt}', '"[city]" is text here, not the column', /./],
    ['{{{name|x}}}', '"{{{name|x}}}" would be the column in braces', /./],
    ['{{name|x}}', '"{{name|x}}" is text here, not the column', /./],
    [
      '{{#if Debt}}x{{/if}}',
      '"{{#if Debt}}" is text here, not the column',
      /^Write \{\?debt\}\.\.\.\{\/debt\} /,
    ],
    ['{{ unless debt }}x{{ end }}', '"{{ unless debt }}" is text here, not the column', /\{\?debt\}/],
    ['{{if .debt}}x{{end}}', '"{{if .debt}}" is text here, not the column', /\{\?debt\}/],
    ['*|IF:DEBT|*x*|END:IF|*', '"*|IF:DEBT|*" is text here, not the column', /\{\?debt\}/],
    ['Hi {name||x}', '"{name||x}" at character 4 has two bars', /^Write one: \{name\|friend\}\.$/],
    ["{name | | 'x'}", `"{name | | 'x'}" at character 1 has two bars`, /^Write one/],
    ['[if debt]x[/if]', '"[if debt]" is text here, not the column', /\{\?debt\}/],
  ])('%j is an error that names the place', (text, message, hint) => {
    const refused = () => render(text, []);
    expect(refused).toThrow(
      expect.objectContaining({
        kind: 'template',
        message: `text: ${message}`,
        hint: expect.stringMatching(hint),
      }),
    );
  });

  it.each([
    ['<style>a { b: c } {?debt}d{e:f}{/debt}</style>', '"{?debt}" is text in this <style>, not the column'],
    ['<p>{name}</p>{!important}', 'unknown column {important} in "{!important}" at character 14'],
    ['<p>\n{?debt}<!-- {x} -->', '"{?debt}" at character 5 is not closed'],
  ])('in HTML, %j is an error', (text, message) => {
    expect(() => render(text, [], 'html')).toThrow(`text: ${message}`);
  });

  it('a column of a report or rejects file is none of the list, in each form', async () => {
    const own = 'phone,line,error\n99112233,2,"phone: is empty"\n';
    for (const text of ['{error|x}', '{?error}x{/error}'])
      expect(await refusal(own, { text })).toMatchObject({
        message: expect.stringContaining("column of urtuu's report"),
      });
  });

  it('a row needs the columns of the sections that it takes, and those without a fallback', async () => {
    const csv =
      'phone,name,debt,due\n99112231,Бат,5,1\n99112232,,,\n99112233,,5,\n99112234,x,#N/A,1\n99112235,#N/A,,#N/A\n99112236,Ө,,#N/A\n';
    const text = '{name|эрхэм} {?debt}{debt} {due}{/debt}{!debt}ok{/debt}';
    const outcome = await plan(csv, { text, skipInvalid: true });
    expect(outcome.rejects.first).toEqual([
      'list.csv:4: due: is empty, but the message uses it',
      'list.csv:5: debt: #N/A is an error, not a value',
      'list.csv:6: name: #N/A is an error, not a value',
    ]);
    expect(await textsOf(outcome)).toEqual(['Бат 5 1', 'эрхэм ok', 'Ө ok']);
    expect(await plan(csv, { text: '{name|x}{name}', skipInvalid: true })).toMatchObject({
      meta: { rejected: 3 },
    });
  });

  it.each([
    ['sms', { text: '{?debt}Owes {debt}{/debt}' }, 'text: the text is empty'],
    ['sms', { text: '{debt|}\n' }, 'text: the text is empty'],
    ['email', { subject: '{debt|}', text: 'x' }, 'subject: the subject is empty'],
    ['email', { subject: 'x', text: '{debt|}', html: '<p>' }, 'text: the text is empty'],
    ['email', { subject: 'x', html: '{?debt}<p>{/debt}', text: undefined }, 'html: the html is empty'],
    ['email', { subject: 'x', text: 'x', fromName: '{debt| }' }, 'from-name: the from-name is empty'],
    ['email', { subject: 'x', text: 'x', replyTo: '{debt|}' }, 'reply-to: the reply-to is empty'],
  ] as const)('an empty result of %s %j is a bad row', async (channel, templates, error) => {
    const to = channel === 'sms' ? ['99112231', '99112232'] : ['a@b.mn', 'b@b.mn'];
    const csv = `to,debt\n${to[0]},c@b.mn\n${to[1]},\n`;
    const outcome = await plan(csv, { channel, ...templates, skipInvalid: true });
    expect(outcome).toMatchObject({ rejects: { first: [`list.csv:3: ${error}`] }, meta: { recipients: 1 } });
  });

  it('rows with a fallback are counted by column: those that are sent themselves', async () => {
    const csv =
      'phone,name,debt,city\n99112231,,,\n99112231,,,\n99112232,,,x\n9,,,\n99112233,a,1,\n99112232,b,,\n';
    const text = '{name|x} {?debt}{city|y}{/debt}{!debt}{city|}{/debt}';
    const outcome = await plan(csv, { text, skipInvalid: true });
    expect(outcome.fallbacks).toEqual([
      { column: 'name', rows: 2 },
      { column: 'city', rows: 2 },
    ]);
    expect(outcome.meta).toMatchObject({ merged: 1, rejected: 2 });
    expect((await plan('phone,name\n99112231,a\n', { text: '{name|x}' })).fallbacks).toEqual([]);
  });

  it('only a value that is put in is repaired, or warned of', async () => {
    const csv = 'phone,name,debt\n99112231, ,\n99112232, a,NULL\n99112233,b, 5\n';
    const outcome = await plan(csv, { text: '{name|x}{!debt}{debt|y}{/debt}' });
    expect(outcome.repairs).toEqual({ blanks: 1 });
    expect(outcome.placeholders).toMatchObject([{ column: 'debt', value: 'NULL', line: 3 }]);
    const untaken = await plan('phone,name,debt\n99112231,NULL,\n', { text: '{?debt}{name}{/debt}x' });
    expect(untaken.placeholders).toEqual([]);
  });

  it('a list whose columns are really called so has the plan that it had before', async () => {
    const csv = 'phone,a|b,?x,/x,!x\n99112233,1,2,3,4\n';
    const outcome = await plan(csv, { text: '{a|b}{?x}{/x}{!x} {{?phone}} {{a|c}}' });
    expect((await requestsOf(outcome))[0]?.body).toBe('{"to":"99112233","text":"1234 {?phone} {a|c}"}');
    expect(await rowsOf(outcome)).toHaveLength(1);
  });
});

/** A template as a tree, to write it and to render it naively. */
type Node =
  | { text: string }
  | { column: number; fallback: string | null }
  | { section: number; filled: boolean; nodes: Exclude<Node, { section: number }>[] };

const names = ['name', 'debt', 'Өр|2', '?q'];
const plainText = fc
  .string({ unit: fc.constantFrom('a', 'Ө', ' ', '|', '?', '/', '\n', '&'), maxLength: 5 })
  .filter((text) => !text.trimStart().startsWith('|'));
const column = fc.nat(names.length - 1);
const leaf = fc.oneof(
  fc.record({ text: fc.string({ unit: fc.constantFrom('a', '{', '}', '<', ' ', '?', '|'), maxLength: 5 }) }),
  fc.record({ column, fallback: fc.option(plainText) }),
);
const tree: fc.Arbitrary<Node[]> = fc.array(
  fc.oneof(
    leaf,
    fc.record({ section: column, filled: fc.boolean(), nodes: fc.array(leaf, { maxLength: 4 }) }),
  ),
  { maxLength: 6 },
);

function written(node: Node): string {
  if ('text' in node) return node.text.replace(/[{}]/g, '$&$&');
  if ('column' in node) return `{${names[node.column]}${node.fallback === null ? '' : `|${node.fallback}`}}`;
  const name = names[node.section];
  return `{${node.filled ? '?' : '!'}${name}}${node.nodes.map(written).join('')}{/${name}}`;
}

function naive(node: Node, values: readonly string[], escaping: (value: string) => string): string {
  if ('text' in node) return node.text;
  if ('column' in node) {
    const value = values[node.column] ?? '';
    return value.trim() === '' && node.fallback !== null ? node.fallback : escaping(value);
  }
  const isFilled = (values[node.section] ?? '').trim() !== '';
  return isFilled === node.filled ? node.nodes.map((each) => naive(each, values, escaping)).join('') : '';
}

/** How templates were rendered before there were fallbacks and sections. */
const asBefore = (text: string, values: readonly string[], escaping: (value: string) => string) =>
  text.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (all, name?: string) =>
    name === undefined ? (all[0] ?? '') : escaping(values[names.indexOf(name.trim())] ?? ''),
  );

const escaped = (value: string) =>
  value.replace(
    /[&<>"']/g,
    (each) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }[each]};`,
  );

describe('any template', () => {
  const values = fc.tuple(...names.map(() => fc.oneof(fc.constantFrom('', ' ', '0', '{name}'), fc.string())));

  it.each(['plain', 'html'] as const)('is rendered as a naive model of it: %s', (content) => {
    const escaping = content === 'html' ? escaped : (value: string) => value;
    fc.assert(
      fc.property(tree, values, (nodes, row) => {
        const text = nodes.map(written).join('');
        fc.pre(!/\{\{\{[^{}]*\}\}\}|<[^<>]*>/.test(text));
        const bound = bindTemplate(parseTemplate(text, 'text', content), names, content);
        expect(bound.render(row)).toBe(nodes.map((node) => naive(node, row, escaping)).join(''));
        if (nodes.some((node) => 'section' in node || ('fallback' in node && node.fallback !== null))) return;
        expect(bound.isConditional).toBe(false);
        expect(bound.render(row)).toBe(asBefore(text, row, escaping));
      }),
      { numRuns: 500 },
    );
  });
});
