import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { type XmlHandler, XmlScanner } from '../../../../../src/cli/bulk/input/workbook/xml-scanner.js';

type Event = ['open', string, string | undefined] | ['text', string] | ['close', string];

/** What the scanner hands out, texts put together; null where it refuses. */
function scanned(xml: string, blockCharacters = xml.length): Event[] | null {
  const events: Event[] = [];
  const handler: XmlHandler = {
    open: (name, attribute) => events.push(['open', name, attribute('a')]),
    text: (value) => addText(events, value),
    close: (name) => events.push(['close', name]),
  };
  const scanner = new XmlScanner(handler);
  try {
    for (let at = 0; at < xml.length; at += blockCharacters)
      scanner.write(xml.slice(at, at + blockCharacters));
    scanner.end();
  } catch (error) {
    expect(error).toMatchObject({ name: 'XmlFault' });
    return null;
  }
  return events;
}

/** The same of a full parser. */
function parsed(xml: string): Event[] | null {
  const events: Event[] = [];
  const parser = new SaxesParser({ xmlns: false });
  let fault = false;
  parser.on('error', () => {
    fault = true;
  });
  parser.on('opentag', ({ name, attributes }) => events.push(['open', name, attributes.a]));
  parser.on('text', (value) => addText(events, value));
  parser.on('cdata', (value) => addText(events, value));
  parser.on('closetag', ({ name }) => events.push(['close', name]));
  parser.write(xml).close();
  return fault ? null : events;
}

function addText(events: Event[], value: string): void {
  const last = events.at(-1);
  if (value === '' || events.length === 0 || (last?.[0] === 'close' && isOver(events))) return;
  if (last?.[0] === 'text') last[1] += value;
  else events.push(['text', value]);
}

const isOver = (events: Event[]) =>
  events.filter(([kind]) => kind === 'open').length === events.filter(([kind]) => kind === 'close').length;

describe('XML', () => {
  it.each([
    '<a/>',
    '<a></a>',
    '<a a="1">x</a>',
    "<a\n a = '1>2' b=\"'\" />",
    '<?xml version="1.0"?>\n<!-- x > y --><a>1<!-- -->2<?x y?>3<![CDATA[<&>]]]]></a>\n',
    '<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</a>',
    '<a>\r\nx\ry\n</a >',
    '<b><a a="&lt;x&gt;"/><a/></b>',
    '\ufeff<a/>',
  ])('%j is scanned as a full parser does, in blocks of any size', (xml) => {
    const events = parsed(xml);
    expect(events).not.toBeNull();
    for (let size = 1; size <= xml.length; size += 1) expect(scanned(xml, size)).toEqual(events);
  });

  it.each([
    ...['', ' ', 'x', '<a', '<a>', '<a>x', '<a></b>', '<a><b></a></b>', '</a>', '<a/><b/>', '<a/>x', 'x<a/>'],
    ...[
      '<a a=1/>',
      '<a a/>',
      '<a a="1"b="2"/>',
      '<a a="1" a="2"/>',
      '<a a="<"/>',
      '<a a="1/>',
      '<a / >',
      '< a/>',
    ],
    ...[
      '<a>&foo;</a>',
      '<a>&</a>',
      '<a>& b</a>',
      '<a>&#0;</a>',
      '<a>&#xD800;</a>',
      '<a>&#x110000;</a>',
      '<a a="&x;"/>',
    ],
    ...[
      '<!DOCTYPE a><a/>',
      '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      '<a><!ELEMENT b></a>',
      '<![CDATA[x]]><a/>',
    ],
    ...['<a><!-- </a>', '<a><![CDATA[</a>', '<a><?x </a>', '<a"/>', '<a><<b/></a>', '<>x</>'],
  ])('%j is refused, in blocks of any size', (xml) => {
    for (let size = 1; size <= Math.max(1, xml.length); size += 1) expect(scanned(xml, size)).toBeNull();
  });

  it('that is broken anywhere is never read as something else than a full parser reads', () => {
    const pieces = fc.constantFrom(
      ...[
        '<a>',
        '</a>',
        '<b a="1">',
        '</b>',
        '<a/>',
        '<b a="&amp;"/>',
        'x',
        ' ',
        '\r\n',
        '&lt;',
        '&#65;',
        '&x;',
        '&',
      ],
      ...[
        '<!-- c -->',
        '<!--',
        '-->',
        '<![CDATA[d]]>',
        '<?p q?>',
        '<',
        '>',
        '"',
        "'",
        '=',
        '/',
        'a="2"',
        '<a b="<">',
      ],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (inside, size) => {
        const xml = `<a>${inside.join('')}</a>`;
        const events = scanned(xml, size);
        expect(scanned(xml)).toEqual(events);
        const full = parsed(xml);
        // A full parser refuses more, such as a comment with -- in it; what both accept is the same.
        if (events !== null && full !== null) expect(events).toEqual(full);
        if (full !== null) expect(events).toEqual(full);
      }),
      { numRuns: 3_000 },
    );
  });

  it('that is nested without end, or has an endless text, is refused', () => {
    expect(scanned('<a>'.repeat(200) + '</a>'.repeat(200))).toBeNull();
    const scanner = new XmlScanner({ open: () => {} });
    expect(() => {
      for (let at = 0; at < 100; at += 1) scanner.write(`<${'a'.repeat(100_000)}`.slice(at === 0 ? 0 : 1));
    }).toThrow('a text has no end');
  });
});
