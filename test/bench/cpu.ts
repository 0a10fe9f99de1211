import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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

/** Clock ticks of a process, all of its threads: a hundredth of a second each. */
export const cpuOfProcess = (pid: number): number => cpuIn(statOf(pid).slice(11, 13));

/** The fields of a process behind its name. */
function statOf(pid: number): string[] {
  const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return fields.split(' ');
}

const cpuIn = (ticks: readonly string[]) => ticks.reduce((sum, one) => sum + Number(one), 0) * 10;

/** Of a process and its children, those that have ended too. */
export function cpuOfFamily(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  // What ends meanwhile is counted for its parent, which is read last.
  const isLiving = (child: string) => existsSync(`/proc/${child}/stat`);
  const living = children.filter(isLiving).reduce((sum, child) => sum + cpuOfProcess(Number(child)), 0);
  return living + cpuIn(statOf(pid).slice(11, 15));
}
