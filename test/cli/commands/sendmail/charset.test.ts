import { describe, expect, it } from 'vitest';
import { allHighBytes, highBytes } from '../../../support/high-bytes.js';
import { emailResult } from '../../../support/resources.js';
import { fakeService, run } from '../../../support/run.js';

const utf8 = (text: string) => Buffer.from(text);
/** windows-1251, which has the letters of Mongolian but Ө and Ү. */
const cp1251 = (text: string) =>
  Buffer.from(
    [...text].map((letter) => (letter > '\x7f' ? letter.charCodeAt(0) - 0x410 + 0xc0 : letter.charCodeAt(0))),
  );
const koi8r = Buffer.from([0xf3, 0xc1, 0xca, 0xce]);
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();

const send = async (...mail: (string | Buffer)[]) => {
  const { fetch, requests } = fakeService(() => ({ body: emailResult() }));
  const stdin = Buffer.concat(mail.map((piece) => Buffer.from(piece)));
  const { code, stderr } = await run('sendmail bat@example.mn', { fetch, stdin });
  return { code, stderr, body: requests[0]?.body ?? null };
};
const typed = (charset: string, body: Buffer, encoding = '8bit') =>
  send(
    `Subject: s\nContent-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: ${encoding}\n\n`,
    encoding === 'base64'
      ? body.toString('base64')
      : encoding === 'quoted-printable'
        ? body.toString('hex').toUpperCase().replace(/../g, '=$&')
        : body,
  );

describe('the text of a mail', () => {
  const encodings = ['8bit', 'base64', 'quoted-printable'];
  const charsets: [charset: string, body: Buffer][] = [
    ['US-ASCII', utf8('Сайн')],
    ['ANSI_X3.4-1968', utf8('Сайн')],
    ['"646"', utf8('Сайн')],
    ['x-nobody-knows', utf8('Сайн')],
    ['unknown-8bit', utf8('Сайн')],
    ['UTF-8', utf8('Сайн')],
    ['windows-1251', cp1251('Сайн')],
    ['KOI8-R', koi8r],
  ];
  it.each(charsets.flatMap(([charset, body]) => encodings.map((encoding) => ({ charset, encoding, body }))))(
    'is read in $charset, $encoding',
    async ({ charset, encoding, body }) => {
      expect(await typed(charset, body, encoding)).toMatchObject({
        code: 0,
        stderr: '',
        body: { text: 'Сайн' },
      });
    },
  );

  it.each(Object.entries(highBytes).flatMap((each) => encodings.map((encoding) => [...each, encoding])))(
    'has every letter of %s',
    async (charset, letters, encoding) => {
      const { body } = await typed(
        charset,
        Buffer.concat([Buffer.from('x'), allHighBytes, Buffer.from('x')]),
        encoding,
      );
      expect(body).toMatchObject({ text: `x${letters}x` });
    },
  );

  it.each([
    ['utf-16le', utf16('Сайн')],
    ['utf-16be', utf16be('Сайн')],
    ['utf-16', utf16('Сайн')],
    ['utf-16', utf16be('Сайн')],
  ])('is read in %s', async (charset, body) => {
    expect((await typed(charset, body, 'base64')).body).toMatchObject({ text: 'Сайн' });
  });

  it.each([
    ['US-ASCII', cp1251('Сайн'), 'the text is not UTF-8'],
    ['x-nobody-knows', cp1251('Сайн'), 'the text is not UTF-8'],
    ['UTF-8', cp1251('Сайн'), 'the text is not UTF-8'],
    ['euc-kr', Buffer.from([0xff]), 'the text is not valid euc-kr'],
    ['utf-16', utf16('Сайн').subarray(2), 'the text is not valid utf-16'],
  ])('that is not in its charset is refused: %s', async (charset, body, reason) => {
    const { code, stderr, body: sent } = await typed(charset, body, 'base64');
    expect({ code, sent }).toEqual({ code: 65, sent: null });
    expect(stderr).toContain(reason);
  });

  it('without headers is UTF-8, or refused', async () => {
    expect(await send(utf8('диск дүүрэн'))).toMatchObject({ code: 0, body: { text: 'диск дүүрэн' } });
    expect(await send(cp1251('диск'))).toMatchObject({ code: 65, body: null });
  });

  it('is read in each part, and in a mail that is forwarded in it', async () => {
    const ascii = 'Content-Type: text/plain; charset=us-ascii\n\n';
    const parts = `--x\n${ascii}нэг\n--x\nContent-Type: message/rfc822\n\nSubject: inner\n${ascii}хоёр\n--x--\n`;
    const { code, body } = await send(`Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n${parts}`);
    expect(code).toBe(0);
    expect(body?.text).toMatch(/^нэг.*хоёр$/s);
  });
});

describe('a header of a mail', () => {
  const headers = (type: string, subject: Buffer, from = Buffer.from('root')) =>
    send(
      'From: ',
      from,
      ' <ops@example.mn>\nSubject: ',
      subject,
      `\nContent-Type: text/plain; charset=${type}\n\nhi`,
    );

  it.each([
    ['windows-1251', cp1251('Сайн')],
    ['"Windows-1251"', cp1251('Сайн')],
    ['koi8-r', koi8r],
    ['us-ascii', utf8('Сайн')],
    ['x-nobody-knows', utf8('Сайн')],
    ['windows-1251', utf8('Сайн')],
    ['us-ascii', Buffer.from('=?US-ASCII?Q?=D0=A1=D0=B0=D0=B9=D0=BD?=')],
    ['us-ascii', Buffer.from('=?x-nobody-knows?B?0KHQsNC5?= =?x-nobody-knows?B?0L0=?=')],
    ['us-ascii', Buffer.from('=?windows-1251?Q?=D1=E0=E9=ED?=')],
  ])('is read in the charset of the mail, %s, or its own', async (type, written) => {
    expect(await headers(type, written, written)).toMatchObject({
      code: 0,
      body: { subject: 'Сайн', from_name: 'Сайн', reply_to: 'ops@example.mn' },
    });
  });

  it.each(['windows-1252', 'iso-8859-1', 'cp1252'])(
    'has the quotes, dashes and signs of %s',
    async (charset) => {
      const written = Buffer.from([0x93, 0x80, 0x94, 0x92, 0x96, 0x85]);
      for (const [type, subject] of [
        [charset, written],
        ['us-ascii', Buffer.from(`=?${charset}?Q?=93=80=94=92=96=85?=`)],
        ['us-ascii', Buffer.from(`=?${charset}?B?${written.toString('base64')}?=`)],
      ] as const)
        expect((await headers(type, subject)).body).toMatchObject({ subject: '“€”’–…' });
    },
  );

  it.each([
    ['the subject', cp1251('Сайн'), Buffer.from('root')],
    ['the sender name', Buffer.from('s'), cp1251('Сайн')],
    ['the subject', Buffer.from('=?UTF-8?Q?=D1=E0=E9=ED?='), Buffer.from('root')],
  ])('is refused where it is not: %s', async (name, subject, from) => {
    const { code, stderr, body } = await headers('us-ascii', subject, from);
    expect({ code, body }).toEqual({ code: 65, body: null });
    expect(stderr).toContain(`${name} is not valid in its charset`);
  });

  it('may have the replacement character that another program left', async () => {
    expect((await headers('us-ascii', utf8('caf\ufffd'))).body).toMatchObject({ subject: 'caf\ufffd' });
  });

  it('does not matter where it is not sent on', async () => {
    const to = Buffer.concat([Buffer.from('To: '), cp1251('Бат'), Buffer.from(' <x@example.mn>\n\nhi')]);
    expect(await send(to)).toMatchObject({ code: 0, stderr: '' });
  });
});
