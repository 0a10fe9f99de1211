import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, outcomeOf } from '../support/binary.js';
import { FakeProject } from '../support/fake-project.js';
import type { ProjectServer } from '../support/project-server.js';
import {
  alteredCommand,
  type Command,
  type Finding,
  isReached,
  numbers,
  type Place,
  placesIn,
  realCommand,
  Trial,
} from './trial.js';

/** How a retry is stopped at a call, while another one of the same job runs. */
export type Stop = 'paused' | 'killed';

export const calls = [
  ...(['openat', 'mkdir', 'write', 'pwrite64', 'pread64', 'ftruncate', 'fsync', 'fdatasync'] as const),
  ...(['link', 'rename', 'unlink'] as const),
];

export const retryCommand: Command = {
  script: realCommand.script,
  words: ['jobs', 'retry', 'july', '--yes', '--json', '--quiet'],
};

export const noLock = '{ held: true, release: async () => {}, releaseRemoved: async () => {} }';

/** The control: retries that do not wait for each other. */
export const withoutStartLock = (folder: string): Promise<Command> =>
  alteredCommand(folder, [[/job\/start-lock\.ts$/, 'await lockIn(folder)', noLock]], retryCommand.words);

/** The control: retries that do not look at what others have taken, neither before they begin nor before they send. */
export const withoutChecks = (folder: string): Promise<Command> =>
  alteredCommand(
    folder,
    [
      [/prepare\/prepare\.ts$/, 'await checkTaken(context, child, lock);', ''],
      [/prepare\/take\.ts$/, 'await checkTaken(context, { id, base: readJobId(id).base, plan }, start);', ''],
    ],
    retryCommand.words,
  );

/** The control: retries that never finish one that was begun. */
export const withoutGoingOn = (folder: string): Promise<Command> =>
  alteredCommand(
    folder,
    [
      [
        /bulk\/retry\.ts$/,
        'await unfinishedRetry(config.stateDirectory, id, status)',
        'null as string | null',
      ],
    ],
    retryCommand.words,
  );

/** In milliseconds: a retry that waits longer for the paused one waits for its lock. */
const patience = 3_000;

/** A job of five, each with a text of their own, of which two have failed; a retry would reach them. */
async function failedJob(service: ProjectServer, command: Command): Promise<Trial> {
  const trial = new Trial(service, command);
  const failing = new Set(numbers.slice(1, 3));
  service.project = new FakeProject({ failing });
  writeFileSync(
    join(trial.machine.home, 'list.csv'),
    `phone,name\n${numbers.map((number) => `${number},${number}\n`).join('')}`,
  );
  const { code, stderr } = await trial.run(realCommand.words);
  if (code !== 3) throw new Error(`the job ends with ${code}: ${stderr}`);
  failing.clear();
  return trial;
}

export async function placesOfRetry(service: ProjectServer, command: Command): Promise<Place[]> {
  const trial = await failedJob(service, command);
  try {
    return await placesIn(trial, calls);
  } finally {
    trial.machine.remove();
  }
}

/** Stops a retry at a call while the same command runs, then runs it until it is done, and looks at what they did. */
export async function duringRetry(
  service: ProjectServer,
  command: Command,
  place: Place,
  stop: Stop,
): Promise<Finding> {
  const trial = await failedJob(service, command);
  try {
    const { first, others } = stop === 'paused' ? await pauseAt(trial, place) : await killAt(trial, place);
    const finding = { place, reached: others.length > 0, exit: first.signal ?? first.code, wrong: [] };
    return finding.reached ? { ...finding, wrong: await judge(trial, stop, first, others) } : finding;
  } finally {
    trial.machine.remove();
  }
}

/** The stopped run, and those beside it or after it: none if it never came to the call. */
interface Runs {
  first: Outcome;
  others: Outcome[];
}

const targetOf = (trial: Trial, { path }: Place) => (path === '' ? '' : join(trial.state, path));

/** A call that is delayed is written to the log without its end. The tracer's end lets the process go on. */
export async function pauseAt(trial: Trial, place: Place, run = () => trial.run()): Promise<Runs> {
  const { call, nth } = place;
  const fault = ['-e', `trace=${call}`, '-e', `inject=${call}:delay_enter=60s:when=${nth}`];
  const child = trial.traced(fault, targetOf(trial, place));
  const ended = outcomeOf(child);
  const isPaused = () => isReached(trial.log, place);
  while (child.exitCode === null && child.signalCode === null && !isPaused()) await sleep(10);
  if (!isPaused()) return { first: await ended, others: [] };
  const other = run();
  await Promise.race([other, sleep(patience)]);
  const tracer = /^TracerPid:\t(\d+)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  process.kill(Number(tracer), 'SIGKILL');
  return { first: await ended, others: [await other] };
}

export async function killAt(trial: Trial, place: Place, run = () => trial.run()): Promise<Runs> {
  const { call, nth } = place;
  const fault = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${nth}`];
  const first = await outcomeOf(trial.traced(fault, targetOf(trial, place)));
  return { first, others: first.signal === 'SIGKILL' ? [await run()] : [] };
}

/** Who got no message, or several. */
export function notOnce({ service }: Trial): string[] {
  const got = service.project.received();
  const wrong = numbers.filter((number) => got.get(number) !== 1);
  if (wrong.length === 0) return [];
  return [`not exactly once: ${wrong.map((number) => `${number} ${got.get(number) ?? 0} times`).join(', ')}`];
}

const isEnd = ({ code, stderr }: Outcome) => code === 0 || (code === 11 && /job_done/.test(stderr));

async function judge(
  trial: Trial,
  stop: Stop,
  first: Outcome,
  others: readonly Outcome[],
): Promise<string[]> {
  const runs = stop === 'killed' ? [...others] : [first, ...others];
  for (let again = 0; again === 0 || (again < 3 && !runs.some(isEnd)); again += 1)
    runs.push(await trial.run());
  const wrong = runs
    .filter(({ code }) => code !== 0 && code !== 11)
    .map(({ code, signal, stderr }) => `a retry ends with ${signal ?? code}: ${stderr.trim()}`);
  if (!isEnd(runs.at(-1) as Outcome)) wrong.push(`not done: ${runs.at(-1)?.stderr.trim()}`);
  wrong.push(...notOnce(trial));
  const { stdout } = await trial.machine.run(['jobs', 'show', 'july', '--json']);
  const { failed, moved } = JSON.parse(stdout);
  if (failed !== 0 || moved !== 2) wrong.push(`the job has ${failed} failed, and ${moved} moved`);
  return wrong;
}
