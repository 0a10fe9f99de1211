import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Machine, root } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { smsResult } from '../support/resources.js';
import { inPairs, type Row } from './pairs.js';

const run = promisify(execFile);
const runsAMeasure = 5;
// The shell counts what its children took; standard output is a pipe, as in a script.
const timed = `TIMEFORMAT='%3U %3S'; time for run in {1..${runsAMeasure}}; do "$@" 2>/dev/null || exit 1; done`;

/** Whole processes of the command against `node -e 0`: milliseconds of cpu, user and system. */
export async function start(pairs = 30): Promise<Row[]> {
  const machine = new Machine();
  await using service = await Loopback.listen(({ method }, response) =>
    json(response, 200, method === 'GET' ? { balance: 990 } : smsResult()),
  );
  const env = machine.environment({
    URTUU_BASE_URL: `${service.origin}/v1`,
    URTUU_API_KEY: `urtuu_${'A'.repeat(40)}`,
    LC_ALL: 'C',
  });
  const cpuOf = async (...command: string[]) => {
    const { stderr } = await run('bash', ['-c', timed, 'bash', process.execPath, ...command], {
      cwd: root,
      env,
    });
    const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
    return ((user + system) * 1_000) / runsAMeasure;
  };
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
        () => cpuOf('bin/urtuu.js', ...args()),
        () => cpuOf('-e', '0'),
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
