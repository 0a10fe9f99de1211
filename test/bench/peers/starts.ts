import { readFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Machine, root } from '../../support/binary.js';
import { json, Loopback } from '../../support/loopback.js';
import { emailResult, smsResult } from '../../support/resources.js';
import { cpuOf } from '../cpu.js';
import type { Row } from '../pairs.js';
import { freshKey } from '../start.js';
import { type Cost, rowOf, sideBySide } from './side-by-side.js';

const runs = 3;

/** Answers what our command sends, and resend-cli. */
const answering = () =>
  Loopback.listen(({ path, body }, response) => {
    if (path === '/emails') return json(response, 200, { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' });
    const { to } = JSON.parse(body);
    json(response, 200, path === '/v1/sms' ? smsResult({ to }) : emailResult({ to }));
  });

/** twilio-cli asks no other address than Twilio's: a proxy, behind which there is an answer with any certificate. */
async function twilioProxy(): Promise<{ port: number; close(): void }> {
  const tls = join(root, 'test/fixtures/tls');
  const message = { sid: `SM${'0'.repeat(32)}`, status: 'queued', direction: 'outbound-api' };
  const twilio = createServer(
    { key: readFileSync(join(tls, 'key.pem')), cert: readFileSync(join(tls, 'self-signed.pem')) },
    (request, response) => {
      request.resume().on('end', () => json(response, 201, message));
    },
  );
  const proxy = createProxy().on('connect', (_, socket: Duplex) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n\r\n');
    twilio.emit('connection', socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { port: (proxy.address() as AddressInfo).port, close: () => proxy.close() };
}

/** Whole processes: cpu, and how many a second one after the other. */
export async function startRows(modules: string, pairs: number): Promise<Row[]> {
  const machine = new Machine();
  await using service = await answering();
  const proxy = await twilioProxy();
  const env = machine.environment({ URTUU_BASE_URL: `${service.origin}/v1`, LC_ALL: 'C' });
  const resendEnv = {
    ...env,
    RESEND_API_KEY: 're_123',
    RESEND_BASE_URL: service.origin,
    RESEND_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
  };
  const twilioEnv = {
    ...env,
    PATH: [join(modules, '.bin'), env.PATH].join(delimiter),
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: '0'.repeat(32),
    HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  const cost = async (words: string[], env: NodeJS.ProcessEnv): Promise<Cost> => {
    const began = performance.now();
    const cpu = await cpuOf(words, { cwd: root, env, runs });
    return { cpu, rate: (runs * 1_000) / (performance.now() - began) };
  };
  const ours = (words: string[]) => cost(['bin/urtuu.js', ...words], { ...env, ...freshKey() });
  const versionOf = (name: string) =>
    `${name} ${JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version}`;
  const resend = {
    name: versionOf('resend-cli'),
    cost: (words: string[]) => cost([join(modules, 'resend-cli/dist/cli.cjs'), ...words], resendEnv),
  };
  const twilio = {
    name: versionOf('twilio-cli'),
    cost: (words: string[]) => cost([join(modules, 'twilio-cli/bin/run'), ...words], twilioEnv),
  };
  // More than a measure's sends to one recipient would meet the service's cap.
  let recipient = 99_110_000;
  const mail = ['--subject', 'Hi', '--text', 'hello'];
  const commands: [what: string, words: () => string[], against: typeof resend, theirs: string[]][] = [
    ['--version', () => ['--version'], resend, ['--version']],
    ['--help', () => ['--help'], resend, ['--help']],
    [
      'email send',
      () => ['email', 'send', 'bold@example.com', ...mail],
      resend,
      ['emails', 'send', '--from', 'a@example.com', '--to', 'bold@example.com', ...mail],
    ],
    ['--version', () => ['--version'], twilio, ['--version']],
    ['--help', () => ['--help'], twilio, ['--help']],
    [
      'sms send',
      () => ['sms', 'send', `${recipient++}`, 'hello'],
      twilio,
      ['api:core:messages:create', '--from', '+15005550006', '--to', '+97699110000', '--body', 'hello'],
    ],
  ];
  const rows: Row[] = [];
  try {
    for (const [what, words, against, theirs] of commands) {
      const compared = await sideBySide(
        () => ours(words()),
        () => against.cost(theirs),
        pairs,
      );
      rows.push(rowOf(`urtuu ${what}`, against.name, compared));
    }
  } finally {
    proxy.close();
    machine.remove();
  }
  return rows;
}
