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
      failure: null,
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
    ['over 20,000 lines of headers', `${'a\n'.repeat(20_100)}\r\nHi`],
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

describe('a report', () => {
  const failureIn = async (raw: string) => (await readMail(Buffer.from(raw))).failure;

  const unknown = { status: '5.1.1', isUnknownRecipient: true };
  it.each<[string, string, object | null]>([
    ['of a failure', bounceOf('x@b.mn'), unknown],
    ['with line feeds alone', bounceOf('x@b.mn').replaceAll('\r\n', '\n'), unknown],
    ['in capitals', bounceOf('x@b.mn', { action: 'FAILED', type: 'MULTIPART/REPORT' }), unknown],
    [
      'with a comment',
      bounceOf('x@b.mn', { action: 'failed (gave up)', status: '4.4.7 (expired)' }),
      { status: '4.4.7', isUnknownRecipient: false },
    ],
    ['without a status', bounceOf('x@b.mn', { status: '' }), { status: '', isUnknownRecipient: true }],
    ['of a delay', bounceOf('x@b.mn', { action: 'delayed', status: '4.4.1' }), null],
    ['of a delivery', bounceOf('x@b.mn', { action: 'delivered', status: '2.0.0' }), null],
    ['of a relay', bounceOf('x@b.mn', { action: 'relayed', status: '2.0.0' }), null],
    [
      'of a failure among several recipients',
      bounceOf('x@b.mn', { action: 'delivered\r\n\r\nAction: failed' }),
      { status: '5.1.1', isUnknownRecipient: false },
    ],
    ['of OpenSMTPD', bounceOf('x@b.mn', { type: 'multipart/mixed' }), unknown],
    [
      'whose answer goes on without a blank, and has another cause',
      bounceOf('x@b.mn', { diagnostic: 'smtp; 550-5.1.1 Not now:\r\n550 over quota' }),
      { status: '5.1.1', isUnknownRecipient: false },
    ],
    [
      'whose answer names no type',
      bounceOf('x@b.mn', { diagnostic: '552 5.2.2 full; bold@example.com' }),
      { status: '5.1.1', isUnknownRecipient: false },
    ],
    [
      'with other words beside the answer',
      bounceOf('x@b.mn', { diagnostic: 'smtp; 550 5.1.1 unknown\r\nX-Filter: spam' }),
      unknown,
    ],
    ['that only looks like one', bounceOf('x@b.mn', { type: 'multipart/alternative' }), null],
    [
      'that somebody forwards',
      `From: a@b.mn\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee\r\n--x\r\nContent-Type: message/rfc822\r\n\r\n${bounceOf('x@b.mn')}\r\n--x--`,
      null,
    ],
    ['in another mail', `From: a@b.mn\r\nContent-Type: message/rfc822\r\n\r\n${bounceOf('x@b.mn')}`, null],
    [
      'of a machine that is away',
      'From: a@b.mn\r\nAuto-Submitted: auto-replied\r\n\r\nAction: failed\r\nStatus: 5.1.1',
      null,
    ],
  ])('%s', async (_, raw, failure) => {
    expect(await failureIn(raw)).toEqual(failure);
  });
});
