import { Machine } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import {
  type Command,
  carelessCommand,
  type Finding,
  failAt,
  type Place,
  placesOf,
  realCommand,
  whyNoInjection,
} from './bulk-syscalls.js';
import { groupOf, type Played } from './row.js';
import { carelessCarrier, playSyncedFiles } from './synced-files.js';

const isOfJournal = ({ path }: Place) => path === 'jobs/july/journal';

/** Runs the command once for each of its calls, or for one in so many, with that call failing. */
async function failEach(
  commandIn: (folder: string) => Promise<Command>,
  every: number,
  isChosen: (place: Place) => boolean = () => true,
): Promise<Played> {
  const service = await ProjectServer.start();
  const machine = new Machine();
  try {
    const command = await commandIn(machine.home);
    const places = (await placesOf(service, command)).filter(isChosen);
    const findings: Finding[] = [];
    for (const [index, place] of places.entries()) {
      if (index % every === 0) findings.push(await failAt(service, command, place));
    }
    return told(places.length, findings);
  } finally {
    await service.close();
    machine.remove();
  }
}

function told(places: number, findings: readonly Finding[]): Played {
  const reached = findings.filter((each) => each.reached);
  if (reached.length === 0) throw new Error('no call failed');
  const wrong = reached.filter((each) => each.wrong.length > 0);
  const ended = (exit: Finding['exit']) => reached.filter((each) => each.exit === exit).length;
  const [first] = wrong;
  const example = first
    ? `: ${first.place.call} ${first.place.path} ${first.place.nth}: ${first.wrong[0]}`
    : '';
  return {
    measured: `${reached.length} of ${places} calls, each failed once`,
    found: `${wrong.length} wrong${example}; ${ended(13)} ended with 13, ${ended(0)} with 0 and everything sent`,
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
    play: () =>
      failEach(async () => ({ ...realCommand, options: ['--wait'] }), every > 1 ? 4 : 1, isOfJournal),
    controls: [
      {
        name: 'a journal that overlooks what the disk says',
        play: () =>
          failEach(
            async (folder) => ({ ...(await carelessCommand(folder)), options: ['--wait'] }),
            every > 1 ? 4 : 1,
            isOfJournal,
          ),
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
