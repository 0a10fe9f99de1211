import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../../../src/cli/bulk/input/workbook/archive.js';
import { readWorkbook } from '../../../../../src/cli/bulk/input/workbook/read-workbook.js';
import { SharedStrings } from '../../../../../src/cli/bulk/input/workbook/shared-strings.js';
import { tableChecksum } from '../../../../../src/cli/xlsx/checksum.js';
import { seededRandom } from '../../../../support/random.js';
import { read } from './read.js';
import { workbook, workbookParts, zipOf } from './write-workbook.js';

const list = [
  ['phone', 'name', 'day'],
  [99_112_233, 'Бат', { xml: 's="1"><v>45000</v>' }],
  [88_112_233, 'Дорж', { xml: 's="1"><v>45001</v>' }],
];
const book = { sheets: [{ rows: list }], formats: ['yyyy-mm-dd'] };

describe('an archive', () => {
  it.each<[string, (parts: Map<string, Buffer>) => Map<string, Buffer>, string]>([
    [
      'a binary workbook',
      (parts) => parts.set('xl/workbook.bin', Buffer.from('x')),
      'is a binary workbook (.xlsb)',
    ],
    [
      'an OpenDocument sheet',
      () => new Map([['content.xml', Buffer.from('<x/>')]]),
      'is an OpenDocument sheet',
    ],
    ['a Word document', () => new Map([['word/document.xml', Buffer.from('<x/>')]]), 'is a Word document'],
    [
      'a presentation',
      () => new Map([['ppt/presentation.xml', Buffer.from('<x/>')]]),
      'is a PowerPoint file',
    ],
    ['Numbers', () => new Map([['Index/Document.iwa', Buffer.from('x')]]), 'is a Numbers sheet'],
    [
      'Numbers in a folder',
      () => new Map([['list.numbers/Index.zip', Buffer.from('x')]]),
      'is a Numbers sheet',
    ],
    [
      'other files',
      () => new Map([['list.csv', Buffer.from('phone\n99112233\n')]]),
      'is a zip archive without a workbook',
    ],
  ])('of %s is named', async (_, change, message) => {
    await expect(read(zipOf(change(workbookParts(book))))).rejects.toMatchObject({
      name: 'WorkbookError',
      message,
    });
  });

  it.each<[string, () => Buffer, RegExp]>([
    [
      'encrypted',
      () => zipOf(workbookParts(book), { lies: { 'xl/worksheets/sheet1.xml': { flags: 1 } } }),
      /^is encrypted$/,
    ],
    ['cut off', () => workbook(book).subarray(0, 900), /^is cut off: its end is missing$/],
    [
      'with a part twice',
      () => zipOf([...workbookParts(book), ['XL/Workbook.xml', Buffer.from('x')]]),
      /two parts named XL\/Workbook.xml/,
    ],
    [
      'with a path that leads out of it',
      () => zipOf([...workbookParts(book), ['../evil', Buffer.from('x')]]),
      /invalid relative path/,
    ],
    [
      'with an absolute path',
      () => zipOf([...workbookParts(book), ['/etc/passwd', Buffer.from('x')]]),
      /absolute path/,
    ],
    [
      'with the wrong checksum',
      () => zipOf(workbookParts(book), { lies: { 'xl/worksheets/sheet1.xml': { checksum: 1 } } }),
      /^is damaged: its part xl\/worksheets\/sheet1\.xml has the wrong checksum/,
    ],
    [
      'with fewer bytes than it says',
      () => zipOf(workbookParts(book), { lies: { 'xl/worksheets/sheet1.xml': { unpacked: 90_000 } } }),
      /cannot be unpacked/,
    ],
    [
      'with more bytes than it says',
      () => zipOf(workbookParts(book), { lies: { 'xl/worksheets/sheet1.xml': { unpacked: 10 } } }),
      /cannot be unpacked/,
    ],
    [
      'that says a part has gigabytes',
      () => zipOf(workbookParts(book), { lies: { 'xl/worksheets/sheet1.xml': { unpacked: 3e9 } } }),
      /^unpacks xl\/worksheets\/sheet1\.xml to 3000 MB/,
    ],
    [
      'with very many parts',
      () => zipOf(Array.from({ length: 10_001 }, (_, at) => [`p${at}`, Buffer.alloc(0)] as const)),
      /^has 10001 parts/,
    ],
    ['with a bomb', bomb, /^unpacks xl\/sharedStrings\.xml to 61 MB: too large for a list/],
  ])('%s is refused', async (_, bytes, message) => {
    await expect(read(bytes())).rejects.toThrow(message);
  });

  it.each(['sharedStrings', 'styles', 'worksheets/sheet1'])(
    'without its part %s is refused',
    async (part) => {
      const parts = workbookParts(book);
      parts.delete(`xl/${part}.xml`);
      await expect(read(zipOf(parts))).rejects.toThrow(`its part xl/${part}.xml is missing`);
    },
  );

  function bomb(): Buffer {
    const parts = workbookParts(book);
    return zipOf(parts.set('xl/sharedStrings.xml', Buffer.alloc(61_000_000, 'x')));
  }
});

describe('a part', () => {
  const withPart = (name: string, change: (xml: string) => string) => {
    const parts = workbookParts(book);
    return zipOf(parts.set(name, Buffer.from(change(parts.get(name)?.toString() ?? ''), 'latin1')));
  };
  const parts = [
    'xl/workbook.xml',
    'xl/worksheets/sheet1.xml',
    'xl/sharedStrings.xml',
    'xl/styles.xml',
    '_rels/.rels',
    'xl/_rels/workbook.xml.rels',
  ];

  it.each(parts)('%s with a document type is refused', async (name) => {
    const entity = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>';
    const bytes = withPart(name, (xml) => xml.replace('?>', `?>${entity}`));
    await expect(read(bytes)).rejects.toThrow(
      `is damaged: ${name} is not plain XML: it declares a document type`,
    );
  });

  it.each(parts)(
    '%s with an entity of its own, an open tag or bytes that are not UTF-8 is refused',
    async (name) => {
      await expect(read(withPart(name, (xml) => xml.replace(/(<\/[^>]*>)$/, '&x;$1')))).rejects.toThrow(
        `${name} is not plain XML`,
      );
      await expect(read(withPart(name, (xml) => xml.replace(/<\/[^>]*>$/, '')))).rejects.toThrow(
        `${name} is not plain XML`,
      );
      await expect(read(withPart(name, (xml) => xml.replace(/(<\/[^>]*>)$/, '\xff$1')))).rejects.toThrow(
        `${name} is not UTF-8`,
      );
    },
  );

  it('outside of the archive is never read', async () => {
    const bytes = withPart('xl/_rels/workbook.xml.rels', (xml) =>
      xml.replace('Target="worksheets/sheet1.xml"', 'Target="file:///etc/passwd" TargetMode="External"'),
    );
    await expect(read(bytes)).rejects.toThrow('its sheet Sheet1 is missing');
    const upwards = withPart('xl/_rels/workbook.xml.rels', (xml) =>
      xml.replace('"worksheets/', '"../../../../etc/'),
    );
    await expect(read(upwards)).rejects.toThrow('its part ../../../etc/sheet1.xml is missing');
  });
});

describe('damage on the way', () => {
  const bytes = workbook(book);
  const whole = read(bytes);
  const random = seededRandom(16);

  /** Reads damaged bytes: the very same rows, or an error that names what is wrong. */
  async function check(damaged: Buffer): Promise<'same' | 'refused'> {
    const { rows } = await whole;
    try {
      expect((await read(damaged)).rows).toEqual(rows);
      return 'same';
    } catch (error) {
      expect(error).toMatchObject({ name: 'WorkbookError' });
      return 'refused';
    }
  }

  it('of any one bit never changes a row', async () => {
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 1 + Math.floor(random() * 4)) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      if ((await check(damaged)) === 'refused') refused += 1;
    }
    expect(refused).toBeGreaterThan(bytes.length / 8);
  }, 60_000);

  it('of several bytes never changes a row', async () => {
    for (let run = 0; run < 300; run += 1) {
      const damaged = Buffer.from(bytes);
      for (let count = 1 + random() * 8; count > 0; count -= 1) {
        damaged[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      await check(damaged);
    }
  }, 60_000);

  it('of its end never changes a row', async () => {
    for (let length = 0; length < bytes.length; length += 1 + Math.floor(random() * 20)) {
      expect(await check(bytes.subarray(0, length))).toBe('refused');
    }
  });

  it('of the XML inside never hangs, and never ends in anything but an error or rows', async () => {
    const names = [...workbookParts(book).keys()];
    for (let run = 0; run < 300; run += 1) {
      const parts = workbookParts(book);
      const name = names[run % names.length] ?? '';
      const part = parts.get(name) ?? Buffer.alloc(0);
      for (let count = 1 + random() * 4; count > 0; count -= 1) {
        part[Math.floor(random() * part.length)] = 0x20 + Math.floor(random() * 0x5f);
      }
      await read(zipOf(parts.set(name, part))).catch((error) =>
        expect(error).toMatchObject({ name: 'WorkbookError' }),
      );
    }
  });
});

it('the checksum of old Node.js releases is that of zip', () => {
  expect(tableChecksum(Buffer.from('123456789'), 0)).toBe(0xcbf4_3926);
  expect(tableChecksum(Buffer.from('56789'), tableChecksum(Buffer.from('1234'), 0))).toBe(0xcbf4_3926);
});

it('texts beyond the memory for them are kept in a store, and are the same', () => {
  const stores: MemoryStore[] = [];
  const strings = new SharedStrings(() => {
    const store = new MemoryStore();
    stores.push(store);
    return store;
  });
  const textOf = (index: number) => `${index} ${'Өө'.repeat((index * 7919) % 30_000)}`;
  const count = 1_500;
  for (let index = 0; index < count; index += 1) strings.add(textOf(index));
  expect(stores).toHaveLength(1);
  for (const index of [0, 1, 2, 700, 1_200, count - 1, 5, count - 2])
    expect(strings.get(index)).toBe(textOf(index));
  for (const index of [-1, count, Number.NaN]) expect(strings.get(index)).toBeUndefined();
});

it('a failing store is not reported as a damaged workbook', async () => {
  class Failing extends MemoryStore {
    override read(): Buffer {
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    }
  }
  async function* bytes() {
    yield workbook(book);
  }
  const reading = readWorkbook(bytes(), { store: () => new Failing() }, () => () => {});
  await expect(reading).rejects.toMatchObject({ code: 'EIO' });
});
