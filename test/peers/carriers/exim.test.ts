import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkRelay } from '../../../src/service/carriers/smtp/check-relay.js';
import { smtpCarrier } from '../../../src/service/carriers/smtp/smtp.js';
import type { SmtpSettings } from '../../../src/service/carriers/smtp/smtp-settings.js';
import { systemClock } from '../../../src/service/clock.js';
import { systemRandom } from '../../../src/service/random.js';
import { ownRouteRates } from '../../../src/service/storage/route-limits.js';
import { testFolder } from '../../support/folders.js';
import { mailOf } from '../../support/mails.js';
import { needProgram } from '../programs.js';
import { until } from './service.js';

const port = 28_225;
/** Its package excludes OpenSMTPD's: extracted by `dpkg -x`, it can be elsewhere. */
const exim = process.env.URTUU_EXIM ?? '/usr/sbin/exim4';
const hasGreeting = (): Promise<true | null> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (is: true | null) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once('data', end(true));
    socket.once('error', end(null));
  });

/**
 * Exim on loopback, which takes one mail for each connection, no address as a name, and answers to each recipient late. It keeps
 * what it takes in its queue.
 */
async function startExim() {
  needProgram(exim, 'exim4-daemon-light');
  if (process.getuid?.() !== 0) throw new Error('Exim starts as root only: sudo npm run test:peers');
  const folder = testFolder();
  const inFolder = (name: string) => join(folder, name);
  chmodSync(folder, 0o755);
  for (const name of ['spool', 'log']) {
    mkdirSync(inFolder(name));
    chmodSync(inFolder(name), 0o777);
  }
  // The user of Debian's package, where only it sees it.
  const passwd = `${readFileSync('/etc/passwd', 'utf8')}Debian-exim:x:65534:65534::/nonexistent:/bin/false\n`;
  writeFileSync(inFolder('passwd'), passwd);
  writeFileSync(inFolder('group'), `${readFileSync('/etc/group', 'utf8')}Debian-exim:x:65533:\n`);
  writeFileSync(
    inFolder('exim.conf'),
    `primary_hostname = relay.test
spool_directory = ${inFolder('spool')}
log_file_path = ${inFolder('log')}/%slog
exim_user = nobody
exim_group = nogroup
queue_only = true
tls_advertise_hosts =
smtp_accept_max_per_connection = 1
acl_smtp_helo = check_name
acl_smtp_rcpt = accept_late
begin acl
check_name:
  deny condition = \${if match{$sender_helo_name}{^\\\\[}}
       message = Access denied - Invalid HELO name (See RFC2821 4.1.1.1)
  accept
accept_late:
  accept delay = 2s
`,
  );
  const own = ['passwd', 'group'].map((name) => `mount --bind ${inFolder(name)} /etc/${name}`).join(' && ');
  const start = `exec ${exim} -C ${inFolder('exim.conf')} -bdf -oX ${port} -oP ${inFolder('pid')}`;
  const child = spawn('unshare', ['--mount', 'sh', '-c', `${own} && ${start}`], { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await ended;
  });
  await until(hasGreeting);
  const input = inFolder('spool/input');
  return () =>
    (existsSync(input) ? readdirSync(input).filter((name) => name.endsWith('-H')) : []).map((name) =>
      readFileSync(join(input, name), 'utf8'),
    );
}

const settingsOf = (name: string): SmtpSettings => ({
  ...{ host: '127.0.0.1', port, tls: 'off', login: null, name, connections: 1 },
  ...{ from: 'no-reply@example.mn', bounceDomain: null, perSecond: null, perDay: null },
});

it('Exim that ends each connection after a mail, and answers late, gets every mail at once, and once', async () => {
  const mails = await startExim();
  const carrier = smtpCarrier({
    ...{
      settings: settingsOf('shop.example.mn'),
      bounceKey: Buffer.alloc(32),
      limits: ownRouteRates(systemClock),
    },
    ...{ clock: systemClock, random: systemRandom, report() {} },
  });
  onTestFinished(() => carrier.stop());
  await carrier.start(async () => {});
  const results = [];
  for (const subject of ['one', 'two', 'three'])
    results.push(await carrier.submit(mailOf({ subject }), new AbortController().signal));
  expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  await until(async () => (mails().length >= 3 ? true : null));
  const subjects = mails().map((mail) => / Subject: (.*)$/m.exec(mail)?.[1]);
  expect(subjects.sort()).toEqual(['one', 'three', 'two']);
});

it('Exim that refuses the address of a container as a name takes the domain of the sender, and the check says so', async () => {
  await startExim();
  const check = (name: string) => checkRelay(settingsOf(name), systemClock, 10_000);
  expect(await check('[127.0.0.1]')).toMatch(/550 Access denied - Invalid HELO name/);
  expect(await check('shop.example.mn')).toBeNull();
});
