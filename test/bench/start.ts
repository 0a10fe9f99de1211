import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, root } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { smsResult } from '../support/resources.js';
import { cpuOf } from './cpu.js';
import { inPairs, type Row } from './pairs.js';

const runs = 5;

/** A server that answers like the service: a send for its recipient, anything else with a balance. */
export function answeringService(): Promise<Loopback> {
  return Loopback.listen(({ method, body }, response) =>
    json(response, 200, method === 'GET' ? { balance: 990 } : smsResult({ to: JSON.parse(body).to })),
  );
}

let keys = 0;
/** Of a project that has asked nothing yet: a measure that waits for its rate limit would measure the waiting. */
export const freshKey = () => ({ URTUU_API_KEY: `urtuu_${`${keys++}`.padStart(40, 'A')}` });

/** The least that asks the service something and prints its answer. */
const bareRequest = `const http = require('http');
const [method, path, body] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
const headers = { Authorization: 'Bearer ' + process.env.URTUU_API_KEY };
if (body !== undefined) headers['Content-Type'] = 'application/json';
const request = http.request(process.env.URTUU_BASE_URL + path, { method, agent, headers }, (response) => {
  const chunks = [];
  response.on('data', (chunk) => chunks.push(chunk));
  response.on('end', () => {
    console.log(JSON.parse(Buffer.concat(chunks)).balance);
    process.exit();
  });
});
request.end(body);
`;

/** Whole processes of the command, against Node.js alone or a bare script: milliseconds of cpu, user and system. */
export async function start(pairs = 30): Promise<Row[]> {
  const machine = new Machine();
  await using service = await answeringService();
  const env = machine.environment({
    URTUU_BASE_URL: `${service.origin}/v1`,
    LC_ALL: 'C',
  });
  const measure = () => ({ cwd: root, env: { ...env, ...freshKey() }, runs });
  const script = join(machine.home, 'request.cjs');
  writeFileSync(script, bareRequest);
  const bare = (...words: string[]) => ({ name: 'a bare http.request script', words: [script, ...words] });
  const nothing = { name: 'node -e 0', words: ['-e', '0'] };
  // More than a measure's sends to one recipient would meet the service's cap.
  let recipient = 99_110_000;
  const send = (...options: string[]) => ['sms', 'send', `${recipient++}`, 'hello', ...options];
  const body = JSON.stringify({ to: '99110000', text: 'hello' });
  const commands: [what: string, args: () => string[], against: typeof nothing, goal: number][] = [
    ['--version', () => ['--version'], nothing, 1.04],
    ['--help', () => ['--help'], nothing, 1.12],
    ['sms send --help', () => ['sms', 'send', '--help'], nothing, 1.12],
    ['balance', () => ['balance'], bare('GET', '/balance'), 1.35],
    ['sms send', () => send(), bare('POST', '/sms', body), 1.35],
    ['balance --sandbox', () => ['balance', '--sandbox'], nothing, 2.5],
    ['sms send --sandbox', () => send('--sandbox'), nothing, 2.5],
  ];
  const rows: Row[] = [];
  try {
    for (const [what, args, against, goal] of commands) {
      const { ratio, a, b } = await inPairs(
        () => cpuOf(['bin/urtuu.js', ...args()], measure()),
        () => cpuOf(against.words, measure()),
        pairs,
      );
      rows.push({
        what: `urtuu ${what}`,
        against: against.name,
        goal: `${goal}`,
        measured: `${ratio.toFixed(2)} (${a.toFixed(0)} ms to ${b.toFixed(0)} ms)`,
        met: ratio <= goal,
      });
    }
  } finally {
    machine.remove();
  }
  return rows;
}
