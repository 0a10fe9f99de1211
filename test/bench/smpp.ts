import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { encodePdu, noOptions } from '../../src/service/carriers/smpp/codec/pdu.js';
import { dial } from '../../src/service/carriers/smpp/connection/dial.js';
import { localRouteLimits } from '../../src/service/carriers/smpp/limits.js';
import { smppCarrier } from '../../src/service/carriers/smpp/smpp.js';
import { systemClock } from '../../src/service/clock.js';
import { systemRandom } from '../../src/service/random.js';
import { printed } from '../support/binary.js';
import { routeTo, submissionOf } from '../support/smpp.js';
import { median, type Row } from './pairs.js';

/** A centre that takes everything at once. */
export const centreProgram = `
require('node:net').createServer((socket) => {
  let pending = Buffer.alloc(0);
  socket.on('error', () => {}).on('data', (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    const answers = [];
    let at = 0;
    for (; pending.length - at >= 16; at += pending.readUInt32BE(at)) {
      if (pending.length - at < pending.readUInt32BE(at)) break;
      const answer = Buffer.from('00000015000000000000000000000000' + '3130303100', 'hex');
      answer.writeUInt32BE((pending.readUInt32BE(at + 4) | 0x80000000) >>> 0, 4);
      pending.copy(answer, 12, at + 12, at + 16);
      answers.push(answer);
    }
    pending = pending.subarray(at);
    socket.write(Buffer.concat(answers));
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

const window = 50;
const messages = 40_000;
const answerLength = 21;

/** Submissions a second over a bare socket. */
function bare(port: number): Promise<number> {
  const fields = { destination_addr: '97699112233', short_message: Buffer.from('Hi') };
  const submit = encodePdu({ command: 'submit_sm', status: 0, sequence: 1, fields, options: noOptions });
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.setNoDelay(true);
    const start = performance.now();
    let sent = 0;
    let received = 0;
    const send = () => {
      for (; sent < messages && sent < Math.floor(received / answerLength) + window; sent += 1)
        socket.write(submit);
    };
    socket.on('connect', send).on('data', ({ length }: Buffer) => {
      received += length;
      send();
      if (received < messages * answerLength) return;
      socket.destroy();
      resolve(messages / ((performance.now() - start) / 1_000));
    });
  });
}

/** The same through the carrier. */
async function throughCarrier(port: number): Promise<number> {
  const carrier = smppCarrier({
    routes: [routeTo(port, { window, perSecond: 1_000_000 })],
    clock: systemClock,
    random: systemRandom,
    limits: localRouteLimits(systemClock),
    report: (error) => {
      throw error;
    },
    dial,
  });
  await carrier.start(async () => {});
  const { signal } = new AbortController();
  const start = performance.now();
  let next = 0;
  const submitAll = async () => {
    while (next < messages) {
      next += 1;
      const { kind } = await carrier.submit(submissionOf('0123456789abcdef'), signal);
      if (kind !== 'accepted') throw new Error(kind);
    }
  };
  await Promise.all(Array.from({ length: window * 2 }, submitAll));
  const rate = messages / ((performance.now() - start) / 1_000);
  await carrier.stop();
  return rate;
}

/** The carrier alone, to a centre in a process of its own. */
export async function smpp(rounds = 5): Promise<Row[]> {
  const centre = spawn(process.execPath, ['-e', centreProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number(await printed(centre, 'stdout', /\n/));
  const rates: { bare: number; carrier: number }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const pair = { bare: await bare(port), carrier: await throughCarrier(port) };
    if (round >= 0) rates.push(pair);
  }
  centre.kill('SIGKILL');
  const rate = median(rates.map(({ carrier }) => carrier));
  const against = median(rates.map((pair) => pair.bare));
  return [
    {
      what: `SMPP submissions, the carrier alone, window ${window}`,
      against: `a bare socket: ${Math.round(against).toLocaleString('en')}/s`,
      goal: '15,000/s',
      measured: `${Math.round(rate).toLocaleString('en')}/s`,
      met: rate >= 15_000,
    },
  ];
}
