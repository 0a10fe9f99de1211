import { FakeProject } from '../support/fake-project.js';
import type { ProjectServer } from '../support/project-server.js';
import { calls, killAt, noLock, notOnce, pauseAt } from './retry-syscalls.js';
import {
  alteredCommand,
  type Command,
  type Finding,
  type Place,
  placesIn,
  realCommand,
  Trial,
} from './trial.js';

const holdOf = (job: string) => [
  ...['sms', 'bulk', 'list.csv', '--text', 'Hi {name}', '--job', job, '--hold'],
  ...['--quiet', '--value', 'plan'],
];
const startOf = (job: string, plan: string) => ['jobs', 'resume', job, '--plan', plan, '--yes', '--quiet'];

export const holdCommand: Command = { script: realCommand.script, words: holdOf('feb') };

/** The control: a hold that stands in the journal, which is written after the job has its name. */
export const heldByJournal = (folder: string): Promise<Command> =>
  alteredCommand(
    folder,
    [
      [/job\/job-state\.ts$/, 'this.held = held !== undefined;', 'this.held = false;'],
      [
        /job\/job-state\.ts$/,
        'this.job = { id: entry.id, digest: entry.digest };',
        'this.job = { id: entry.id, digest: entry.digest }; this.held = !this.confirmed;',
      ],
      [/prepare\/prepare\.ts$/, 'if (job.state.held) {', 'if (plan.meta.held !== undefined) {'],
    ],
    holdCommand.words,
  );

/** The control: starts that do not wait for each other. */
export const startsAtOnce = (folder: string): Promise<Command> =>
  alteredCommand(folder, [[/job\/start-lock\.ts$/, 'await lockIn(folder)', noLock]]);

/** Everywhere a job is held, or, with `starts`, started. */
export async function placesOfHold(
  service: ProjectServer,
  { script, words }: Command,
  starts: boolean,
): Promise<Place[]> {
  const { trial } = starts
    ? await heldTwice(service, script)
    : { trial: new Trial(service, { script, words }) };
  try {
    return await placesIn(trial, calls);
  } finally {
    trial.machine.remove();
  }
}

/** The jobs feb and mar of one list, both held, and a trial whose command starts feb. */
async function heldTwice(service: ProjectServer, script: string): Promise<{ trial: Trial; plan: string }> {
  const first = new Trial(service, { script, words: holdOf('feb') });
  const plan = (await first.run()).stdout.trim();
  first.machine.remove();
  const trial = new Trial(service, { script, words: startOf('feb', plan) });
  // When others have sent counts.
  service.project = new FakeProject({ now: () => Date.now() });
  for (const job of ['feb', 'mar']) {
    const { code, stderr } = await trial.run(holdOf(job));
    if (code !== 0) throw new Error(`--hold ends with ${code}: ${stderr}`);
  }
  return { trial, plan };
}

/** Stops the start of a job at a call, while its list is also started under another name. */
export async function duringStart(
  service: ProjectServer,
  { script }: Command,
  place: Place,
): Promise<Finding> {
  const { trial, plan } = await heldTwice(service, script);
  try {
    const { first, others } = await pauseAt(trial, place, () => trial.run(startOf('mar', plan)));
    const wrong = others.length === 0 ? [] : notOnce(trial);
    for (const { code, signal, stderr } of [first, ...others])
      if (code !== 0 && code !== 11) wrong.push(`a start ends with ${signal ?? code}: ${stderr.trim()}`);
    return { place, reached: others.length > 0, exit: first.signal ?? first.code, wrong };
  } finally {
    trial.machine.remove();
  }
}

/** Kills a command with --hold at a call, resumes what it left without the plan, and then holds and starts it. */
export async function duringHold(service: ProjectServer, command: Command, place: Place): Promise<Finding> {
  const trial = new Trial(service, command);
  try {
    const bare = ['jobs', 'resume', 'feb', '--quiet'];
    const { first, others } = await killAt(trial, place, () => trial.run(bare));
    const [resumed] = others;
    const finding = { place, reached: resumed !== undefined, exit: first.signal ?? first.code, wrong: [] };
    if (resumed === undefined) return finding;
    const wrong: string[] = [];
    const sent = service.project.received().size;
    if (sent > 0 || (resumed.code !== 11 && resumed.code !== 12))
      wrong.push(`jobs resume ends with ${resumed.code}, ${sent} sent: ${resumed.stderr.trim()}`);
    const again = await trial.run();
    if (again.code !== 0 && !(again.code === 11 && again.stderr.includes('is held')))
      wrong.push(`--hold then ends with ${again.code}: ${again.stderr.trim()}`);
    const { stdout } = await trial.run([...holdOf('mar')]);
    const started = await trial.run(startOf('feb', stdout.trim()));
    if (started.code !== 0) wrong.push(`the start ends with ${started.code}: ${started.stderr.trim()}`);
    return { ...finding, wrong: [...wrong, ...notOnce(trial)] };
  } finally {
    trial.machine.remove();
  }
}
