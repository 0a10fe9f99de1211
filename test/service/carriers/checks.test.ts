import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { checkCarriers } from '../../../src/service/carriers/configured/check-carriers.js';
import { checkRoute } from '../../../src/service/carriers/smpp/check-route.js';
import { commandIds } from '../../../src/service/carriers/smpp/codec/commands.js';
import type { SmppRoute } from '../../../src/service/carriers/smpp/route-settings.js';
import { checkRelay } from '../../../src/service/carriers/smtp/check-relay.js';
import type { SmtpSettings } from '../../../src/service/carriers/smtp/smtp-settings.js';
import { ManualClock } from '../../../src/service/clock.js';
import { seededRandom } from '../../../src/service/random.js';
import { fileFolder } from '../../support/folders.js';
import { routeTo } from '../../support/smpp.js';

const within = 10_000;
const folder = fileFolder();
let server: Server;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** A carrier that answers what it hears with `answer`, and the first word with `greeting`. */
async function listen(answer: (heard: Buffer) => Buffer | null, greeting = ''): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (greeting !== '') socket.write(greeting);
    socket.on('data', (heard) => {
      const reply = answer(heard);
      if (reply !== null) socket.write(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

/** What a check finds, and the milliseconds that it took on its clock. */
async function found(check: (clock: ManualClock) => Promise<string | null>) {
  const clock = new ManualClock(0);
  let isDone = false;
  const checking = check(clock).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    for (let tick = 0; tick < 200 && !isDone; tick += 1) await new Promise(setImmediate);
    if (!isDone) clock.advance(250);
  }
  return { problem: await checking, took: clock.monotonic() };
}

const route = (port: number, changes: Partial<SmppRoute> = {}) =>
  found((clock) => checkRoute(routeTo(port, changes), { clock, random: seededRandom('check') }, within));

function relay(port: number, changes: Partial<SmtpSettings> = {}) {
  const settings: SmtpSettings = {
    ...{ host: '127.0.0.1', port, tls: 'off', login: null },
    ...{
      from: 'a@example.mn',
      name: 'example.mn',
      bounceDomain: null,
      connections: 1,
      perSecond: null,
      perDay: null,
    },
    ...changes,
  };
  return found((clock) => checkRelay(settings, clock, within));
}

/** The head of a PDU that answers one, as another command with another status. */
function answerTo(heard: Buffer, command = (heard.readUInt32BE(4) | 0x80000000) >>> 0, status = 0): Buffer {
  const pdu = Buffer.alloc(16);
  for (const [index, value] of [16, command, status, heard.readUInt32BE(12)].entries())
    pdu.writeUInt32BE(value, index * 4);
  return pdu;
}
const isUnbind = (heard: Buffer) => heard.readUInt32BE(4) === commandIds.unbind;

describe('the check of an operator', () => {
  const both = { bind: 'transmitter+receiver' } as const;

  it.each<[string, Partial<SmppRoute>, (heard: Buffer) => Buffer | null, string | null]>([
    ['answers', {}, (heard) => answerTo(heard), null],
    ['answers as transmitter and receiver', both, (heard) => answerTo(heard), null],
    ['accepts and is silent', {}, () => null, 'its operator does not answer'],
    ['accepts TLS and is silent', { tls: true }, () => null, 'its operator does not answer'],
    [
      'takes a transmitter and no receiver',
      both,
      (heard) => (heard.readUInt32BE(4) === commandIds.bind_receiver ? null : answerTo(heard)),
      'receiver: its operator does not answer',
    ],
    ['binds and does not unbind', {}, (heard) => (isUnbind(heard) ? null : answerTo(heard)), null],
    [
      'answers a bind with generic_nack and status 0',
      {},
      (heard) => answerTo(heard, commandIds.generic_nack),
      'its operator refused to bind (0x00)',
    ],
    [
      'answers a bind as if it were another',
      {},
      (heard) => answerTo(heard, commandIds.bind_transmitter_resp),
      'its operator does not answer',
    ],
    [
      'refuses the password',
      {},
      (heard) => answerTo(heard, undefined, 0x0e),
      'its operator refused the password (0x0e)',
    ],
  ])('that %s ends within 10 s, and tells', async (_, changes, answer, problem) => {
    const checked = await route(await listen(answer), changes);
    expect(checked.problem).toBe(problem);
    expect(checked.took).toBeLessThanOrEqual(within);
  });
});

describe('the check of a configuration', () => {
  const file = (name: string) => readFileSync(`test/fixtures/tls/${name}.pem`);

  it.each<[scheme: string, certificate: string | null, problem: string]>([
    ['smtps', null, 'the port speaks plain SMTP: use smtp://'],
    ['smpp+tls', null, 'the port speaks plain SMPP: use smpp://'],
    ['smtp', 'self-signed', 'the port speaks TLS from the first byte: use smtps://'],
    ['smpp', 'self-signed', 'the port speaks TLS from the first byte: use smpp+tls://'],
    ...['smtps', 'smpp+tls'].flatMap((scheme): [string, string, string][] =>
      ['self-signed', 'unknown-issuer'].map((certificate) => [
        scheme,
        certificate,
        'its certificate is not trusted',
      ]),
    ),
  ])('%s:// on a port with the certificate %s says: %s', async (scheme, certificate, problem) => {
    const greet = (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      // Hangs up on what it does not understand, as servers do.
      socket.on('data', () => socket.end('500 Unrecognized\r\n'));
      socket.write('220 relay\r\n');
    };
    server =
      certificate === null
        ? createServer(greet)
        : createTlsServer({ key: file('key'), cert: file(certificate) }, greet);
    server.on('tlsClientError', (_, socket: Socket) => socket.destroy());
    // A server hangs up on who does not begin with TLS, sooner or later.
    let isPlain = scheme === 'smtp' || scheme === 'smpp';
    server.on('connection', (socket: Socket) => {
      if (isPlain) socket.destroy();
      isPlain = false;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const at = `${scheme}://localhost:${port}`;
    const configuration = scheme.startsWith('smtp')
      ? { sms: 'off', email: { smtp: at, from: 'a@example.mn' } }
      : {
          email: 'off',
          sms: {
            routes: [{ name: 'M', smpp: at, system_id: 'u', password: { env: 'P' }, prefixes: ['99'] }],
          },
        };
    const written = join(folder, 'service.json');
    writeFileSync(written, JSON.stringify(configuration));
    const [check] = checkCarriers({ file: written, environment: { P: 'p' } });
    expect((await check)?.problem).toContain(problem);
  });
});

describe('the check of a relay', () => {
  const usual = (heard: Buffer) => Buffer.from(`250${heard.includes('EHLO') ? ' AUTH PLAIN' : ''}\r\n`);
  const login = { user: 'urtuu', password: 'secret' };

  it.each<[string, Partial<SmtpSettings>, string, (heard: Buffer) => Buffer | null, string | null]>([
    ['answers', {}, '220 relay\r\n', usual, null],
    ['accepts and is silent', {}, '', () => null, 'it does not answer'],
    ['accepts TLS and is silent', { tls: 'implicit' }, '', () => null, 'it does not answer'],
    ['never ends its greeting', {}, '220-relay\r\n220 re', () => null, 'it does not answer'],
    ['greets and is silent', {}, '220 relay\r\n', () => null, 'it does not answer'],
    [
      'never answers a login',
      { login },
      '220 relay\r\n',
      (heard) => (heard.includes('AUTH') ? null : usual(heard)),
      'it does not answer',
    ],
  ])('that %s ends within 10 s, and tells', async (_, changes, greeting, answer, problem) => {
    const checked = await relay(await listen(answer, greeting), changes);
    expect(checked.problem).toBe(problem);
    expect(checked.took).toBeLessThanOrEqual(within);
  });
});
