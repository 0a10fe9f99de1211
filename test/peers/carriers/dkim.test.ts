import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { smtpCarrier } from '../../../src/service/carriers/smtp/smtp.js';
import { systemClock } from '../../../src/service/clock.js';
import { systemRandom } from '../../../src/service/random.js';
import { ownRouteRates } from '../../../src/service/storage/route-limits.js';
import { fileFolder } from '../../support/folders.js';
import { mailOf } from '../../support/mails.js';
import { Relay } from '../../support/relay.js';
import { needPythonModule, python } from '../programs.js';

const folder = fileFolder();
const verify = `
import dkim, sys
record = b'v=DKIM1; k=rsa; p=' + sys.argv[1].encode()
names = []
def dns(name, timeout=5):
    names.append(name)
    return record
print(dkim.verify(sys.stdin.buffer.read(), dnsfunc=dns), names[0].decode())
`;

it.each([
  ['Latin', { text: 'Hi\n.\n..\n\nBye\n\n' }],
  [
    'Cyrillic in both forms',
    { text: 'Сайн уу', html: '<p>Сайн уу</p>', subject: 'Тавтай морилно уу '.repeat(9) },
  ],
  ['lone returns', { text: 'a\rb\r\rc\n\rd\r', html: 'a\rb' }],
  ['long lines and blanks at their ends', { text: `${'x'.repeat(3_000)} \t \n \n`, subject: 'a  b' }],
])('dkimpy verifies the signature of a mail as it arrives: %s', async (_, bodies) => {
  needPythonModule('dkim', 'python3-dkim');
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const file = join(folder, 'dkim.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  chmodSync(file, 0o600);
  const relay = new Relay();
  const port = await relay.listen();
  const carrier = smtpCarrier({
    settings: {
      ...{ host: '127.0.0.1', port, tls: 'off', login: null, name: 'shop.mn', connections: 1 },
      ...{ from: 'no-reply@example.mn', bounceDomain: null, perSecond: null, perDay: null },
    },
    ...{ bounceKey: Buffer.alloc(32), limits: ownRouteRates(systemClock) },
    ...{ clock: systemClock, random: systemRandom, report() {} },
  });
  onTestFinished(async () => {
    await carrier.stop();
    await relay.close();
  });
  await carrier.start(async () => {});
  const ownDomain = { domain: 'shop.mn', selector: 'mail', key_file: file };
  const submission = mailOf({ from: 'Дэлгүүр <no-reply@shop.mn>', ownDomain, ...bodies });
  expect(await carrier.submit(submission, new AbortController().signal)).toMatchObject({ kind: 'accepted' });
  const published = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  // The relay keeps the doubled dots at the begin of lines.
  const raw = (relay.taken[0]?.raw ?? '').replace(/\r\n\./g, '\r\n');
  const verified = (mail: string) =>
    execFileSync(python, ['-c', verify, published], { input: Buffer.from(mail, 'latin1') })
      .toString()
      .trim();
  expect(verified(raw)).toBe('True mail._domainkey.shop.mn.');
  expect(verified(raw.replace('Subject: ', 'Subject: x'))).toMatch(/^False/);
});
