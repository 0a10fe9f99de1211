import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Machine, type Outcome, outcomeOf } from '../support/binary.js';
import type { FaultProxy } from './fault-proxy.js';
import { recipients, writeList } from './people.js';
import type { ServiceProcess } from './service-process.js';

export interface Round {
  /** One machine, or two that send the same file at once. */
  machines: Machine[];
  service: ServiceProcess;
  proxy: FaultProxy;
  random: () => number;
  job: string;
  numbers: string[];
  kills: number;
  /** How long a run may live before it is killed, in milliseconds. */
  longestLife: number;
  rate: number;
}

/**
 * One job: started, killed, started again ... until it has been killed often enough, then run to its end.
 * Now and then the journal is deleted, the file edited, or the service killed too.
 */
export async function playRound(round: Round): Promise<void> {
  const { machines, numbers, job, random, kills } = round;
  const files = machines.map((machine) => join(machine.home, `${job}.csv`));
  for (const file of files) writeList(file, numbers);
  for (let kill = 0; kill < kills; kill += 1) {
    const lives = machines.map((machine, at) => startRun(round, machine, files[at] ?? '', random() < 0.3));
    await Promise.race([timeToDie(round), Promise.all(lives.map(({ outcome }) => outcome))]);
    for (const life of lives) life.child.kill('SIGKILL');
    if (random() < 0.1) {
      await round.service.kill();
      await round.service.start();
    }
    for (const life of lives) await life.outcome;
    for (const machine of machines) if (random() < 0.1) rmSync(journalOf(machine, job), { force: true });
    const [machine = null] = machines;
    if (machine !== null && random() < 0.05) await tryEditedFile(round, machine, files[0] ?? '');
  }
  for (const [at, machine] of machines.entries()) await finish(round, machine, files[at] ?? '');
}

/** Half of the runs die at any time, also while they read and plan; the others in the middle of sending. */
async function timeToDie({ random, proxy, longestLife }: Round): Promise<void> {
  if (random() < 0.5) await sleep(random() * longestLife);
  else await proxy.passed(1 + Math.floor(random() * 20), 10 * longestLife);
  await sleep(random() * 10);
}

function startRun(round: Round, machine: Machine, file: string, resume: boolean) {
  const { job, service, proxy, rate, random } = round;
  const send = ['sms', 'bulk', file, '--text', '{message}', '--job', job, '--yes'];
  const child = machine.start(
    [
      ...(resume ? ['jobs', 'resume', job] : send),
      ...['--json', '--quiet', '--timeout', '700ms', '--rate', String(rate)],
      ...(random() < 0.5 ? ['--wait'] : []),
      ...['--base-url', `http://127.0.0.1:${proxy.port}/v1`],
    ],
    { env: { URTUU_API_KEY: service.key } },
  );
  child.stdin?.end();
  return { child, outcome: outcomeOf(child) };
}

const journalOf = (machine: Machine, job: string) => join(machine.home, 'state/urtuu/jobs', job, 'journal');

/** Another list under the same name must be refused, and nothing of it sent. */
async function tryEditedFile(round: Round, machine: Machine, file: string): Promise<void> {
  // Before its plan is frozen a job is whatever the file says.
  if (!existsSync(dirname(journalOf(machine, round.job)))) return;
  const whole = readFileSync(file);
  // The last number of the plan: no round has as many.
  const [added] = recipients(3_999_999, 1);
  appendFileSync(file, `${added},Text 0\n`);
  const { code, stderr } = await startRun(round, machine, file, false).outcome;
  writeFileSync(file, whole);
  if (code !== 11) {
    throw new Error(`an edited file ended with ${code}: ${stderr}`);
  }
}

/** The same command again, as a person would, until nothing is left. */
async function finish(round: Round, machine: Machine, file: string): Promise<void> {
  let last: Outcome | null = null;
  for (let tries = 0; tries < 10; tries += 1) {
    last = await startRun(round, machine, file, false).outcome;
    if (last.code === 11 && /job_done/.test(last.stderr)) return;
    if (last.code !== 0) continue;
    const { planned, accepted } = JSON.parse(last.stdout) as { planned: number; accepted: number };
    if (planned === round.numbers.length && accepted === planned) return;
    throw new Error(`exit 0 with ${accepted} of ${planned}, expected ${round.numbers.length}`);
  }
  throw new Error(`it does not end: ${last?.code} ${last?.stdout} ${last?.stderr}`);
}
