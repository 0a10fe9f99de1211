import { describe, expect, it } from 'vitest';
import { readXml, type XmlHandler } from '../../../../../src/cli/bulk/input/workbook/xml.js';

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
      "<![CDATA[<&>]]]]><b a='1>2' /><b xmlns:a='v'>&lt;&#65;&#x1F600;\r\nx\ry</b ></x:a>\n",
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
