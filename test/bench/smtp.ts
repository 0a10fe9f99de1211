import { spawn } from 'node:child_process';
import { createTransport } from 'nodemailer';
import { smtpCarrier } from '../../src/service/carriers/smtp/smtp.js';
import { systemClock } from '../../src/service/clock.js';
import { systemRandom } from '../../src/service/random.js';
import { ownRouteRates } from '../../src/service/storage/route-limits.js';
import { printed, root } from '../support/binary.js';
import { mailOf } from '../support/mails.js';
import type { Row } from './pairs.js';
import { type Compared, type Cost, sideBySide } from './peers/side-by-side.js';

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

async function measured(send: () => Promise<void>): Promise<Cost> {
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

async function throughPool(port: number): Promise<Cost> {
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

async function throughCarrier(port: number): Promise<Cost> {
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

/** Ten connections to a relay in a process of its own, ours and those of nodemailer's pool. */
export async function mailPairs(pairs = 5): Promise<Compared> {
  const relay = spawn(process.execPath, ['-e', relayProgram], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = Number(await printed(relay, 'stdout', /\n/));
  const compared = await sideBySide(
    () => throughCarrier(port),
    () => throughPool(port),
    pairs,
  );
  relay.kill('SIGKILL');
  return compared;
}

export async function smtp(): Promise<Row[]> {
  const { rate, ours, theirs } = await mailPairs();
  return [
    {
      what: `SMTP: mails over ${connections} connections to npm smtp-server`,
      against: `nodemailer's pool: ${Math.round(theirs.rate)}/s`,
      goal: 'its rate',
      measured: `${rate.toFixed(2)} (${Math.round(ours.rate)}/s)`,
      met: rate >= 0.95,
    },
    {
      what: 'SMTP: cpu of a mail',
      against: '-',
      goal: 'under 1 ms',
      measured: `${ours.cpu.toFixed(2)} ms`,
      met: ours.cpu < 1,
    },
  ];
}
