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

  const latin = (text: string) => Buffer.from(text, 'latin1');
  it.each<[charset: string, body: Buffer, text: string, guessed: string]>([
    ['US-ASCII', cp1251('Сайн байна уу'), 'Сайн байна уу', 'windows-1251'],
    ['x-nobody-knows', cp1251('Сайн'), 'Сайн', 'windows-1251'],
    ['UTF-8', cp1251('Сайн'), 'Сайн', 'windows-1251'],
    ['UTF-8', Buffer.from('c5b820cac0d0d2c0', 'hex'), 'Её КАРТА', 'windows-1251'],
    ['UTF-8', latin('Grüße, \x93naïveté\x94 où ça'), 'Grüße, “naïveté” où ça', 'windows-1252'],
    ['UTF-8', Buffer.concat([utf8('диск дүүр'), utf8('э').subarray(0, 1)]), 'диск дүүрÑ', 'windows-1252'],
    [
      'UTF-8',
      Buffer.concat([utf8('нэг\n'), cp1251('Сайн\n'), utf8('хоёр')]),
      'нэг\nСайн\nхоёр',
      'windows-1251',
    ],
    ['euc-kr', Buffer.from([0xff]), '\ufffd', 'euc-kr'],
    ['utf-16', utf16('Сайн').subarray(2), 'Сайн', 'utf-16le'],
    ['utf-16', utf16be('Hi Сайн').subarray(2), 'Hi Сайн', 'utf-16be'],
  ])(
    'that is not in its charset is read in the likeliest, and warned of: %s',
    async (charset, body, text, guessed) => {
      const { code, stderr, body: sent } = await typed(charset, body, 'base64');
      expect({ code, sent }).toMatchObject({ code: 0, sent: { text } });
      expect(stderr).toContain(`read as ${guessed}`);
    },
  );

  it.each(['windows-1252', 'iso-8859-1', 'windows-1251'])(
    'that is UTF-8 is read so under %s',
    async (charset) => {
      expect(await typed(charset, utf8('Сайн “уу”'))).toMatchObject({
        stderr: '',
        body: { text: 'Сайн “уу”' },
      });
    },
  );

  it('without headers is UTF-8, or read in the likeliest charset', async () => {
    expect(await send(utf8('диск дүүрэн'))).toMatchObject({ code: 0, body: { text: 'диск дүүрэн' } });
    expect(await send(cp1251('диск'))).toMatchObject({ code: 0, body: { text: 'диск' } });
  });

  it('is read in the charset that its page names', async () => {
    const page = '<meta http-equiv=Content-Type content="text/html; charset=koi8-r">';
    expect(await send(`Subject: s\nContent-Type: text/html\n\n${page}`, koi8r)).toMatchObject({
      stderr: '',
      body: { html: `${page}Сайн\n` },
    });
  });

  it.each(['text', '', 'plain', 'charset=utf-8'])('may be of the type %j, which is none', async (type) => {
    expect(await send(`Subject: s\nContent-Type: ${type}\n\nнэг`)).toMatchObject({
      code: 0,
      body: { text: 'нэг' },
    });
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
    cp1251('Сайн'),
    Buffer.from('=?UTF-8?Q?=D1=E0=E9=ED?='),
    Buffer.from('=?us-ascii?B?0eA=?=\n =?us-ascii?B?6e0=?='),
  ])('that is not in its charset is read in the likeliest: %s', async (written) => {
    const { code, stderr, body } = await headers('us-ascii', written, written);
    expect({ code, body }).toMatchObject({ code: 0, body: { subject: 'Сайн', from_name: 'Сайн' } });
    expect(stderr).toContain('read as windows-1251');
  });

  it('with an address in other letters is refused where its charset is guessed', async () => {
    const { fetch, requests } = fakeService(() => ({ body: emailResult() }));
    const stdin = Buffer.concat([Buffer.from('To: bat@'), cp1251('жишээ.мон'), Buffer.from('\n\nhi')]);
    expect((await run('sendmail -t', { fetch, stdin })).code).toBe(65);
    expect(requests).toEqual([]);
  });

  it.each([
    ['tabs', 'a\n\tb', 'a b', ''],
    ['a control character', 'a\x01\x7fb', 'a b', 'the subject has control characters'],
    ['a line separator', '=?utf-8?Q?a=E2=80=A8b?=', 'a b', ''],
    ['a line end', '=?utf-8?Q?a=0D=0Ab?=', 'a b', ''],
    ['blanks alone', '=?utf-8?Q?_?=', '(no subject)', ''],
    ['nothing', '', '(no subject)', ''],
    [
      '300 characters',
      'ө'.repeat(300),
      `${'ө'.repeat(254)}…`,
      'the subject has 300 characters: shortened to 255',
    ],
  ])('may have %s', async (_, written, subject, warning) => {
    const { code, stderr, body } = await headers('utf-8', utf8(written));
    expect({ code, body }).toMatchObject({ code: 0, body: { subject } });
    expect(stderr).toContain(warning);
    if (warning === '') expect(stderr).toBe('');
  });

  it('is repaired in the name of the sender too, and NUL in the text', async () => {
    const { stderr, body } = await send(`From: "${'ө'.repeat(300)}" <a@b.mn>\nSubject: s\n\nh\0i`);
    expect(body).toMatchObject({ from_name: `${'ө'.repeat(254)}…`, text: 'hi' });
    expect(stderr).toMatch(/sender name has 300 characters.*NUL/s);
  });

  it('may have the replacement character that another program left', async () => {
    expect((await headers('us-ascii', utf8('caf\ufffd'))).body).toMatchObject({ subject: 'caf\ufffd' });
  });

  it('is warned of where it is not sent on', async () => {
    const to = Buffer.concat([Buffer.from('To: '), cp1251('Бат'), Buffer.from(' <x@example.mn>\n\nhi')]);
    expect(await send(to)).toMatchObject({ code: 0, stderr: expect.stringContaining('windows-1251') });
  });
});
