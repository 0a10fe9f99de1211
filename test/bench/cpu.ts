import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
// The shell counts what its children took; standard output is a pipe, as in a script.
const timed = `TIMEFORMAT='%3U %3S'; runs=$1; shift; time for ((run = 0; run < runs; run++)); do "$@" 2>/dev/null || exit 1; done`;

/** Milliseconds of cpu, user and system, of one run of Node.js with these words. */
export async function cpuOf(
  words: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; runs: number },
): Promise<number> {
  const { cwd, env, runs } = options;
  const command = ['-c', timed, 'bash', `${runs}`, process.execPath, ...words];
  const { stderr } = await run('bash', command, { cwd, env, maxBuffer: 100_000_000 });
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return ((user + system) * 1_000) / runs;
}
