import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { smtpCarrier } from '../../../../src/service/carriers/smtp/smtp.js';
import type { SmtpSettings } from '../../../../src/service/carriers/smtp/smtp-settings.js';
import { systemClock } from '../../../../src/service/clock.js';
import { systemRandom } from '../../../../src/service/random.js';
import { ownRouteRates } from '../../../../src/service/storage/route-limits.js';
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

const carrierTo = (port: number, changes: Partial<SmtpSettings> = {}) =>
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
