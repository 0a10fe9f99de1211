import { Machine } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import { carelessCommand, failAt, placesOf } from './bulk-syscalls.js';
import {
  duringHold,
  duringStart,
  heldByJournal,
  holdCommand,
  placesOfHold,
  startsAtOnce,
} from './hold-syscalls.js';
import {
  duringRetry,
  placesOfRetry,
  retryCommand,
  type Stop,
  withoutChecks,
  withoutGoingOn,
  withoutStartLock,
} from './retry-syscalls.js';
import { groupOf, type Played } from './row.js';
import { carelessCarrier, playSyncedFiles } from './synced-files.js';
import { type Command, type Finding, type Place, realCommand, whyNoInjection } from './trial.js';

/** From the moment when the folder of a retry has its name, until that sends. */
const isOfNewChild = ({ call, path }: Place) =>
  path === 'jobs/july-retry-1' || (call === 'fsync' && path === 'jobs');
const isOfItsRecord = ({ call, path }: Place) => call === 'write' && path === 'jobs/july-retry-1/journal';
/** From the moment when a new job has its name, until its journal has begun. */
const isOfNewJob = ({ call, path }: Place) =>
  (call === 'write' && path === 'jobs/feb/journal') || (call === 'fsync' && path === 'jobs');
const isOfJournal = ({ path }: Place) => path === 'jobs/july/journal';

const waiting = ({ script, words }: Command): Command => ({ script, words: [...words, '--wait'] });

/** Calls `work` with a service, and a folder for a command of its own. */
async function atService(work: (service: ProjectServer, folder: string) => Promise<Played>): Promise<Played> {
  const service = await ProjectServer.start();
  const machine = new Machine();
  try {
    return await work(service, machine.home);
  } finally {
    await service.close();
    machine.remove();
  }
}

/** Runs the command once for each of its calls, or for one in so many, with that call failing. */
const failEach = (
  commandIn: (folder: string) => Promise<Command>,
  every: number,
  isChosen: (place: Place) => boolean = () => true,
): Promise<Played> =>
  atService(async (service, folder) => {
    const command = await commandIn(folder);
    const places = (await placesOf(service, command)).filter(isChosen);
    const findings: Finding[] = [];
    for (const [index, place] of places.entries())
      if (index % every === 0) findings.push(await failAt(service, command, place));
    return told(places.length, 'failed', findings);
  });

/** Runs a retry once for each of its calls, or for one in so many, and stops it there while another one runs. */
const retryDuringEach = (
  stop: Stop,
  every: number,
  commandIn: (folder: string) => Promise<Command> = async () => retryCommand,
  isChosen: (place: Place) => boolean = () => true,
): Promise<Played> =>
  atService(async (service, folder) => {
    const command = await commandIn(folder);
    const places = (await placesOfRetry(service, command)).filter(isChosen);
    const findings: Finding[] = [];
    for (const [index, place] of places.entries())
      if (index % every === 0) findings.push(await duringRetry(service, command, place, stop));
    return told(places.length, stop, findings);
  });

/** Holds a job, or starts it, once for each of its calls, or for one in so many, and stops it there. */
const holdDuringEach = (
  stopped: typeof duringHold,
  every: number,
  commandIn: (folder: string) => Promise<Command> = async () => holdCommand,
  isChosen: (place: Place) => boolean = () => true,
): Promise<Played> =>
  atService(async (service, folder) => {
    const command = await commandIn(folder);
    const starts = stopped === duringStart;
    const places = (await placesOfHold(service, command, starts)).filter(isChosen);
    const findings: Finding[] = [];
    for (const [index, place] of places.entries())
      if (index % every === 0) findings.push(await stopped(service, command, place));
    return told(places.length, starts ? 'paused' : 'killed', findings);
  });

function told(places: number, what: string, findings: readonly Finding[]): Played {
  const reached = findings.filter((each) => each.reached);
  if (reached.length === 0) throw new Error(`no call was ${what}`);
  const wrong = reached.filter((each) => each.wrong.length > 0);
  const [first] = wrong;
  const example = first
    ? `: ${first.place.call} ${first.place.path} ${first.place.nth}: ${first.wrong[0]}`
    : '';
  const exits = new Map<Finding['exit'], number>();
  for (const { exit } of reached) exits.set(exit, (exits.get(exit) ?? 0) + 1);
  const ends = [...exits].map(([exit, count]) => `${count} with ${exit}`).join(', ');
  return {
    measured: `${reached.length} of ${places} calls, each ${what} once`,
    found: `${wrong.length} wrong${example}; ended: ${ends}`,
    wrong: wrong.length,
  };
}

/**
 * The real command on a disk that fails at one of its calls: no send follows, and nothing is sent twice. And what a
 * power loss would take from the service.
 */
export const syscalls = groupOf('syscalls', { full: { every: 1 }, small: { every: 12 } }, ({ every }) => [
  {
    name: 'every system call of a job fails once',
    provedBy: 'test/torture/bulk-syscalls.test.ts',
    unavailable: whyNoInjection,
    play: () => failEach(async () => realCommand, every),
    controls: [
      {
        name: 'a journal that overlooks what the disk says',
        play: () => failEach(carelessCommand, every > 1 ? 4 : 1, isOfJournal),
      },
    ],
  },
  {
    name: 'every call on the journal fails once, with --wait',
    provedBy: 'test/torture/bulk-syscalls.test.ts',
    unavailable: whyNoInjection,
    play: () => failEach(async () => waiting(realCommand), every > 1 ? 4 : 1, isOfJournal),
    controls: [
      {
        name: 'a journal that overlooks what the disk says',
        play: () =>
          failEach(async (folder) => waiting(await carelessCommand(folder)), every > 1 ? 4 : 1, isOfJournal),
      },
    ],
  },
  {
    name: 'a retry is paused at every call, while another retry of the job runs',
    unavailable: whyNoInjection,
    play: () => retryDuringEach('paused', every > 1 ? 2 * every : 1),
    controls: [
      {
        name: 'retries that do not wait for each other',
        play: () => retryDuringEach('paused', 1, withoutStartLock, isOfNewChild),
      },
      {
        name: 'retries that do not look at what others have taken',
        play: () => retryDuringEach('paused', 1, withoutChecks, isOfNewChild),
      },
    ],
  },
  {
    name: 'a retry is killed at every call, and another retry of the job runs',
    unavailable: whyNoInjection,
    play: () => retryDuringEach('killed', every > 1 ? 2 * every : 1),
    controls: [
      {
        name: 'a retry that leaves the killed one unfinished',
        play: () => retryDuringEach('killed', 1, withoutGoingOn, isOfItsRecord),
      },
    ],
  },
  {
    name: 'a held job is sent once by two who approve it at once, one paused at every call',
    unavailable: whyNoInjection,
    play: () => holdDuringEach(duringStart, every > 1 ? 2 * every : 1),
    controls: [
      {
        name: 'starts that do not wait for each other',
        play: () =>
          holdDuringEach(
            duringStart,
            1,
            startsAtOnce,
            ({ call, path }) => call === 'write' && path === 'jobs/feb/journal',
          ),
      },
    ],
  },
  {
    name: 'a command with --hold is killed at every call, and nothing but the plan starts what it left',
    unavailable: whyNoInjection,
    play: () => holdDuringEach(duringHold, every > 1 ? 2 * every : 1),
    controls: [
      {
        name: 'a hold that is written after the job has its name',
        play: () => holdDuringEach(duringHold, 1, heldByJournal, isOfNewJob),
      },
    ],
  },
  {
    name: 'the files of a service are on the disk before their -wal goes, for a power loss',
    unavailable: whyNoInjection,
    play: () => playSyncedFiles('none'),
    controls: [{ name: carelessCarrier, play: () => playSyncedFiles(carelessCarrier) }],
  },
]);
