import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { AccessToken } from '../../../../src/service/carriers/smtp/access-token.js';
import { type SmtpParts, smtpCarrier } from '../../../../src/service/carriers/smtp/smtp.js';
import type { SmtpSettings } from '../../../../src/service/carriers/smtp/smtp-settings.js';
import { ManualClock, systemClock } from '../../../../src/service/clock.js';
import { systemRandom } from '../../../../src/service/random.js';
import { ownRouteRates } from '../../../../src/service/storage/route-limits.js';
import { ticks } from '../../../support/cores.js';
import { testFolder } from '../../../support/folders.js';
import { mailOf } from '../../../support/mails.js';
import { carrierConformance } from '../conformance/carrier.js';

/** npm smtp-server, which took the Message-IDs in `taken`. */
async function openServer(options: SMTPServerOptions) {
  const taken: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const [, id = ''] = /^Message-ID: <(.*)@/im.exec(Buffer.concat(chunks).toString()) ?? [];
        taken.push(id);
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as { port: number };
  return { port, taken, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

const carrierTo = (port: number, changes: Partial<SmtpSettings> = {}, parts: Partial<SmtpParts> = {}) =>
  smtpCarrier({
    settings: {
      host: 'localhost',
      port,
      tls: 'off',
      login: null,
      from: 'no-reply@example.mn',
      name: 'example.mn',
      bounceDomain: null,
      connections: 4,
      perSecond: null,
      perDay: null,
      ...changes,
    },
    bounceKey: Buffer.alloc(32),
    limits: ownRouteRates(systemClock),
    clock: systemClock,
    random: systemRandom,
    report: () => {},
    ...parts,
  });

carrierConformance({
  name: 'SMTP',
  canInquire: false,
  async open(handles) {
    const server = await openServer({ disabledCommands: ['STARTTLS'] });
    return {
      carriers: Array.from({ length: handles }, () => carrierTo(server.port)),
      submission: { channel: 'email', route: 'email', to: 'bold@example.com', text: 'Сайн уу' },
      taken: async () => server.taken,
      close: server.close,
    };
  },
});

describe('encryption and login', () => {
  const submission = mailOf({ reference: 'm', subject: null });
  const login = { user: 'urtuu', password: 'нууц' };
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function submitTo(options: SMTPServerOptions, changes: Partial<SmtpSettings>) {
    const logins: unknown[] = [];
    const server = await openServer({
      onAuth({ username, password }, session, done) {
        logins.push([username, password, session.secure]);
        if (password === login.password) done(null, { user: username });
        else done(new Error('wrong password'));
      },
      ...options,
    });
    const carrier = carrierTo(server.port, changes);
    closing.push(server.close, () => carrier.stop());
    await carrier.start(async () => {});
    return { result: await carrier.submit(submission, new AbortController().signal), logins, ...server };
  }

  it('sends nothing to a relay without STARTTLS where it is required, no password either', async () => {
    const { result, logins, taken } = await submitTo(
      { disabledCommands: ['STARTTLS'], allowInsecureAuth: true },
      { tls: 'required', login },
    );
    expect([result, logins, taken]).toMatchObject([{ kind: 'later', scope: 'lane' }, [], []]);
  });

  it.each(['required', 'implicit'] as const)('verifies certificates: %s', async (tls) => {
    const { result, logins, taken } = await submitTo({ secure: tls === 'implicit' }, { tls, login });
    expect([result, logins, taken]).toMatchObject([{ kind: 'later', scope: 'lane' }, [], []]);
  });

  it('logs in without encryption where it is off', async () => {
    const { result, logins } = await submitTo({ allowInsecureAuth: true }, { login });
    expect([result, logins]).toMatchObject([{ kind: 'accepted' }, [['urtuu', 'нууц', false]]]);
  });

  it('puts the lane off for a wrong password', async () => {
    const { result, taken } = await submitTo(
      { allowInsecureAuth: true },
      { login: { user: 'urtuu', password: 'wrong' } },
    );
    expect([result, taken]).toMatchObject([{ kind: 'later', scope: 'lane' }, []]);
  });
});

describe('a token of a command (XOAUTH2)', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** A command that prints a line of a file for each run, a relay that takes one token, and what it is given. */
  async function startWith(printed: readonly string[], valid: () => string, clock = new ManualClock()) {
    const runs = join(testFolder(), 'runs');
    writeFileSync(runs, '');
    const script = `const fs = require('node:fs');
      fs.appendFileSync(process.argv[1], '.');
      const printed = ${JSON.stringify(printed)};
      process.stdout.write(printed[Math.min(fs.readFileSync(process.argv[1]).length, printed.length) - 1]);
      process.stdin.resume().on('end', () => {});`;
    const given: (string | undefined)[] = [];
    const server = await openServer({
      authMethods: ['XOAUTH2'],
      allowInsecureAuth: true,
      onAuth({ username, accessToken }, _session, done) {
        given.push(`${username} ${accessToken}`);
        if (accessToken === valid()) done(null, { user: username });
        else done(null, { data: { status: '401' } });
      },
    });
    const reports: unknown[] = [];
    const login = { user: 'shop@example.mn', token: new AccessToken([process.execPath, '-e', script, runs]) };
    const carrier = carrierTo(
      server.port,
      { login, connections: 1 },
      { clock, report: (error) => reports.push(error) },
    );
    closing.push(server.close, () => carrier.stop());
    await carrier.start(async () => {});
    const submit = () => carrier.submit(mailOf({ reference: 'm' }), new AbortController().signal);
    return { submit, given, reports, clock, countRuns: () => readFileSync(runs, 'utf8').length };
  }
  const answerOf = (token: string, seconds: number) =>
    JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: seconds }, null, 2);
  /** Long enough for an idle connection to be closed. */
  const idle = async (clock: ManualClock, milliseconds = 10_000) => {
    clock.advance(milliseconds);
    await ticks(50);
  };

  it('is kept until a relay refuses it, then another one is used at once', async () => {
    let valid = 'one';
    const { submit, given, clock, countRuns, reports } = await startWith(
      ['one\n', 'two\nignored\n'],
      () => valid,
    );
    for (const next of ['one', 'one', 'two']) {
      valid = next;
      expect(await submit()).toMatchObject({ kind: 'accepted' });
      await idle(clock);
    }
    expect(given).toEqual(['one', 'one', 'one', 'two'].map((token) => `shop@example.mn ${token}`));
    expect([countRuns(), reports]).toEqual([2, []]);
  });

  it('is kept until it ends, if its answer says when', async () => {
    const { submit, clock, countRuns } = await startWith([answerOf('a', 600), answerOf('a', 600)], () => 'a');
    expect(await submit()).toMatchObject({ kind: 'accepted' });
    await idle(clock, 539_000);
    expect([await submit(), countRuns()]).toMatchObject([{ kind: 'accepted' }, 1]);
    await idle(clock);
    expect([await submit(), countRuns()]).toMatchObject([{ kind: 'accepted' }, 2]);
  });

  it.each([
    ['refused', ['s3cret-token'], /535/],
    ['not one', ['sign in first: s3cret-token\n'], /node\S*, printed no access token$/],
    ['in a broken answer', ['{"access_token": "s3cret-token"'], /printed no access token$/],
  ])('that is %s puts the lane off, after one run, and is named nowhere', async (_, printed, problem) => {
    const { submit, reports, countRuns } = await startWith(printed, () => 'another');
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane' });
    const [report] = reports as [Error];
    expect((report.cause as Error).message).toMatch(problem);
    expect([inspect(reports).includes('s3cret'), countRuns()]).toEqual([false, 1]);
  });

  it.skipIf(process.platform === 'win32')(
    'is taken when its command ends, whatever that leaves',
    async () => {
      const agent = new AccessToken(['sh', '-c', 'sleep 29 & echo $!.t']);
      const begun = performance.now();
      const { token } = await agent.get(0);
      expect(performance.now() - begun).toBeLessThan(20_000);
      process.kill(Number.parseInt(token, 10));
    },
  );

  it.each([
    [
      'fails',
      ['-e', 'console.error("s3cret"); process.exit(3)'],
      /failed with 3\. Run it by hand to see why$/,
    ],
    ['is not there', [], /cannot be run: ENOENT$/],
  ])('of a command that %s says so', async (_, args, problem) => {
    const program = args.length === 0 ? '/nowhere/token' : process.execPath;
    const failed = new AccessToken([program, ...args]).get(0);
    await expect(failed).rejects.toThrow(problem);
    await expect(failed).rejects.not.toThrow('s3cret');
  });
});
