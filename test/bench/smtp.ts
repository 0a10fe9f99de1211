import { spawn } from 'node:child_process';
import { createTransport } from 'nodemailer';
import { smtpCarrier } from '../../src/service/carriers/smtp/smtp.js';
import { systemClock } from '../../src/service/clock.js';
import { systemRandom } from '../../src/service/random.js';
import { ownRouteRates } from '../../src/service/storage/route-limits.js';
import { printed, root } from '../support/binary.js';
import { mailOf } from '../support/mails.js';
import { median, type Row } from './pairs.js';

/** npm smtp-server, which takes everything and keeps nothing. */
export const relayProgram = `
const { SMTPServer } = require('smtp-server');
const server = new SMTPServer({
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, session, done) { stream.resume().on('end', () => done()); },
});
server.listen(0, '127.0.0.1', () => console.log(server.server.address().port));`;

const connections = 10;
const mails = 2_000;
const text = 'Сайн байна уу? Таны захиалга баталгаажлаа. '.repeat(20);
const subject = 'Захиалга баталгаажлаа';
const from = 'Урту <no-reply@example.mn>';

const submission = mailOf({ text, subject, html: `<p>${text}</p>`, from });

interface Measured {
  /** Mails a second. */
  rate: number;
  /** Milliseconds of cpu a mail. */
  cpu: number;
}

async function measured(send: () => Promise<void>): Promise<Measured> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let next = 0;
  const sendAll = async () => {
    while (next < mails) {
      next += 1;
      await send();
    }
  };
  await Promise.all(Array.from({ length: connections }, sendAll));
  const rate = mails / ((performance.now() - start) / 1_000);
  const { user, system } = process.cpuUsage(cpu);
  return { rate, cpu: (user + system) / 1_000 / mails };
}

async function throughPool(port: number): Promise<Measured> {
  const pool = createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    maxConnections: connections,
    maxMessages: 90,
    ignoreTLS: true,
  });
  const result = await measured(async () => {
    await pool.sendMail({ from, to: submission.to, subject, text, html: submission.html ?? '' });
  });
  pool.close();
  return result;
}

async function throughCarrier(port: number): Promise<Measured> {
  const carrier = smtpCarrier({
    settings: {
      host: '127.0.0.1',
      port,
      tls: 'off',
      login: null,
      from: 'no-reply@example.mn',
      name: 'example.mn',
      bounceDomain: 'bounce.example.mn',
      connections,
      perSecond: null,
      perDay: null,
    },
    bounceKey: Buffer.alloc(32),
    limits: ownRouteRates(systemClock),
    clock: systemClock,
    random: systemRandom,
    report: (error) => {
      throw error;
    },
  });
  await carrier.start(async () => {});
  const { signal } = new AbortController();
  const result = await measured(async () => {
    const { kind } = await carrier.submit(submission, signal);
    if (kind !== 'accepted') throw new Error(kind);
  });
  await carrier.stop();
  return result;
}

/** Ten connections to a relay in a process of its own. */
export async function smtp(rounds = 5): Promise<Row[]> {
  const relay = spawn(process.execPath, ['-e', relayProgram], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = Number(await printed(relay, 'stdout', /\n/));
  const pairs: { pool: Measured; carrier: Measured }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const pair = { pool: await throughPool(port), carrier: await throughCarrier(port) };
    if (round >= 0) pairs.push(pair);
  }
  relay.kill('SIGKILL');
  const ratio = median(pairs.map(({ pool, carrier }) => carrier.rate / pool.rate));
  const rate = median(pairs.map(({ carrier }) => carrier.rate));
  const cpu = median(pairs.map(({ carrier }) => carrier.cpu));
  const against = `nodemailer's pool: ${Math.round(median(pairs.map(({ pool }) => pool.rate)))}/s`;
  return [
    {
      what: `SMTP: mails over ${connections} connections to npm smtp-server`,
      against,
      goal: 'its rate',
      measured: `${ratio.toFixed(2)} (${Math.round(rate)}/s)`,
      met: ratio >= 0.95,
    },
    {
      what: 'SMTP: cpu of a mail',
      against: '-',
      goal: 'under 1 ms',
      measured: `${cpu.toFixed(2)} ms`,
      met: cpu < 1,
    },
  ];
}
