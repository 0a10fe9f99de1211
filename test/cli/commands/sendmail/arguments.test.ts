import { beforeAll, describe, expect, it } from 'vitest';
import { sendmailWords } from '../../../../src/cli/sendmail/arguments.js';
import { FakeProject } from '../../../support/fake-project.js';
import { run } from '../../../support/run.js';

const mail = 'To: bat@example.mn\nSubject: s\n\nhi\n';
const send = async (argv: string[], stdin = mail) => {
  const project = new FakeProject();
  const { code, stderr } = await run('', {
    argv: ['sendmail', ...argv],
    fetch: project.service.fetch,
    stdin,
  });
  return { code, stderr, body: project.sends[0]?.body };
};

describe('the options of sendmail', () => {
  it.each([
    ['-ti', '-t'],
    ['-it', '-t'],
    ['-tioem', '-t'],
    ['-t -oi -oem -odi -o7 -oQ/var/spool', '-t'],
    ['-FCron -f root -t', '-F Cron -t'],
    ['-tFCron', '-t -F Cron'],
    ['-tfroot@host', '-t'],
    ['-R hdrs -t', '-t'],
    ['-N never -V id-1 -r root@host -t', '-t'],
    ['-Nfailure,delay -Rfull -rroot -Vid -t', '-t'],
    ['-h 3 -t', '-t'],
    ['-B 8BITMIME -L cron -O Timeout=1s -X /dev/null -XV -C /etc/mail -t', '-t'],
    ['-GUmn -bm -Am -Ac -t', '-t'],
    ['--profile work -t -v -q -o json', '--profile work -t -v -q -o json'],
    ['-t -- -x@example.mn', '-t -- -x@example.mn'],
    ['-bp', '-bp'],
    ['-t -R', '-t -R'],
  ])('are read as its manual page has them: %s', (written, words) => {
    expect(sendmailWords(written.split(' '))).toEqual(words.split(' '));
  });

  it.each([['-ti'], ['-R', 'hdrs', '-t'], ['-N', 'never', '-r', 'root', '-V', 'x', '-t'], ['-h', '3', '-t']])(
    'that lose nothing are taken: %s %s',
    async (...argv) => {
      expect(await send(argv)).toMatchObject({ code: 0, stderr: '', body: { to: 'bat@example.mn' } });
    },
  );

  it.each([['-bp'], ['-bs'], ['-I'], ['-t', '-R'], ['-q30m']])(
    'that ask for something else are refused: %s %s',
    async (...argv) => expect(await send(argv)).toMatchObject({ code: 64, body: undefined }),
  );

  // `-h 3` counts hops: help would end with 0, and the mail would be lost.
  it.each([['-t', '-h'], ['-th'], ['-h']])('have no -h for help: %s %s', async (...argv) => {
    const { code, stderr, body } = await send(argv);
    expect({ code, body }).toEqual({ code: 64, body: undefined });
    expect(stderr).toContain("unknown option '-h'");
  });

  it('name the sender of a mail without one', async () => {
    expect((await send(['-t', '-F', 'Cron Daemon'])).body).toMatchObject({ from_name: 'Cron Daemon' });
    const from = await send(['-t', '-FCron'], `From: root (Ops)\n${mail}`);
    expect(from.body).toMatchObject({ from_name: expect.not.stringContaining('Cron') });
  });
});

describe('what cannot be sent on', () => {
  // The reader of the inbox drops attachments, in the same process with a sandbox.
  beforeAll(async () => {
    await import('../../../../src/service/inbox/read-mail.js');
  });

  it('is named: a part that is no text', async () => {
    const part = (type: string, more = '') => `--x\nContent-Type: ${type}${more}\n\nAAAA\n`;
    const multipart = (...parts: string[]) =>
      `To: a@ex.mn\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nhi\n${parts.join('')}--x--\n`;
    const named =
      '\nContent-Disposition: attachment; filename="=?utf-8?Q?=D1=82=D0=B0=D0=B9=D0=BB=D0=B0=D0=BD.pdf?="';
    for (const [parts, name] of [
      [part('application/pdf', named), "application/pdf 'тайлан.pdf'"],
      [part('image/png'), 'image/png'],
      [part('text/csv; name=a.csv'), "text/csv 'a.csv'"],
    ] as const) {
      const { code, stderr, body } = await send(['-t'], multipart(parts));
      expect({ code, body }).toEqual({ code: 65, body: undefined });
      expect(stderr).toContain(`cannot send the part ${name}`);
    }
  });

  it.each([
    ['Reply-To: a@ex.mn\nReply-To: b@ex.mn\n', 'a@ex.mn', ['b@ex.mn']],
    ['Reply-To: a@ex.mn, "B" <b@ex.mn>\n', 'a@ex.mn', ['b@ex.mn']],
    ['Reply-To: root, a@ex.mn\n', 'a@ex.mn', ['root']],
    ['From: c@ex.mn\nReply-To: root\n', 'c@ex.mn', ['root']],
    ['From: c@ex.mn\n', 'c@ex.mn', []],
  ])('is named: another Reply-To: %j', async (headers, replyTo, unused) => {
    const { code, stderr, body } = await send(['-t'], `${headers}${mail}`);
    expect(code).toBe(0);
    expect(body).toMatchObject({ reply_to: replyTo });
    const warnings = unused.map(
      (each) => `warning: replies will not go to ${each}: the service takes one address\n`,
    );
    expect(stderr).toBe(warnings.join(''));
  });
});

describe('the address for replies', () => {
  it.each<[headers: string, replyTo: string | undefined, unused?: string]>([
    ['From: root@host <b@ex.mn>', 'b@ex.mn'],
    ['From: Bat@Work <b@ex.mn>', 'b@ex.mn'],
    ['From: <b@ex.mn> Bat', 'b@ex.mn'],
    ['From: Bat <b@ex.mn', 'b@ex.mn'],
    ['From: a@ex.mn <b@ex.mn>', 'b@ex.mn'],
    ['From: us(x)er@good.mn', 'user@good.mn'],
    ['From: Бат <b@пример.рф>', 'b@пример.рф'],
    ["Reply-To: 'b@ex.mn' <b@ex.mn>", 'b@ex.mn'],
    ['Reply-To: Bat <b@ex.mn> Dorj <d@ex.mn>', 'b@ex.mn'],
    ['Reply-To: =?utf-8?Q?b=40ex.mn?=', 'b@ex.mn'],
    ['Reply-To: b@ex.mn, d@ex.mn\nFrom: c@ex.mn', 'b@ex.mn', 'd@ex.mn'],
    ['Reply-To: root\nFrom: b@ex.mn', 'b@ex.mn', 'root'],
    ['From: user@good.mn(x)evil.mn', undefined],
    ['From: user@good.mn""evil.mn', undefined],
    ['Reply-To: user@good.mn(x)evil.mn\nFrom: b@ex.mn', 'b@ex.mn', 'user@good.mnevil.mn'],
    ['Reply-To: user@good.mn(x)evil.mn\nFrom: root', undefined, 'user@good.mnevil.mn'],
    ['Reply-To: user@good.mn(x)evil.mn, b@ex.mn', 'b@ex.mn', 'user@good.mnevil.mn'],
  ])('is in a domain that somebody wrote: %j', async (headers, replyTo, unused) => {
    const { code, stderr, body } = await send(['bat@ex.mn'], `${headers}\nSubject: s\n\nhi`);
    expect({ code, replyTo: body?.reply_to }).toEqual({ code: 0, replyTo });
    expect(stderr).toBe(
      unused === undefined
        ? ''
        : `warning: replies will not go to ${unused}: the service takes one address\n`,
    );
  });
});
