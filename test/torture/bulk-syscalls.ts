import { join } from 'node:path';
import type { Outcome } from '../support/binary.js';
import type { ProjectServer } from '../support/project-server.js';
import { alteredCommand, type Command, type Finding, numbers, type Place, placesIn, Trial } from './trial.js';

/** What a failing call says: no room, or a broken disk. */
const errors = {
  openat: 'ENOSPC',
  mkdir: 'ENOSPC',
  write: 'ENOSPC',
  pwrite64: 'ENOSPC',
  rename: 'ENOSPC',
  fsync: 'EIO',
  fdatasync: 'EIO',
  ftruncate: 'EIO',
  pread64: 'EIO',
  unlink: 'EIO',
} as const;
type Call = keyof typeof errors;

/** The control: the same command with a journal that overlooks what the disk says. */
export const carelessCommand = (folder: string): Promise<Command> =>
  alteredCommand(folder, [
    [/journal\/append-file\.ts$/, 'syncBytes(file)', 'syncBytes(file).catch(() => {})'],
    [
      /journal\/append-file\.ts$/,
      '(await file.write(bytes, done)).bytesWritten',
      '(await file.write(bytes, done).catch(() => ({ bytesWritten: bytes.length }))).bytesWritten',
    ],
  ]);

/** Every place where a job calls the system about its files. */
export async function placesOf(service: ProjectServer, command: Command): Promise<Place<Call>[]> {
  const trial = new Trial(service, command);
  try {
    const places = await placesIn(trial, Object.keys(errors) as Call[]);
    return places.filter(({ path }) => path !== '');
  } finally {
    trial.machine.remove();
  }
}

/** Lets one call fail, looks at how the command ends, and runs the same command again. */
export async function failAt(service: ProjectServer, command: Command, place: Place<Call>): Promise<Finding> {
  const trial = new Trial(service, command);
  try {
    const { call, path, nth } = place;
    const fault = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${errors[call]}:when=${nth}`];
    const { outcome, log } = await trial.trace(fault, join(trial.state, path));
    const failed = /^\d+ +(\d+\.\d+) .*\(INJECTED\)$/m.exec(log);
    const finding: Finding = {
      place,
      reached: failed !== null,
      exit: outcome.signal ?? outcome.code,
      wrong: [],
    };
    if (failed === null) return finding;
    const after = trial.service.arrivals.filter((at) => at > Number(failed[1]) * 1_000).length;
    finding.wrong.push(...judge(place, outcome, after, trial.service));
    const again = await trial.run();
    if (again.code !== 0 && !(again.code === 11 && /job_done/.test(again.stderr))) {
      finding.wrong.push(`the same command then ends with ${again.code}: ${again.stderr.trim()}`);
    }
    const got = trial.service.project.received();
    const wrong = numbers.filter((number) => got.get(number) !== 1);
    if (wrong.length > 0) finding.wrong.push(`not exactly once: ${wrong.join(', ')}`);
    return finding;
  } finally {
    trial.machine.remove();
  }
}

/** Rates, locks, caches and the note of a run are courtesies; what else is under `jobs` records what was sent. */
function judge({ path }: Place, outcome: Outcome, after: number, { project }: ProjectServer): string[] {
  const isRecord = path.startsWith('jobs') && !path.endsWith('/running');
  const done = outcome.code === 0 && project.received().size === numbers.length;
  const wrong: string[] = [];
  if (isRecord && after > 0) wrong.push(`${after} sends after it`);
  if (outcome.code !== 13 && !done) {
    wrong.push(`ends with ${outcome.signal ?? outcome.code}: ${outcome.stderr.trim()}`);
  }
  return wrong;
}
