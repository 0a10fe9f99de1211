import { describe, expect, it } from 'vitest';
import { highBytes } from '../../../support/high-bytes.js';
import { plan, refusal, requestsOf } from '../plans.js';

const text = 'утас,нэр\n99112233,Өлзий\n88112233,Үүрийнтуяа\n';
const plain = 'утас,нэр\n99112233,Бат\n88112233,Дорж\n';

function windows1251(written: string): Buffer {
  const table = new TextDecoder('windows-1251').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from([...written].map((letter) => table.indexOf(letter)));
}
const utf16be = (written: string) => Buffer.from(written, 'utf16le').swap16();

describe('encodings', () => {
  it.each([
    ['UTF-8', Buffer.from(text), {}],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`), {}],
    ['UTF-8 with two marks', Buffer.from(`\ufeff\ufeff"${text.replace(',', '",')}`), {}],
    ['UTF-16LE with three marks', Buffer.from(`\ufeff\ufeff\ufeff${text}`, 'utf16le'), {}],
    ['UTF-16LE with its mark', Buffer.from(`\ufeff${text}`, 'utf16le'), {}],
    ['UTF-16BE with its mark', utf16be(`\ufeff${text}`), {}],
    ['UTF-16LE by its NULs', Buffer.from(text, 'utf16le'), {}],
    ['UTF-16BE by its NULs', utf16be(text), {}],
    ['UTF-16LE, named', Buffer.from(text, 'utf16le'), { encoding: 'utf-16' }],
    ['windows-1251, named', windows1251(plain), { encoding: 'cp1251' }],
  ])('%s', async (_, bytes, options) => {
    for (const blockBytes of [1, 3, 7, bytes.length]) {
      const outcome = await plan(bytes, { text: 'Сайн уу, {нэр}', blockBytes, ...options });
      const names = (await requestsOf(outcome)).map(({ body }) => JSON.parse(body).text.slice(9));
      expect(names).toEqual(
        'encoding' in options && options.encoding === 'cp1251' ? ['Бат', 'Дорж'] : ['Өлзий', 'Үүрийнтуяа'],
      );
    }
  });

  it.each(['windows-1252', 'koi8-r', 'ibm866'] as const)(
    '%s, named, has all its letters',
    async (encoding) => {
      const written = [...highBytes[encoding]].map((letter, at) => ({ letter, byte: 0x80 + at }));
      // Blanks and controls are rules of their own.
      const shown = written.filter(({ letter }) => /[^\p{C}\p{Z}]/u.test(letter));
      for (const blockBytes of [1, 7, 1_000]) {
        const bytes = Buffer.concat([
          Buffer.from('phone,name\n99112233,x'),
          Buffer.from(shown.map(({ byte }) => byte)),
          Buffer.from('x\n'),
        ]);
        const [request] = await requestsOf(await plan(bytes, { text: '{name}', blockBytes, encoding }));
        const { text: sent } = JSON.parse(request?.body ?? '');
        expect(sent).toBe(`x${shown.map(({ letter }) => letter).join('')}x`);
      }
    },
  );

  it.each([
    [
      'windows-1251 that nobody named',
      windows1251(plain),
      {},
      1,
      /is not UTF-8/,
      /--encoding .*windows-1251/,
    ],
    [
      'a broken byte further down',
      Buffer.from([...Buffer.from(text), 0xff, 0x0a]),
      {},
      4,
      /byte 0xff is not UTF-8/,
      /--encoding/,
    ],
    [
      'UTF-8 that ends in a character',
      Buffer.from(text).subarray(0, 26),
      {},
      2,
      /ends in the middle/,
      /--encoding/,
    ],
    [
      'UTF-16 that ends in a character',
      Buffer.from(`\ufeff${text}`, 'utf16le').subarray(0, 41),
      {},
      2,
      /invalid utf-16le/,
      /--encoding/,
    ],
    [
      'an unknown encoding',
      Buffer.from(text),
      { encoding: 'cp-9' },
      null,
      /unknown encoding cp-9/,
      /utf-16le/,
    ],
    [
      'a byte order mark of another encoding',
      Buffer.from(`\ufeff${text}`),
      { encoding: 'cp1251' },
      1,
      /utf-8 byte order mark/,
      /Leave out --encoding/,
    ],
    [
      'UTF-8 with --encoding windows-1251',
      Buffer.from(text),
      { encoding: 'cp1251' },
      1,
      /the input is UTF-8/,
      /Leave out --encoding/,
    ],
    [
      'Ө written as Є in windows-1251',
      windows1251('утас,нэр\n99112233,Бат\n88112233,Єлзий\n'),
      { encoding: 'cp1251' },
      3,
      /the letter "Є"/,
      /Ө/,
    ],
    [
      'a byte that windows-1251 has not',
      Buffer.from([...windows1251(plain), 0x98]),
      { encoding: 'cp1251' },
      4,
      /not windows-1251|the letter/,
      /UTF-8/,
    ],
  ])('%s is refused', async (_, bytes, options, line, message, hint) => {
    for (const blockBytes of [5, bytes.length]) {
      expect(await refusal(bytes, { ...options, blockBytes })).toMatchObject({
        kind: 'encoding',
        line,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
    }
  });

  it.each([1, 3, 4])('a text with a stray NUL is no UTF-16: %i of them', async (count) => {
    for (const place of ['99112233\0', '9911\x002233']) {
      const rows = ['88112233', '80112233', ...Array(count).fill(place)].join('\n');
      const outcome = await plan(`phone\n${rows}\n`, { skipInvalid: true });
      expect((await requestsOf(outcome))[0]?.to).toEqual(['88112233', '80112233']);
      expect(outcome.rejects.first[0]).toBe('list.csv:4: phone: contains a NUL');
    }
  });

  it('U+FFFD and NUL in a row are errors of that row', async () => {
    const outcome = await plan('phone,name\n99112233,B\ufffdt\n88112233,Do\0rj\n80112233,Saran\n', {
      skipInvalid: true,
    });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['80112233']);
    expect(outcome.rejects.first).toEqual([
      'list.csv:2: name: contains U+FFFD, a lost character',
      'list.csv:3: name: contains a NUL',
    ]);
  });
});
