import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printed, root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const key = join(root, 'test/fixtures/tls/key.pem');
const cert = join(root, 'test/fixtures/tls/self-signed.pem');
const secrets = { SMTP_PASSWORD: 'secret' };

const machine = emptyMachine();
let file: string;
let close: () => Promise<void>;
/** Mails with the login of their connections. */
let taken: { raw: Buffer; from: string; user: string | undefined; secure: boolean }[];

beforeEach(() => {
  file = join(machine.home, 'service.json');
  taken = [];
});
afterEach(() => close());

/** A relay that takes mail with a password over TLS only. */
async function relay(secure: boolean, certificate = cert): Promise<void> {
  const server = new SMTPServer({
    secure,
    key: readFileSync(key),
    cert: readFileSync(certificate),
    onAuth: ({ username, password }, _session, done) =>
      password === 'secret' ? done(null, { user: username ?? '' }) : done(new Error('wrong password')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
        taken.push({ raw: Buffer.concat(chunks), from, user: session.user, secure: session.secure });
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as { port: number };
  close = () => new Promise((resolve) => server.close(() => resolve()));
  const email = {
    smtp: `${secure ? 'smtps' : 'smtp'}://localhost:${port}`,
    tls: 'required',
    user: 'urtuu',
    password: { env: 'SMTP_PASSWORD' },
    from: 'no-reply@example.mn',
    bounce_domain: 'bounce.example.mn',
  };
  writeFileSync(file, JSON.stringify({ sms: 'off', email }));
}

/** What `service check` says of the relay. */
async function check(env: NodeJS.ProcessEnv) {
  const words = ['service', 'check', '--config', file, '-o', 'ndjson'];
  const { code, stdout } = await machine.run(words, { env: { ...secrets, ...env } });
  const checks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, email: checks.find((one) => one.check === 'email') };
}

describe.each([
  ['STARTTLS', false],
  ['TLS', true],
])('a mail relay with %s', (_name, secure) => {
  it('gets a mail, and its password only where its certificate is trusted', async () => {
    await relay(secure);
    expect(await check({})).toMatchObject({
      code: 5,
      email: { status: 'failed', problem: expect.stringContaining('self-signed certificate') },
    });
    const trusting = { NODE_EXTRA_CA_CERTS: cert };
    expect(await check(trusting)).toMatchObject({ email: { status: 'ok', problem: null } });
    const wrong = await check({ ...trusting, SMTP_PASSWORD: 'other' });
    expect(wrong).toMatchObject({ email: { problem: expect.stringContaining('Invalid login') } });
    expect(taken).toEqual([]);

    const given = { env: { ...secrets, ...trusting } };
    const { child, ended, client } = await machine.serve(['--config', file], given);
    const mail = ['email', 'send', 'bold@example.com', '--subject', 'Тавтай морил', '--text', 'Сайн уу'];
    const sent = await machine.run([...mail, '--wait', '-o', 'ndjson'], { env: client });
    child.kill('SIGTERM');
    expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { status: 'sent' }]);
    expect((await ended).stderr).toBe('');
    expect(taken).toMatchObject([
      { from: expect.stringMatching(/^bounce\+.{57}@bounce\.example\.mn$/), user: 'urtuu', secure: true },
    ]);
    const [first] = taken;
    expect(await PostalMime.parse(first?.raw ?? '')).toMatchObject({
      subject: 'Тавтай морил',
      from: { address: 'no-reply@example.mn' },
      text: expect.stringContaining('Сайн уу'),
    });
  });

  it('gets no mail and no password once its certificate has expired', async () => {
    const ca = join(root, 'test/fixtures/tls/ca.pem');
    await relay(secure, join(root, 'test/fixtures/tls/expired.pem'));
    expect(await check({ NODE_EXTRA_CA_CERTS: ca })).toMatchObject({
      code: 5,
      email: { status: 'failed', problem: expect.stringContaining('certificate has expired') },
    });
    const given = { env: { ...secrets, NODE_EXTRA_CA_CERTS: ca } };
    const { child, ended, client } = await machine.serve(['--config', file], given);
    const mail = ['email', 'send', 'bold@example.com', '--subject', 's', '--text', 't', '-o', 'ndjson'];
    const sent = await machine.run(mail, { env: client });
    expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { status: 'queued' }]);
    await printed(child, 'stderr', /certificate has expired/);
    child.kill('SIGTERM');
    await ended;
    expect(taken).toEqual([]);
  });
});
