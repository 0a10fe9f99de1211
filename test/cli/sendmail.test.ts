import { describe, expect, it } from 'vitest';
import { emailResult } from '../support/resources.js';
import { fakeService, type Reply, refusal, run } from '../support/run.js';

const queued = { ...emailResult(), total: 2 };
const send = async (stdin: string, words = '-t', answer: Reply | Error = { body: queued }) => {
  const service = fakeService(() => answer);
  const result = await run(`sendmail ${words} --max-retries 0`, { ...service, stdin });
  const requests = service.requests.filter(({ method }) => method === 'POST');
  return { ...result, requests };
};
const cron = `From: root (Cron Daemon)
To: bat@example.mn
Subject: Cron <root@host> backup
Content-Type: text/plain; charset=UTF-8

Амжилтгүй боллоо
`;

describe('urtuu sendmail', () => {
  it('sends what cron gives it', async () => {
    const { code, stdout, stderr, requests } = await send(cron, '-FCronDaemon -i -odi -B8BITMIME -oem -t');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(requests).toMatchObject([
      {
        path: '/email',
        body: {
          to: 'bat@example.mn',
          subject: 'Cron <root@host> backup',
          from_name: 'root',
          text: 'Амжилтгүй боллоо',
        },
      },
    ]);
  });

  it('takes the habitual flags behind global options, too', async () => {
    const { fetch, requests } = fakeService(() => ({ body: queued }));
    const line = '--max-retries 0 --quiet -o json sendmail -oi -t';
    expect(await run(line, { fetch, stdin: cron })).toMatchObject({ code: 0 });
    expect(requests).toHaveLength(1);
    expect(await run('sms send 99112233 sendmail -oi', { fetch })).toMatchObject({ code: 2 });
  });

  it.each<[string, string, Reply, number]>([
    ['a message that failed', cron, { body: { ...queued, status: 'failed' } }, 69],
    ['a message to somebody else', cron, { body: { ...queued, to: 'x@y.mn' } }, 69],
    ['an SMS', cron, { body: { ...queued, channel: 'sms' } }, 69],
    [
      'a message to somebody else, of one with an id',
      `Message-ID: <1@x>\n${cron}`,
      { body: { ...queued, to: 'x@y.mn' } },
      75,
    ],
    ['fewer than it was for', cron.replace('mn\n', 'mn, a@b.mn, c@d.mn\n'), { body: queued }, 69],
  ])('does not take an answer about %s for a success', async (_, mail, answer, exit) => {
    const { code, stderr } = await send(mail, '-t', answer);
    expect(code).toBe(exit);
    expect(stderr).not.toBe('');
  });

  it('counts recipients as the service merges them', async () => {
    expect(await send(cron, 'a@EXAMPLE.mn a@example.mn b@example.mn')).toMatchObject({ code: 0 });
  });

  it('decodes MIME: encoded words, quoted-printable, alternatives', async () => {
    const { requests } = await send(
      [
        'From: =?UTF-8?B?0JPRjdGA?= <ger@example.mn>',
        'To: Bat <bat@example.mn>, a@example.mn',
        'Bcc: bat@example.mn',
        'Subject: =?UTF-8?Q?=D0=A1=D0=B0=D0=B9=D0=BD?=',
        'MIME-Version: 1.0',
        'Content-Type: multipart/alternative; boundary=x',
        '',
        '--x',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        '=D3=A9',
        '--x',
        'Content-Type: text/html; charset=utf-8',
        '',
        '<p>ө</p>',
        '--x--',
        '',
      ].join('\r\n'),
    );
    expect(requests).toMatchObject([
      {
        path: '/email/bulk',
        body: {
          to: ['bat@example.mn', 'a@example.mn'],
          subject: 'Сайн',
          from_name: 'Гэр',
          reply_to: 'ger@example.mn',
          text: 'ө',
          html: expect.stringContaining('<p>ө</p>'),
        },
      },
    ]);
  });

  it('takes recipients as arguments in place of the headers', async () => {
    const { requests } = await send(cron, 'c@example.mn');
    expect(requests[0]?.body).toMatchObject({ to: 'c@example.mn' });
  });

  it('takes recipients as arguments beside those in the headers with -t', async () => {
    const { requests } = await send(cron, '-t c@example.mn bat@example.mn');
    expect(requests[0]).toMatchObject({
      path: '/email/bulk',
      body: { to: ['c@example.mn', 'bat@example.mn'] },
    });
  });

  it.each(['Resent-To', 'resent-cc', 'Resent-Bcc'])(
    'refuses what was resent with %s under -t alone',
    async (name) => {
      const mail = `${name}: new@example.mn\n${cron}`;
      const { code, stderr, requests } = await send(mail);
      expect({ code, requests }).toEqual({ code: 65, requests: [] });
      expect(stderr).toContain('the message was resent');
      expect((await send(mail, 'new@example.mn')).requests[0]?.body).toMatchObject({ to: 'new@example.mn' });
    },
  );

  it.each([
    ['disk full\n', { subject: '(no subject)', text: 'disk full' }],
    ['диск дүүрэн', { subject: '(no subject)', text: 'диск дүүрэн' }],
    ['\n\nTo: is text\n', { subject: '(no subject)', text: expect.stringContaining('To: is text') }],
    ['/dev/sda1: 99 %\nand more\n', { subject: '(no subject)', text: '/dev/sda1: 99 %\nand more' }],
    ['Warning: disk full\n', { subject: '(no subject)', text: 'Warning: disk full' }],
    ['Warning: disk full\n\nsda1\n', { text: 'Warning: disk full\n\nsda1' }],
    ['X-Cron-Env: <A=b>\nSubject: Disk\n\nsda1', { subject: 'Disk', text: 'sda1' }],
    ['Subject: Disk\nfull since 10:00\n\nsda1\n', { subject: 'Disk', text: 'full since 10:00\n\nsda1' }],
    ['Subject: Disk\n folded\r\n\r\nsda1', { subject: 'Disk folded', text: 'sda1' }],
    ['From root Sat Nov 21 08:00:00\nSubject: Disk\n\nsda1', { subject: 'Disk', text: 'sda1' }],
    ['line\n'.repeat(1_000), { text: 'line\n'.repeat(1_000).trimEnd() }],
  ])('takes a line that is no header for the body: %j', async (stdin, body) => {
    const { code, stderr, requests } = await send(stdin, 'bat@example.mn');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(requests[0]?.body).toMatchObject({ to: 'bat@example.mn', ...body });
  });

  it('makes the same key for the same recipients in another order', async () => {
    const keyTo = async (...to: string[]) =>
      (await send(`Message-ID: <1@host>\n${cron}`, to.join(' '))).requests[0]?.headers['Idempotency-Key'];
    expect(await keyTo('a@example.mn', 'b@example.mn')).toBe(await keyTo('b@EXAMPLE.mn', 'a@example.mn'));
  });

  it('makes the same key for the same Message-ID, and none without one', async () => {
    const key = async (stdin: string) => (await send(stdin)).requests[0]?.headers['Idempotency-Key'];
    const identified = `Message-ID: <1@host>\n${cron}`;
    expect(await key(identified)).toMatch(/^sendmail-/);
    expect(await key(identified)).toBe(await key(identified));
    for (const [part, other] of [
      ['bat@example.mn', 'c@example.mn'],
      ['backup', 'restore'],
      ['root (', 'ops ('],
      ['Амжилтгүй', 'Амжилттай'],
      ['To: bat@example.mn', 'To: bat@example.mn\nReply-To: ops@example.mn'],
      ['<1@host>', '<2@host>'],
    ] as const) {
      expect(identified).toContain(part);
      expect(await key(identified.replace(part, other))).not.toBe(await key(identified));
    }
    expect(await key(cron)).not.toBe(await key(cron));
  });

  // Otherwise a mail that was sent before an upgrade, and comes again after it, would be sent again.
  it.each([
    [
      'From: root (Cron Daemon)\nTo: root\nSubject: Cron <root@host> backup\nContent-Type: text/plain; charset=UTF-8\nX-Cron-Env: <SHELL=/bin/sh>\n\nАмжилтгүй\n',
      'd9efe8fea4dac097d65cb543c1be4507ca8c8daecc2f7d0f3131c2d5d46d48f2',
    ],
    [
      'To: a@ex.mn, Bat <b@EX.mn>\r\nSubject: S\r\nX-PHP-Originating-Script: 33:mail.php\r\nFrom: Shop <shop@ex.mn>\r\nReply-To: Bat <b@ex.mn>, c@ex.mn\r\nCc: c@ex.mn\r\n\r\nhi\r\n',
      'ac391dc5c0c22edb6182b81aabe8e4da4db5eb33e1d3f7f9bfef484a6d57a930',
    ],
    [
      'To: a@ex.mn\nFrom: root@host <root@ex.mn>\nSubject: s\n\nhi\n',
      '0cb1e25f1cd29c4f22a6cf7adb14fcf1697ef3c01345d83ba2f24a343062994c',
    ],
    [
      'To: a@ex.mn\nFrom: <b@ex.mn> Bat\nSubject: s\n\nhi\n',
      'df99fe961dce1dc8bf3a2c6fba97c8fc821ec4013fc6e415fa57aee90db18f8d',
    ],
    [
      'To: a@ex.mn\nFrom: Bat <b@ex.mn\nSubject: s\n\nhi\n',
      'df99fe961dce1dc8bf3a2c6fba97c8fc821ec4013fc6e415fa57aee90db18f8d',
    ],
    [
      "To: a@ex.mn\nReply-To: 'b@ex.mn' <b@ex.mn>\nSubject: s\n\nhi\n",
      'e7260e86115761c0f846901c974abb96e0ad23db8744a035f68f8902f3aae30a',
    ],
    [
      'To: a@ex.mn\nFrom: Team: ,Bat <b@ex.mn>;\n\nhi\n',
      '3059d81ddc0a9e36ea39c093abaf779f1805a58645b48e8a6681e5e7f1462bbb',
    ],
    [
      'To: a@ex.mn\nFrom: =?windows-1251?Q?=C1=E0=F2?= <b@ex.mn>\nSubject: =?utf-8?B?0KHQsNC50L0=?=\nContent-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: quoted-printable\n\n=D1=E0\n--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPHA+w6k8L3A+\n--x--\n',
      'c19be7fecc041e79942ac01b97c5821c8e44e03cbab23b67b78ba6f804a7154b',
    ],
  ])('makes the key that the releases before made: %j', async (mail, digest) => {
    const { requests } = await send(`Message-ID: <1@x>\n${mail}`, '-t --local-to ops@ex.mn');
    expect(requests[0]?.headers['Idempotency-Key']).toBe(`sendmail-${digest}`);
  });

  it.each([
    ['an unknown address', cron.replace('bat@example.mn', 'root'), 65],
    ['no recipient', cron.replace(/To:.*\n/, ''), 64],
    ['an empty message', 'To: a@b.mn\n\n', 65],
    ['nothing at all', '', 64],
    [
      'an attachment',
      'To: a@b.mn\nContent-Type: application/pdf\nContent-Disposition: attachment\n\nx\n',
      65,
    ],
  ])('refuses %s and sends nothing', async (_, stdin, exit) => {
    const { code, requests } = await send(stdin);
    expect({ code, requests }).toEqual({ code: exit, requests: [] });
  });

  it.each([
    [refusal(429, 'rate_limited'), 75],
    [refusal(402, 'insufficient_credits', { balance: 0, required: 2 }), 75],
    [refusal(401, 'unauthorized'), 77],
    [refusal(400, 'invalid_request'), 65],
    [refusal(502, 'provider_failed', { id: 'm' }), 69],
  ])('ends with the code of sysexits.h: %j', async (answer, exit) => {
    expect(await send(cron, '-t', answer)).toMatchObject({ code: exit });
  });

  it('asks to be tried again in doubt only where the message cannot go out twice', async () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(await send(`Message-ID: <1@host>\n${cron}`, '-t', reset)).toMatchObject({ code: 75 });
    expect(await send(cron, '-t', reset)).toMatchObject({ code: 69 });
    // It takes no option for a key.
    for (const mail of [cron, `Message-ID: <1@host>\n${cron}`]) {
      expect((await send(mail, '-t', reset)).stderr).not.toContain('--idempotency-key');
    }
    expect(await send(cron, '')).toMatchObject({ code: 64 });
  });
});
