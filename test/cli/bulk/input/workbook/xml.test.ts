import { describe, expect, it } from 'vitest';
import { readXml, type XmlHandler } from '../../../../../src/cli/bulk/input/workbook/xml.js';
import { recordsOf } from './read.js';
import { workbookParts, zipOf } from './write-workbook.js';

type Event = ['open', string, string | undefined] | ['text', string] | ['close', string];

async function* blocksOf(xml: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(xml);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What the handler gets, texts put together. */
async function eventsOf(xml: string, blockBytes = Buffer.byteLength(xml) || 1): Promise<Event[]> {
  const events: Event[] = [];
  const handler: XmlHandler = {
    open: (name, attribute) => events.push(['open', name, attribute('a')]),
    text: (value) => {
      const last = events.at(-1);
      if (last?.[0] === 'text') last[1] += value;
      else events.push(['text', value]);
    },
    close: (name) => events.push(['close', name]),
  };
  await readXml('sheet1.xml', blocksOf(xml, blockBytes), handler);
  return events;
}

describe('a part of a workbook', () => {
  it('is read by local names, decoded, in blocks of any size', async () => {
    const xml = [
      '\ufeff<?xml version="1.0"?>\n<!-- x > y --><x:a xmlns:x="u" xmlns:a="v" x:a = "&lt;Ж&gt;">1<!-- -->2<?x y?>3',
      "<![CDATA[<&>]]]]><x:b a='1>2' /><x:b xmlns:a='v'>&lt;&#65;&#x1F600;\r\nx\ry</x:b ></x:a>\n",
    ].join('');
    for (let size = 1; size <= Buffer.byteLength(xml); size += 1)
      expect(await eventsOf(xml, size)).toEqual([
        ['open', 'a', '<Ж>'],
        ['text', '123<&>]]'],
        ['open', 'b', '1>2'],
        ['close', 'b'],
        ['open', 'b', undefined],
        ['text', '<A😀\nx\ny'],
        ['close', 'b'],
        ['close', 'a'],
      ]);
  });

  const compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';
  it.each([
    ['another prefix of the namespace', '<a xmlns="u" xmlns:x="u"><x:b><c/></x:b></a>', 'a a>b b>c'],
    ['a prefix declared where it is used', '<a xmlns="u"><x:b xmlns:x="u"/><c/></a>', 'a a>b a>c'],
    ['another namespace', '<a xmlns="u" xmlns:x="v"><x:b>1<c>2</c></x:b><c>3</c></a>', 'a a>c 3'],
    ['another default namespace', '<a xmlns="u"><b xmlns="v"><c/></b><c/></a>', 'a a>c'],
    ['a prefix that means something else inside', '<x:a xmlns:x="u"><x:b xmlns:x="v"/><x:c/></x:a>', 'a a>c'],
    ['an extension list', '<a xmlns="u"><extLst><ext><b>1</b></ext></extLst><c>2</c></a>', 'a a>c 2'],
    ['nested extension lists', '<a><b><extLst><extLst/><c/></extLst><c/></b><c/></a>', 'a a>b b>c a>c'],
    [
      'a choice of extensions',
      `<a xmlns="u" ${compatibility}><mc:AlternateContent><mc:Choice Requires="x"><b>1</b></mc:Choice><mc:Fallback><c>2</c></mc:Fallback></mc:AlternateContent><d/></a>`,
      'a a>c 2 a>d',
    ],
  ])('with %s has the elements of its own vocabulary alone', async (_, xml, expected) => {
    const seen: string[] = [];
    const closed: string[] = [];
    const place = (name: string, parent: string) => (parent === '' ? name : `${parent}>${name}`);
    await readXml('sheet1.xml', blocksOf(xml, 3), {
      open: (name, _, parent) => seen.push(place(name, parent)),
      text: (value) => seen.push(value),
      close: (name, parent) => closed.push(place(name, parent)),
    });
    expect(seen.join(' ')).toBe(expected);
    expect(closed.sort()).toEqual(seen.filter((each) => !/\d/.test(each)).sort());
  });

  it.each([
    ...['', 'x', '<a', '<a>', '<a></b>', '</a>', '<a/><b/>', '<a/>x', 'x<a/>', '<a><!-- </a>'],
    ...['<a a=1/>', '<a a="1" a="2"/>', '<a a="<"/>', '<a xmlns:x="u" a="1" x:a="2"/>'],
    ...['<a>&foo;</a>', '<a>&</a>', '<a>&#0;</a>', '<a a="&x;"/>'],
    ...['<!DOCTYPE a><a/>', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    '<a>'.repeat(200) + '</a>'.repeat(200),
  ])('is damaged as %j, in blocks of any size', async (xml) => {
    for (const size of [1, 2, 7, 1_000])
      await expect(eventsOf(xml, size)).rejects.toThrow('is damaged: sheet1.xml is not plain XML: ');
  });

  it('is damaged as other bytes than UTF-8', async () => {
    const part = readXml('sheet1.xml', blocksOf(`<a>${'x'.repeat(20)}</a>`, 10), { open: () => {} });
    await expect(part).resolves.toBeUndefined();
    async function* latin() {
      yield Buffer.from('<a>\xe9</a>', 'latin1');
    }
    await expect(readXml('sheet1.xml', latin(), { open: () => {} })).rejects.toThrow(
      'is damaged: sheet1.xml is not UTF-8',
    );
  });

  it.each([
    ['text', '<a>'],
    ['tag', '<a '],
    ['name', '<'],
    ['comment', '<a><!--'],
    ['document type', '<!DOCTYPE '],
  ])('is not read on in an endless %s', async (_, begin) => {
    let blocks = 0;
    async function* endless() {
      yield Buffer.from(begin);
      for (;;) {
        blocks += 1;
        yield Buffer.alloc(100_000, 'a');
      }
    }
    await expect(readXml('sheet1.xml', endless(), { open: () => {} })).rejects.toThrow('a text has no end');
    expect(blocks).toBeLessThan(50);
  });
});

describe('a date of 1904 keeps its day and its format', () => {
  const x15 = 'xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main"';
  const dxf = (id: number) => `<dxf><numFmt numFmtId="${id}" formatCode="0.00%"/></dxf>`;
  const workbookPart = 'xl/workbook.xml';
  const stylesPart = 'xl/styles.xml';
  const sheetPart = 'xl/worksheets/sheet1.xml';
  it.each<[string, string, string, string]>([
    [
      'conditional formats with its id',
      stylesPart,
      '</styleSheet>',
      `<dxfs>${dxf(14)}${dxf(170)}</dxfs></styleSheet>`,
    ],
    ['conditional formats before its own', stylesPart, '<numFmts>', `<dxfs>${dxf(170)}</dxfs><numFmts>`],
    [
      'formats in an extension',
      stylesPart,
      '<numFmts>',
      '<extLst><ext><numFmts><numFmt numFmtId="170" formatCode="0%"/></numFmts></ext></extLst><numFmts>',
    ],
    [
      'properties in an extension',
      workbookPart,
      '</workbook>',
      `<extLst><ext ${x15}><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst></workbook>`,
    ],
    [
      'properties of its own namespace in an extension',
      workbookPart,
      '</workbook>',
      '<extLst><ext><workbookPr date1904="0"/></ext></extLst></workbook>',
    ],
    ['properties of another namespace', workbookPart, '<sheets>', `<x15:workbookPr ${x15}/><sheets>`],
    [
      'properties of another default namespace',
      workbookPart,
      '<sheets>',
      '<workbookPr xmlns="http://example.com/"/><sheets>',
    ],
    ['sheets of another namespace', workbookPart, '<sheets>', `<sheets><x15:sheet ${x15} name="x"/>`],
    [
      'cells of another namespace',
      sheetPart,
      '</row></sheetData>',
      `<x15:c ${x15} r="Z9"><v>1</v></x15:c></row></sheetData>`,
    ],
    [
      'a value of another namespace',
      sheetPart,
      '</v></c></row></sheetData>',
      `</v><x15:v ${x15}>1</x15:v></c></row></sheetData>`,
    ],
    [
      'an extension of its cell',
      sheetPart,
      '</c></row></sheetData>',
      '<extLst><ext><v>1</v></ext></extLst></c></row></sheetData>',
    ],
    ['a text in an extension', 'xl/sharedStrings.xml', '</si>', '<extLst><ext><t>x</t></ext></extLst></si>'],
    [
      'rows in an extension',
      sheetPart,
      '</worksheet>',
      '<extLst><ext><sheetData><row r="9"><c><v>1</v></c></row></sheetData></ext></extLst></worksheet>',
    ],
  ])('beside %s', async (_, name, mark, replacement) => {
    for (const format of ['yyyy-mm-dd', 14]) {
      const sheets = [{ rows: [['a'], [{ xml: 's="1"><v>43538</v>' }]] }];
      const parts = workbookParts({ formats: [format], from1904: true, sheets });
      const part = String(parts.get(name));
      expect(part).toContain(mark);
      parts.set(name, Buffer.from(part.replace(mark, replacement)));
      expect(await recordsOf(zipOf(parts))).toEqual([['a'], ['2023-03-15']]);
    }
  });
});
