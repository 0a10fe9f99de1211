import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { readMail } from '../../../src/service/inbox/read-mail.js';
import { bounceOf } from '../../support/bounces.js';
import { cpuTime } from '../../support/cpu-time.js';
import { allHighBytes, highBytes } from '../../support/high-bytes.js';

const read = (...lines: string[]) => readMail(Buffer.from(lines.join('\r\n'), 'latin1'));

describe('a mail', () => {
  it('gives sender, recipients, subject and text', async () => {
    const mail = await read(
      'Delivered-To: no-reply@Shop.mn',
      'From: =?UTF-8?B?0JHQsNGC?= <bat@Example.com>',
      'To: Shop <no-reply@shop.mn>, team: a@b.mn, c@d.mn;',
      'Cc: no-reply@shop.mn',
      'Subject: =?koi8-r?B?89DB08nCzw==?=',
      'Content-Type: text/plain; charset=windows-1251',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '=D1=EF=E0=F1=E8=E1=EE',
    );
    expect(mail).toMatchObject({
      from: 'bat@example.com',
      recipients: ['no-reply@shop.mn', 'a@b.mn', 'c@d.mn'],
      subject: 'Спасибо',
      text: 'Спасибо',
      report: null,
    });
  });

  it.each(Object.entries(highBytes))(
    'has every letter of %s, in its text, its page and its subject',
    async (charset, letters) => {
      const bytes = Buffer.concat([Buffer.from('x'), allHighBytes, Buffer.from('x')]);
      const quoted = bytes.toString('hex').toUpperCase().replace(/../g, '=$&');
      for (const type of ['plain', 'html']) {
        const mail = await read(
          'From: a@b.mn',
          `Subject: =?${charset}?Q?${quoted}?= =?${charset}?B?${bytes.toString('base64')}?=`,
          `Content-Type: text/${type}; charset=${charset}`,
          'Content-Transfer-Encoding: base64',
          '',
          bytes.toString('base64'),
        );
        expect(mail).toMatchObject({ subject: `x${letters}xx${letters}x`, text: `x${letters}x` });
      }
    },
  );

  it('has the text of its page where it has no other, and no attachments', async () => {
    const html =
      '<style>b{}</style><p>Сайн <b>уу</b> &amp; <A\nclass=x href="https://b.mn/?a&amp;b">баяртай</a></p><script>x</script>';
    const mail = await read(
      'From: a@b.mn',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(html).toString('base64'),
      '--x',
      'Content-Type: application/pdf; name=bill.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--x--',
    );
    expect(mail.text).toBe('Сайн уу & (https://b.mn/?a&b) баяртай');
    expect(JSON.stringify(mail)).not.toContain('bill');
  });

  it.each<[what: string, lines: string[], text: string]>([
    [
      'before and behind the body',
      ['Above<html><head><title>x</title></head>Top<body>In</body>Low</html>Below'],
      'Above Top In Low Below',
    ],
    ['before a doctype', ['Above<!DOCTYPE html><html><body>In'], 'Above In'],
    ['below a title without an end', ['<html><title>Above<p>In'], 'Above In'],
    ['between signs', ['1 < 2 and 3 > 2 <3'], '1 < 2 and 3 > 2 <3'],
    ['with numbers of windows-1252', ['It&#146;s &#x93;4&#150;5&#0148 &#133;&#129;&#8217;'], 'It’s “4–5” …’'],
  ])('has the text of a page %s', async (_, page, text) => {
    const mail = await read('From: a@b.mn', 'Content-Type: text/html', '', ...page);
    expect(mail.text.replace(/\s+/g, ' ')).toBe(text);
  });

  const blankBeside = (page: string, blank = '') =>
    `Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\n${blank}\r\n--x\r\nContent-Type: text/html\r\n\r\n${page}\r\n--x--`;
  it.each<[what: string, mail: string, text: string]>([
    ['the page beside a blank text', blankBeside('<p>Yes'), 'Yes'],
    ['the page beside a text of blanks', blankBeside('<p>Yes', ' \u00a0\r\n \t'), 'Yes'],
    ['no page beside a text', blankBeside('<p>Yes', 'No'), 'No'],
    [
      'the text below a line of blanks',
      'Subject: s\r\n \r\nHi: you\r\nthere\r\n\r\nBye',
      'Hi: you there Bye',
    ],
    ['the text below the last header', 'Subject: s\r\nHi', 'Hi'],
    [
      'the text before a mail that it quotes',
      'Subject: s\r\nHi\r\nFrom: c@d.mn\r\n\r\nBye',
      'Hi From: c@d.mn Bye',
    ],
    ['headers below one that is broken', 'X\r\n \r\nSubject: s\r\nMIME-Version: 1.0\r\n\r\nHi', 'Hi'],
    ['a type that is none', 'Content-Type: text\r\n\r\nHi', 'Hi'],
    ['parts without a boundary', 'Content-Type: multipart/mixed\r\n\r\nHi', 'Hi'],
  ])('has %s', async (_, mail, text) => {
    expect((await readMail(Buffer.from(`From: a@b.mn\r\n${mail}`))).text.replace(/\s+/g, ' ')).toBe(text);
  });

  // "Сайн байна уу" in windows-1251, and `It’s naïve` in windows-1252.
  const cyrillic = '\xd1\xe0\xe9\xed \xe1\xe0\xe9\xed\xe0 \xf3\xf3';
  it.each<[type: string, body: string, text: string]>([
    ['text/plain', cyrillic, 'Сайн байна уу'],
    ['text/plain; charset=utf-8', cyrillic, 'Сайн байна уу'],
    ['text/plain; charset=x-klingon', 'It\x92s na\xefve', 'It’s naïve'],
    ['text/plain; charset=us-ascii', '\xd0\xa1\xd0\xb0', 'Са'],
    ['text/plain; charset=x-klingon', '\xd0\xa1\xd0\xb0', 'Са'],
    ['text/html', `<meta charset="koi8-r">\xf3\xc1`, 'Са'],
    ['text/plain; charset=cp949', '\xb0\xa1', '가'],
  ])('of the type %s has its letters: %s', async (type, body, text) => {
    expect((await read('From: a@b.mn', `Content-Type: ${type}`, '', body)).text).toBe(text);
  });

  it.each([
    [`Subject: ${cyrillic}`, 'Сайн байна уу'],
    ['Subject: \xf3\xc1\r\nContent-Type: text/plain; charset=koi8-r', 'Са'],
    ['Subject: =?utf-8?Q?=D1=E0=E9=ED?=', 'Сайн'],
    ['Subject: =?x-unknown?B?0A==?= =?x-unknown?B?oQ==?=', 'С'],
    ['Subject: =?utf-8?B?0A==?=\r\n =?utf-8?B?oQ==?= =?utf-8?Q?=D0=A1?=', 'СС'],
    ['Subject: \xd0\xa1', 'С'],
  ])('has the letters of its subject: %s', async (header, subject) => {
    expect((await read('From: a@b.mn', header, '', 'Hi')).subject).toBe(subject);
  });

  it('has the letters of a mail in it', async () => {
    const inner = ['From: a@b.mn', `Subject: ${cyrillic}`, '', cyrillic];
    const mail = await read('From: a@b.mn', 'Content-Type: message/rfc822', '', ...inner);
    expect(mail.text.match(/Сайн байна уу/g)).toHaveLength(2);
  });

  it.each([
    ['From: Cron <root@localhost>', 'root@localhost'],
    ['From: =?utf-8?B?0JHQsNGC?= <..bat@b.mn>', '..bat@b.mn'],
    ['From: MAILER-DAEMON (Mail Delivery System)', 'MAILER-DAEMON'],
    ['From: bat@[192.0.2.1]', 'bat@[192.0.2.1]'],
    ['From: root@localhost\r\nSender: a@b.mn', 'a@b.mn'],
    ['Return-Path: <c@d.mn>', 'c@d.mn'],
    ['From:', ''],
  ])('has its sender, also one that nothing can be sent to: %s', async (header, from) => {
    expect((await read(header, '', 'Hi')).from).toBe(from);
  });

  it('is cut to 1 MB of text, between characters', async () => {
    const mail = await readMail(
      Buffer.from(`From: a@b.mn\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${'ө'.repeat(600_000)}`),
    );
    expect([mail.text.length, new Set(mail.text).size]).toEqual([500_000, 1]);
  });

  it('has its text before and after a large attachment, also in a mail in it', async () => {
    const part = (type: string, body: string) => `--x\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
    const parts = (pdf: string) =>
      `From: a@b.mn\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\nPreamble\r\n` +
      `${part('text/plain', 'One')}${part('application/pdf', pdf)}${part('text/plain', 'Two')}--x--\r\n`;
    const pdf = 'line\r\n'.repeat(400_000);
    const inner = parts(pdf).replaceAll('=x', '=y').replaceAll('--x', '--y');
    const mail = await readMail(
      Buffer.from(parts(pdf).replace('application/pdf\r\n\r\n', `message/rfc822\r\n\r\n${inner}`)),
    );
    expect(mail.text.match(/One|Two|Preamble|line/g)).toEqual(['One', 'One', 'Two', 'Two']);
  });

  it('leaves other parsers of this process as they are', async () => {
    const part = (type: string, body: string) => `--x\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
    const raw = `From: a@b.mn\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n${part('text/plain', 'Hi')}${part('text/html', '<a href=y>z</a>')}${part('application/pdf', 'pdf')}--x--`;
    await readMail(Buffer.from(raw));
    const mail = await PostalMime.parse(raw);
    expect(mail.html).toContain('<a href=y>z</a>');
    expect(mail.attachments).toHaveLength(1);
  });

  it('is known again, whichever of its recipients gets it', async () => {
    const mail = (...first: string[]) => read(...first, 'Message-ID: <1@b.mn>', 'From: a@b.mn', '', 'Hi');
    const { fingerprint } = await mail();
    expect((await mail('Delivered-To: x@shop.mn')).fingerprint).toBe(fingerprint);
    expect((await mail('Subject: Hi')).fingerprint).not.toBe(fingerprint);
  });

  it.each([
    ['nothing', ''],
    ['no headers', '\r\n\r\nHi'],
    ['over a million lines', `From: a@b.mn\n${'\n'.repeat(1_000_000)}`],
    ['headers over 250 kB', `X: ${'a'.repeat(260_000)}\r\n\r\n`],
    ['over 20,000 lines of headers', `${'a:\n'.repeat(20_100)}\r\nHi`],
    ['over 1,000 parts', `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\n\n'.repeat(1_100)}`],
    [
      'parts in parts in parts',
      Array.from(
        { length: 200 },
        (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
      ).join(''),
    ],
  ])('is not %s', async (_, raw) => {
    await expect(readMail(Buffer.from(raw))).rejects.toThrow();
  });

  it.each<[string, string]>([
    ['an unknown charset', 'Content-Type: text/plain; charset=x-klingon\r\n\r\nHi'],
    ['an unknown encoding', 'Content-Transfer-Encoding: rot13\r\n\r\nHi'],
    ['a boundary that never comes', 'Content-Type: multipart/mixed; boundary=never\r\n\r\nHi'],
    ['no boundary', 'Content-Type: multipart/mixed\r\n\r\n--x\r\n\r\nHi'],
    ['a name that is a property', '__proto__: 1\r\nconstructor: 2\r\n\r\nHi'],
  ])('may have %s', async (_, rest) => {
    expect(await readMail(Buffer.from(`From: a@b.mn\r\n${rest}`))).toMatchObject({ from: 'a@b.mn' });
  });

  it('of any bytes is read or refused, and can be stored', async () => {
    const piece = fc.constantFrom(
      'From: ',
      'To: ',
      'Subject: ',
      'Content-Type: multipart/report; boundary=x\r\n',
      'Content-Type: message/rfc822\r\n',
      'Content-Type: text/html; charset=utf-16\r\n',
      'Content-Type: message/delivery-status\r\n',
      'Action: failed\r\n',
      'Content-Transfer-Encoding: base64\r\n',
      '=?utf-8?q?=00=ED=A0=80?=',
      '\r\n',
      '\r\n\r\n',
      '\n',
      '--x\r\n',
      '--x--\r\n',
      ' ',
      '\0',
      ';',
      ',',
      '<',
      '@',
    );
    const raw = fc.array(
      fc.oneof(
        piece.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 20 }),
      ),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(raw, async (pieces) => {
        const mail = await readMail(Buffer.concat(pieces)).catch((error) => {
          expect(error).toBeInstanceOf(Error);
          return null;
        });
        for (const text of [mail?.text ?? '', mail?.subject ?? '', mail?.from ?? '']) {
          expect(Buffer.from(text).toString()).toBe(text);
          expect(text).not.toContain('\0');
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, () => string]>([
    ['boundaries', () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\n\r\n'.repeat(5_000)}`],
    ['mails in mails', () => 'Content-Type: message/rfc822\r\n\r\n'.repeat(3_000)],
    ['recipients', () => `To: ${'a@b.mn,'.repeat(50_000)}\r\n\r\n`],
    ['groups', () => `To: ${'a:'.repeat(50_000)}\r\n\r\n`],
    ['comments', () => `To: ${'('.repeat(200_000)}\r\n\r\n`],
    ['encoded words', () => `Subject: ${'=?utf-8?q?a?= '.repeat(20_000)}\r\n\r\n`],
    ['tags', () => `Content-Type: text/html\r\n\r\n${'<div>'.repeat(400_000)}`],
    ['styles', () => `Content-Type: text/html\r\n\r\n${'<style>'.repeat(200_000)}`],
    ['links without an end', () => `Content-Type: text/html\r\n\r\n<a ${'href='.repeat(40_000)}`],
    ['a link before a long word', () => `Content-Type: text/html\r\n\r\n<a href=x>${'x'.repeat(500_000)}`],
    [
      'links in a mail in a mail with a text',
      () =>
        `Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: message/rfc822\r\n\r\n` +
        `Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\nHi\r\n--y\r\nContent-Type: text/html\r\n\r\n` +
        `${'<a href='.repeat(40_000)}\r\n--y--\r\n--x--`,
    ],
    ['open tags', () => `Content-Type: text/html\r\n\r\n${'<'.repeat(2_000_000)}`],
    [
      'empty lines in a report',
      () => bounceOf('a@b.mn').replace('Arrival-Date', `${' \r\n'.repeat(30_000)}X`),
    ],
  ])('of nothing but %s takes no more than seconds', async (_, raw) => {
    const begun = cpuTime();
    await readMail(Buffer.from(`From: a@b.mn\r\n${raw()}`)).catch(() => {});
    expect(cpuTime() - begun).toBeLessThan(5_000);
  });
});
