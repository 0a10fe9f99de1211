import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import PostalMime from 'postal-mime';
import { expect, it, onTestFinished } from 'vitest';
import type { Batch, Message } from '../../../src/contract/index.js';
import type { ReceivedMessage } from '../../../src/service/index.js';
import { blocksOf } from '../../docs/pages.js';
import { root } from '../../support/binary.js';
import { testFolder } from '../../support/folders.js';
import { Relay } from '../../support/relay.js';
import { needProgram } from '../programs.js';
import { startService, until } from './service.js';

const port = 28_025;
const smtpd = '/usr/sbin/smtpd';

/** The action and the domains for `urtuu service incoming`, as docs/email.md has them. */
const pageRules =
  blocksOf('docs/email.md').find(({ language, code }) => language === 'conf' && code.includes('action urtuu'))
    ?.code ?? '';

/**
 * OpenSMTPD on loopback, with its queue and its socket where only it sees them; mail goes to a maildir. TLS is in front
 * of it: Debian 12's, which is older than OpenSSL 3, ends every handshake, and without one it offers no AUTH.
 */
async function startRelay(more: (folder: string) => string = () => '') {
  needProgram(smtpd, 'opensmtpd');
  needProgram('/usr/bin/openssl', 'openssl');
  if (process.getuid?.() !== 0) throw new Error('OpenSMTPD starts as root only: sudo npm run test:peers');
  const folder = testFolder();
  chmodSync(folder, 0o755);
  const inFolder = (name: string) => join(folder, name);
  const key = inFolder('key.pem');
  const cert = inFolder('cert.pem');
  const mail = inFolder('mail');
  mkdirSync(mail);
  chmodSync(mail, 0o777);
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const name = ['-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...request, ...name, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  writeFileSync(
    inFolder('smtpd.conf'),
    `table people { "@example.com" = "nobody" }
listen on 127.0.0.1 port ${port} hostname relay.test
action keep maildir "${mail}" virtual <people>
match from any for domain "example.com" action keep
${more(folder)}`,
  );
  const ownFolders = 'mount -t tmpfs tmpfs /var/spool && mount -t tmpfs tmpfs /run';
  const command = `${ownFolders} && exec ${smtpd} -d -f ${inFolder('smtpd.conf')}`;
  const child = spawn('unshare', ['--mount', 'sh', '-c', command], { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await ended;
  });
  await until(async () => ((await isListening()) ? true : null));
  const front = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const behind = connect(port, '127.0.0.1');
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => behind.destroy());
    behind.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  const inbox = join(mail, 'new');
  return {
    folder,
    environment: { NODE_EXTRA_CA_CERTS: cert },
    configuration: {
      sms: 'off',
      email: {
        smtp: `smtps://localhost:${(front.address() as AddressInfo).port}`,
        from: 'no-reply@example.mn',
        bounce_domain: 'bounce.example.mn',
        connections: 2,
      },
    },
    mails: () => (existsSync(inbox) ? readdirSync(inbox).map((name) => readFileSync(join(inbox, name))) : []),
  };
}

/** Gives the relay a mail, as another server does. */
async function sendMail(from: string, to: string, mail: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const lines = [
    'EHLO customer.test',
    `MAIL FROM:<${from}>`,
    `RCPT TO:<${to}>`,
    'DATA',
    `From: ${from}\r\nTo: ${to}\r\n${mail}\r\n.`,
    'QUIT',
  ];
  let answers = '';
  for await (const bytes of socket) {
    answers += bytes;
    if (!/^\d{3} [^\n]*\n$/m.test(String(bytes))) continue;
    // Nothing after QUIT: a relay that has closed would answer it with a reset.
    const line = lines.shift();
    if (line !== undefined) socket.write(`${line}\r\n`);
  }
  if (!/^250 [^\n]*delivery/m.test(answers)) throw new Error(`it was not taken: ${answers}`);
}

const isListening = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once('data', end(true));
    socket.once('error', end(false));
  });

it('OpenSMTPD takes a mail over TLS, with correct headers', async () => {
  const { configuration, environment, mails } = await startRelay();
  const { json, check } = await startService(configuration, environment);
  expect(await check()).toMatchObject({ code: 0, stdout: expect.stringMatching(/email +smtps:\S+ +ok/) });
  const subject = 'Тавтай морилно уу: таны захиалга бэлэн боллоо, ирж авна уу';
  const { id } = await json<Message>(
    ...['email', 'send', 'bold@example.com', '--subject', subject, '--text', 'Сайн уу\n.\nБаяртай'],
    ...['--html', '<p>Сайн уу</p>', '--from-name', 'Өртөө', '--reply-to', 'info@example.mn'],
  );
  const [raw] = await until(async () => (mails().length > 0 ? mails() : null));
  const mail = await PostalMime.parse(raw as Buffer);
  expect(mail).toMatchObject({
    subject,
    messageId: `<${id}@example.mn>`,
    from: { name: 'Өртөө', address: 'no-reply@example.mn' },
    replyTo: [{ address: 'info@example.mn' }],
    to: [{ address: 'bold@example.com' }],
    // In the line ends of mails, which its encoding keeps.
    text: 'Сайн уу\r\n.\r\nБаяртай',
    html: '<p>Сайн уу</p>',
  });
  const headerOf = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
  expect(headerOf('auto-submitted')).toBe('auto-generated');
  expect(headerOf('mime-version')).toBe('1.0');
  expect(headerOf('return-path')).toMatch(
    new RegExp(`^<bounce\\+${id}\\.[0-9a-f]{20}@bounce\\.example\\.mn>$`),
  );
  expect(Date.parse(mail.date ?? '')).toBeGreaterThan(Date.now() - 60_000);
  expect((raw as Buffer).every((byte) => byte < 0x80)).toBe(true);
  expect(await json('messages', 'get', id)).toMatchObject({ status: 'sent', delivery: null });
});

it('OpenSMTPD takes more mails than it allows a connection', async () => {
  const { configuration, environment, mails } = await startRelay();
  const { run, json } = await startService(configuration, environment);
  const to = Array.from({ length: 250 }, (_, index) => `p${index}@example.com`);
  const sent = await run([
    ...[
      'api',
      'POST',
      '/v1/email/bulk',
      '-F',
      `to=${JSON.stringify(to)}`,
      '-f',
      'subject=Hi',
      '-f',
      'text=Hi',
    ],
  ]);
  const { id } = JSON.parse(sent.stdout) as Batch;
  const batch = await until(async () => {
    const read = await json<Batch>('batches', 'get', id);
    return read.status === 'completed' ? read : null;
  }, 25_000);
  expect(batch).toMatchObject({ sent: 250, failed: 0 });
  const unknown = await json<{ data: Message[] } | Message[]>('messages', 'list', '--delivery', 'unknown');
  expect('data' in unknown ? unknown.data : unknown).toEqual([]);
  await until(async () => (mails().length >= 250 ? true : null));
  expect(mails()).toHaveLength(250);
});

it('a certificate that nobody knows is refused, and the check says so', async () => {
  const { configuration, mails } = await startRelay();
  const { check } = await startService(configuration);
  expect(await check()).toMatchObject({ code: 5, stdout: expect.stringMatching(/self-signed certificate/) });
  expect(mails()).toEqual([]);
});

it('OpenSMTPD hands a bounce and a reply to the command of the page: bounced and suppressed, and in the inbox', async () => {
  const gone = new Relay({ react: (step) => (step === 'RCPT' ? '550 5.1.1 No such user' : null) });
  const gonePort = await gone.listen();
  onTestFinished(() => gone.close());
  // It runs the command as the user who owns the data.
  const rules = (folder: string) =>
    pageRules
      .replace('listen on 0.0.0.0\n', '')
      .replace('"@" = "urtuu"', '"@" = "nobody"')
      .replace('/usr/local/bin', `${folder}/bin`)
      .replace('/var/lib/urtuu', `${folder}/data`);
  const { folder, configuration, environment } = await startRelay(
    (inside) => `${rules(inside)}
action out relay host smtp://127.0.0.1:${gonePort}
match from any for domain "gone.example" action out
`,
  );
  const uid = Number(execFileSync('id', ['-u', 'nobody']));
  const gid = Number(execFileSync('id', ['-g', 'nobody']));
  const { json, own } = await startService(configuration, environment, (data) => {
    execFileSync('chown', ['-R', `${uid}:${gid}`, data]);
    symlinkSync(data, join(folder, 'data'));
    mkdirSync(join(folder, 'bin'));
    symlinkSync(join(root, 'bin/urtuu.js'), join(folder, 'bin/urtuu'));
    symlinkSync(process.execPath, join(folder, 'bin/node'));
  });
  await own('service', 'settings', 'set', 'own_domain', 'shop.mn');
  await own('service', 'settings', 'set', 'suppressions', 'true');
  const { id } = await json<Message>('email', 'send', 'bold@gone.example', '--subject', 'Hi', '--text', 'Hi');
  const bounced = await until(async () => {
    const read = await json<Message>('messages', 'get', id);
    return read.delivery === null ? null : read;
  });
  expect(bounced).toMatchObject({ status: 'sent', delivery: 'bounced' });
  expect(await own('service', 'suppressions', 'list')).toMatchObject([
    { to: 'bold@gone.example', reason: 'unknown_recipient' },
  ]);
  await sendMail('bold@gone.example', 'no-reply@shop.mn', 'Subject: Re: Hi\r\n\r\nБаярлалаа');
  const [reply] = await until(async () => {
    const inbox = await own<ReceivedMessage[]>('service', 'inbox');
    return inbox.length > 0 ? inbox : null;
  });
  expect(reply).toMatchObject({
    channel: 'email',
    to: 'no-reply@shop.mn',
    subject: 'Re: Hi',
    text: 'Баярлалаа',
  });
});
