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

/** Whole processes of the command against `node -e 0`: milliseconds of cpu, user and system. */
export async function start(pairs = 30): Promise<Row[]> {
  const machine = new Machine();
  await using service = await answeringService();
  const env = machine.environment({
    URTUU_BASE_URL: `${service.origin}/v1`,
    URTUU_API_KEY: `urtuu_${'A'.repeat(40)}`,
    LC_ALL: 'C',
  });
  const measure = { cwd: root, env, runs };
  // More than a measure's sends to one recipient would meet the service's cap.
  let recipient = 99_110_000;
  const send = (...options: string[]) => ['sms', 'send', `${recipient++}`, 'hello', ...options];
  const commands: [what: string, args: () => string[], goal: number][] = [
    ['--version', () => ['--version'], 1.15],
    ['--help', () => ['--help'], 1.35],
    ['sms send --help', () => ['sms', 'send', '--help'], 1.35],
    ['balance', () => ['balance'], 1.8],
    ['sms send', () => send(), 1.8],
    ['balance --sandbox', () => ['balance', '--sandbox'], 4],
    ['sms send --sandbox', () => send('--sandbox'), 4],
  ];
  const rows: Row[] = [];
  try {
    for (const [what, args, goal] of commands) {
      const { ratio, a, b } = await inPairs(
        () => cpuOf(['bin/urtuu.js', ...args()], measure),
        () => cpuOf(['-e', '0'], measure),
        pairs,
      );
      rows.push({
        what: `urtuu ${what}`,
        against: 'node -e 0',
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
