import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exits } from '../../../../src/cli/exit-codes.js';
import { readAddressList } from '../../../../src/cli/sendmail/address-list.js';
import { readMessage } from '../../../../src/cli/sendmail/message.js';
import { cpuTime } from '../../../support/cpu-time.js';
import { FakeProject } from '../../../support/fake-project.js';
import { recipientLists } from '../../../support/recipient-lists.js';
import { run } from '../../../support/run.js';

const mail = 'To: bat@example.mn\nSubject: s\n\nhi\n';
const send = async (argv: string[], stdin = mail) => {
  const project = new FakeProject();
  const { code, stderr } = await run('', {
    argv: ['sendmail', ...argv],
    fetch: project.service.fetch,
    stdin,
  });
  const { to } = project.sends[0]?.body ?? {};
  return { code, stderr, body: project.sends[0]?.body, to: [to ?? []].flat() };
};
const headed = (headers: string) => send(['-t'], `${headers}\nSubject: s\n\nhi\n`);

describe('the recipients of sendmail', () => {
  it.each([
    [['a@ex.mn,b@ex.mn'], ['a@ex.mn', 'b@ex.mn']],
    [['a@ex.mn, "B C" <b@ex.mn>'], ['a@ex.mn', 'b@ex.mn']],
    [['"A B" <a@ex.mn>'], 'a@ex.mn'],
    [
      ['<a@ex.mn>', 'b@ex.mn'],
      ['a@ex.mn', 'b@ex.mn'],
    ],
    [['a@ex.mn b@ex.mn'], ['a@ex.mn', 'b@ex.mn']],
    [['a@ex.mn\u200b'], 'a@ex.mn'],
    [['Ops: a@ex.mn, b@ex.mn;'], ['a@ex.mn', 'b@ex.mn']],
  ])('are read as addresses of a header: %j', async (argv, to) => {
    expect(await send(argv)).toMatchObject({ code: 0, body: { to } });
  });

  it.each([
    ['a@ex.mn,b@ex.mn', ['a@ex.mn', 'b@ex.mn']],
    ['a@ex.mn b@ex.mn', ['a@ex.mn', 'b@ex.mn']],
    ['"b@ex.mn" <a@ex.mn>', 'a@ex.mn'],
  ])('of MAILTO=%s get it', async (mailto, to) => {
    expect(await send(['-t'], mail.replace('bat@example.mn', mailto))).toMatchObject({
      code: 0,
      body: { to },
    });
  });

  it.each([
    ['root', "'root' is not an email address"],
    ['root (Cron Daemon)', "'root' is not an email address"],
    ['www-data, bat@example.mn', "'www-data' is not an email address"],
  ])('that are no addresses are quoted: %s', async (to, reason) => {
    const { code, stderr, body } = await send(['-t'], mail.replace('bat@example.mn', to));
    expect({ code, body }).toEqual({ code: 65, body: undefined });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('--local-to');
  });

  it.each([
    ['root', 'ops@ex.mn'],
    ['root@localhost', 'ops@ex.mn'],
    ['root, www-data', 'ops@ex.mn'],
    ['root www-data', 'ops@ex.mn'],
    ['root, bat@example.mn', ['ops@ex.mn', 'bat@example.mn']],
  ])('without a domain are --local-to: %s', async (written, to) => {
    const words = ['-t', '--local-to', 'ops@ex.mn'];
    expect(await send(words, mail.replace('bat@example.mn', written))).toMatchObject({
      code: 0,
      body: { to },
    });
    expect(await send(['--local-to', 'ops@ex.mn', written])).toMatchObject({ code: 0, body: { to } });
  });

  it('with another domain are never --local-to', async () => {
    expect(await send(['--local-to', 'ops@ex.mn', 'root@host'])).toMatchObject({ code: 65, body: undefined });
    expect(await send(['--local-to', 'ops', 'root'])).toMatchObject({ code: 64, body: undefined });
  });
});

describe('a list of recipients', () => {
  it.each<[string, string[]]>([
    ['To: Bat <a1@ex.mn>, Dorj <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: a1@ex.mn; Dorj <a2@ex.mn>;', ['a1@ex.mn', 'a2@ex.mn']],
    [
      'To: a1@ex.mn\nTo: a2@ex.mn\nCC : a3@ex.mn\nbcc:a4@ex.mn',
      ['a1@ex.mn', 'a2@ex.mn', 'a3@ex.mn', 'a4@ex.mn'],
    ],
    ['To: undisclosed-recipients:;\nBcc: a1@ex.mn', ['a1@ex.mn']],
    ['To: The team: a1@ex.mn, "D" <a2@ex.mn>;, a3@ex.mn', ['a1@ex.mn', 'a2@ex.mn', 'a3@ex.mn']],
    ['To: Team: a1@ex.mn, a2@ex.mn', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: "Dorj, Bat" <a1@ex.mn>,\r\n\t"a \\"b\\"" <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: =?utf-8?Q?Dorj=2C_Bat?= <a1@ex.mn>', ['a1@ex.mn']],
    ['To: a1@ex.mn (home (or not) \\) yet), (x) a2@ex.mn', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: "X X" a1@ex.mn, "bat"@ex.mn, < a2@ex.mn >', ['a1@ex.mn', 'bat@ex.mn', 'a2@ex.mn']],
    ['To: "b@ex.mn" <a1@ex.mn>, A2@ex.mn <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: "Bat <a1@ex.mn>" <a1@ex.mn>, , a2@ex.mn,', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: a1@ex.mn\n a2@ex.mn', ['a1@ex.mn', 'a2@ex.mn']],
    ["To: 'a1@ex.mn' <a1@ex.mn>, 'Bat a2@ex.mn' <a2@ex.mn>", ['a1@ex.mn', 'a2@ex.mn']],
    ['To: [a1@ex.mn] <a1@ex.mn>, `A2@ex.mn` <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: <a1@ex.mn> Dorj, DOMAIN\\bat <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: Bat :) <a1@ex.mn>, Bat"x" <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: a1@ex.mn\u00a0, \u202aa2@ex.mn\u202c;a3@e\u00adx.mn', ['a1@ex.mn', 'a2@ex.mn', 'a3@ex.mn']],
    ['To: Bat\u00a0<\u200ba1@ex.mn\u00a0>,\u3000a2@ex.mn', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: "a1@ex.mn", a2@ex.mn', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: root@host <a1@ex.mn>, Bat@Work <a2@ex.mn>', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: unlisted-recipients:; (no To-header on input)\nBcc: a1@ex.mn', ['a1@ex.mn']],
    ['To: a1@ex.mn ((Bat)), ((Dorj) D) <a2@ex.mn>, (nobody)', ['a1@ex.mn', 'a2@ex.mn']],
    ['To: a1@my_host.ex.mn', ['a1@my_host.ex.mn']],
    ...[
      'Errors-To: b@ex.mn',
      'Disposition-Notification-To: B <b@ex.mn>',
      'Return-Receipt-To: b@ex.mn',
      'Delivered-To: b@ex.mn',
      'DKIM-Signature: v=1; d=ex.mn;\n i=@ex.mn; b=',
      'User-Agent: Mailer (b@ex.mn)',
    ].flatMap((header): [string, string[]][] => [
      [`To: a1@ex.mn, \n${header}`, ['a1@ex.mn']],
      [`To: a1@ex.mn\nCc:\n${header}`, ['a1@ex.mn']],
    ]),
  ])('reaches everybody it names: %j', async (headers, to) => {
    expect(await headed(headers)).toMatchObject({ code: 0, stderr: '', to });
  });

  it.each([
    ['To: Bat <a1@ex.mn> Dorj <a2@ex.mn>', "'Bat <a1@ex.mn> Dorj <a2@ex.mn>' is not an email address"],
    ['To: <a1@ex.mn> <a2@ex.mn>'],
    ['To: a3@ex.mn\nCc: <a1@ex.mn><a2@ex.mn>'],
    ['To: Bat <a1@ex.mn>: root;'],
    ['To: <a1@ex.mn> "a2@ex.mn"'],
    ['To: a2@ex.mn via List <a1@ex.mn>'],
    ['To: "a1@ex.mn, root"'],
    ['To: Bat <root> Dorj'],
    ['To: <Bat\u00a0a1@ex.mn>', "'Bat\\u00a0a1@ex.mn' is not an email address"],
    ['To: Bat\u00a0a1@ex.mn', "'Bat' is not an email address"],
    ['To: a1@ex.mn <a2@ex.mn>'],
    ["To: 'a1@ex.mn' <a2@ex.mn>"],
    ['To: _a1@ex.mn <a1@ex.mn>'],
    ['To: a1@ex.mn, Bat <a2@ex.mn', "'Bat <a2@ex.mn' is not an email address"],
    ['To: Bat <a1@ex.mn, Dorj <a2@ex.mn>'],
    ['To: Bat a1@ex.mn>, a2@ex.mn'],
    ['To: "Bat <a1@ex.mn>, a2@ex.mn'],
    ['To: "Bat <a1@ex.mn>, "Dorj <a2@ex.mn>'],
    ['To: "Bat <a1@ex.mn>, Dorj" <a2@ex.mn>'],
    ['To: "a1@ex.mn" a2@ex.mn'],
    ['To: a1@ex.mn (home, a2@ex.mn'],
    ['To: a1@ex.mn, (a2@ex.mn)'],
    ['To: a1@ex.m_n'],
    ['To: a1@ex.mn home), a2@ex.mn'],
    ['To: a1@ex.mn (home <a2@ex.mn>)'],
    ['To: user@good.mn(x)evil.mn'],
    ['To: us(x)er@good.mn'],
    ['To: <user@good.mn(x)evil.mn>'],
    ['To: us\\er@good.mn'],
    ['To: <@a.mn,@b.mn:c@d.mn>'],
    ['To: Team: Other: a1@ex.mn;, a2@ex.mn'],
    ['To: a1@ex.mn: a2@ex.mn;'],
    ['To: a1@ex.mn@ex.mn'],
    ['To: a1@ex.\n mn', "not email addresses: 'a1@ex.', 'mn'"],
    ['To: a1@ex.mn\uff0ca2@ex.mn'],
    ['To: =?utf-8?Q?a1=40ex.mn?='],
    ['To: =?utf-8?Q?Dorj,_Bat?= <a1@ex.mn>'],
    ['To: "A B"'],
    ['To: @'],
    ['To: a1@ex.mn,\na2@ex.mn', "'a2@ex.mn' may name a recipient"],
    ['To: a1@ex.mn,\n\n a2@ex.mn', "'a2@ex.mn' may name a recipient"],
    ['To: a1@ex.mn,\nTeam: a2@ex.mn;', "'Team: a2@ex.mn;' may name a recipient"],
    ['To: a1@ex.mn\nX: y\nCc a2@ex.mn', "'Cc a2@ex.mn' may name a recipient"],
    ['To: a1@ex.mn\n--\nCc: a2@ex.mn', "'Cc: a2@ex.mn' may name a recipient"],
    ['To: a1@ex.mn,\n"b:c" <a2@ex.mn>', `'"b:c" <a2@ex.mn>' may name a recipient`],
    ['To: a1@ex.mn,\nTeam: a2@ex.mn,\n a3@ex.mn;', 'may name a recipient'],
    ['To: a1@ex.mn,\nBat\n <a2@ex.mn>', 'may name a recipient'],
    ...['Сс', 'сс', 'Всс', 'То', 'Το', 'Ｃｃ', 'C\u200bc'].map((name): [string, string] => [
      `To: a1@ex.mn\nX: y\n${name}: Bat <a2@ex.mn>, root`,
      'may name a recipient',
    ]),
    ...[
      '>Cc',
      '-Cc',
      '*Cc*',
      '"Cc"',
      'Cc.',
      '\vCc',
      '\fCc',
      '\0Cc',
      '\rCc',
      'C.c.',
      'C c',
      ':Cc',
      '\ufeffTo',
    ].map((name): [string, string] => [`To: a1@ex.mn\nX: y\n${name}: a2@ex.mn`, 'may name a recipient']),
    ['To: a1@ex.mn\nX: y\nＣ\u200bｃ: a2@ex.mn', "'Ｃ\\u200bｃ: a2@ex.mn' may name a recipient"],
    ['Cc: a1@ex.mn\nX: y\rTo: a2@ex.mn', "'To: a2@ex.mn' may name a recipient"],
    ['Cc: a1@ex.mn\r\nX: y\rz\rTо: a2@ex.mn\r', 'may name a recipient'],
    ['To: a1@ex.mn,\n\n\r\n\n a2@ex.mn', "'a2@ex.mn' may name a recipient"],
    ['To: a1@ex.mn,\nto@ex.mn', "'to@ex.mn' may name a recipient"],
    ['To: a1@ex.mn b, c <d>, "e', `not email addresses: '"e', 'b', 'd'`],
  ])(
    'reaches nobody if it may name others than it seems to: %j',
    async (headers, reason = 'not an email address') => {
      const { code, stderr, to } = await headed(headers);
      expect({ code, to }).toEqual({ code: 65, to: [] });
      expect(stderr).toContain(reason);
    },
  );

  it('is one before which a byte order mark stands', async () => {
    expect(await send(['-t', 'c@ex.mn'], '\ufeffTo: a@ex.mn\nSubject: s\n\nhi')).toMatchObject({
      to: ['c@ex.mn', 'a@ex.mn'],
      body: { subject: 's', text: 'hi' },
    });
  });

  it.each([
    'Tо: a@ex.mn\nCc: b@ex.mn',
    '>Cc: b@ex.mn',
    '\nTo: a@ex.mn',
    '\n\r\nTo: a@ex.mn',
    'Hi\rTo: a@ex.mn',
  ])('reaches nobody, the arguments neither, in a text without headers: %j', async (headers) => {
    const raw = `${headers}\nSubject: s\n\nhi`;
    expect(await send(['-t', 'c@ex.mn'], raw)).toMatchObject({ code: 65, to: [] });
    expect(await send(['c@ex.mn'], raw)).toMatchObject({ code: 0, to: ['c@ex.mn'] });
  });

  it.each([
    ...['', 'Cc: c@ex.mn\n', 'Cc:\n', 'Cc: c@ex.mn, \n', 'Bcc: c@ex.mn\n'].flatMap((last) =>
      [
        '\n   <a href="mailto:info@ex.mn">x</a>',
        '\n    2 logins of bat@ex.mn',
        '\n root@host:~# df',
        '\n  b@ex.mn\n  logged in',
      ].map((text) => `${last}${text}`),
    ),
    'Disk of root@web1 is full',
    'Subject: s\nDisk full,\nto b@ex.mn it was reported',
    'Subject: s\nТо b@ex.mn',
    'To-Do: b@ex.mn\n\nto: b@ex.mn',
    'Subject: a\rb\n\n> To: b@ex.mn\n> Cc: b@ex.mn',
  ])('ends with its header, whatever address is in the text below: %j', async (below) => {
    for (const end of ['\n', '\r\n']) {
      const raw = `Subject: s\nTo: a@ex.mn\n${below}\n`.replaceAll('\n', end);
      const { code, to, body } = await send(['-t'], raw);
      expect({ code, to }).toEqual({ code: 0, to: ['a@ex.mn', ...(raw.includes('c@') ? ['c@ex.mn'] : [])] });
      expect(body?.text).toContain(below.trim().split('\n').at(-1));
    }
  });

  it('printed in any form, with one character lost or doubled, reaches everybody it names or nobody', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const { headers, people, isWhole } = recipientLists(seed);
        const raw = Buffer.from(`${headers}Subject: s\n\nhi`);
        const to = await readMessage(raw, {
          recipients: [],
          inHeaders: true,
          localTo: async () => null,
        }).then(
          ({ params }) => params.to,
          ({ exit }) => exit,
        );
        expect(to).toEqual(isWhole || Array.isArray(to) ? people : exits.input);
      }),
      // A lost fold before an entry with a colon; an address that became another one of the list.
      { numRuns: 2_000, examples: [[2_145_152_057], [1_836_769_334]] },
    );
  });

  it.each(['(', '<', '"', '\\', 'a@b.mn,', 'a:', '<a@b.mn>', '" "', '=?a?q?', 'a ', ','])(
    'of a megabyte of %j is read in no time',
    (piece) => {
      const begun = cpuTime();
      readAddressList(piece.repeat(1_000_000 / piece.length));
      expect(cpuTime() - begun).toBeLessThan(2_000);
    },
  );

  it.each(['\rcc: x', '\r', '>Cc: x\n', '>'])('behind a megabyte of %j is read in no time', async (piece) => {
    const begun = cpuTime();
    const raw = Buffer.from(`To: a@ex.mn,\nSubject: s${piece.repeat(1_000_000 / piece.length)}`);
    await readMessage(raw, { recipients: [], inHeaders: true, localTo: async () => null }).catch(() => {});
    expect(cpuTime() - begun).toBeLessThan(2_000);
  });

  it('is masked, and a list for programs', async () => {
    const stdin = 'To: Bat <a1@ex.mn> <a2@ex.mn>, root\n\nhi';
    const plain = await send(['-t', '--mask'], stdin);
    expect(plain.stderr).toContain('a***@ex.mn');
    expect(plain.stderr).not.toMatch(/a\d@ex/);
    const { error } = JSON.parse((await send(['-t', '--json'], stdin)).stderr);
    expect(error).toMatchObject({ invalid: ['Bat <a1@ex.mn> <a2@ex.mn>', 'root'] });
  });
});
