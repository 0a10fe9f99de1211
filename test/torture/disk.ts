import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, outcomeOf, printed } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import { carelessCommand } from './bulk-syscalls.js';
import { recipients } from './people.js';
import { groupOf, type Played, type Row } from './row.js';
import { type Command, realCommand } from './trial.js';

/** A way to run out of room: a shell that gives `"$@"` first `$ROOM` KiB for the files in `$STATE`, then enough. */
interface Shortage {
  name: string;
  shell: readonly [string, ...string[]];
  first: string;
  second: string;
  /** KiB from one room that is tried to the next. */
  step: number;
}

const shortages: Shortage[] = [
  {
    name: 'a job whose files may not grow (ulimit -f)',
    shell: ['bash'],
    first: '(ulimit -f "$ROOM"; exec "$@")',
    second: '"$@"',
    step: 1,
  },
  {
    name: 'a job on a full disk (tmpfs)',
    shell: ['unshare', '-Urm', 'bash'],
    first: 'mount -t tmpfs -o size="$ROOM"k tmpfs "$STATE" && "$@"',
    second: 'mount -o remount,size=64m "$STATE" && "$@"',
    step: 4,
  },
];

/** The journal is taken out of the full disk while nobody sends. */
const scriptOf = ({ first, second }: Shortage) => `
  ${first} >/dev/null 2>"$OUT"/1.err; echo $? >"$OUT"/1.code
  cp "$STATE"/urtuu/jobs/july/journal "$OUT"/journal 2>/dev/null
  echo ended; read -r _
  ${second} >/dev/null 2>"$OUT"/2.err; echo $? >"$OUT"/2.code`;

function whyNot({ shell: [command, ...words] }: Shortage): string | null {
  const mounts = words.length > 0 ? 'mount -t tmpfs tmpfs /mnt' : 'true';
  return spawnSync(command, [...words, '-c', mounts]).status === 0 ? null : `${mounts} is not allowed here`;
}

interface Trial {
  /** Of the run without room. */
  exit: number;
  /** What must not be; empty when all is well. */
  wrong: string[];
}

async function tryRoom(
  service: ProjectServer,
  shortage: Shortage,
  command: Command,
  numbers: readonly string[],
  room: number,
): Promise<Trial> {
  const machine = new Machine();
  try {
    service.reset();
    const state = join(machine.home, 'state');
    mkdirSync(state);
    writeFileSync(join(machine.home, 'list.csv'), `phone\n${numbers.join('\n')}\n`);
    const job = [
      'sms',
      'bulk',
      'list.csv',
      '--text',
      'Hi {phone}',
      '--job',
      'july',
      '--yes',
      '--rate',
      '500',
    ];
    const words = [process.execPath, command.script, ...job, '--quiet', '--base-url', service.baseUrl];
    const [shell, ...options] = shortage.shell;
    const child = spawn(shell, [...options, '-c', scriptOf(shortage), 'bash', ...words], {
      cwd: machine.home,
      env: machine.environment({
        ROOM: String(room),
        STATE: state,
        OUT: machine.home,
        URTUU_API_KEY: `urtuu_${'A'.repeat(40)}`,
        NODE_DISABLE_COMPILE_CACHE: '1',
      }),
      stdio: 'pipe',
    });
    const ended = outcomeOf(child);
    await printed(child, 'stdout', /ended/);
    const sent = new Set(service.project.sends.map(({ headers }) => headers['Idempotency-Key'])).size;
    child.stdin?.end('\n');
    await ended;
    const read = (name: string) => {
      const file = join(machine.home, name);
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    };
    const wrong: string[] = [];
    const recorded = sendsIn(read('journal'));
    if (sent > recorded) wrong.push(`${sent} sent, ${recorded} of them recorded`);
    const exit = Number(read('1.code'));
    if (exit !== 0 && exit !== 13) wrong.push(`ends with ${exit}: ${read('1.err')}`);
    // A job that has sent something is there to be resumed.
    if (exit === 13 && sent > 0 && !/Resume with:.*urtuu jobs resume/.test(read('1.err')))
      wrong.push(`prints no command to resume: ${read('1.err')}`);
    const again = read('2.code');
    if (again !== (exit === 0 ? '11' : '0')) wrong.push(`then ends with ${again}: ${read('2.err')}`);
    const got = service.project.received();
    const not = numbers.filter((number) => got.get(number) !== 1);
    if (not.length > 0) wrong.push(`${not.length} not exactly once`);
    return { exit, wrong };
  } finally {
    machine.remove();
  }
}

/** A line of the journal is a checksum and an array of entries; the last may be torn. */
function sendsIn(journal: string): number {
  const entries = journal.split('\n').flatMap((line) => {
    const text = line.slice(17);
    return text.endsWith(']]') ? (JSON.parse(text) as [string, number, number][]) : [];
  });
  return new Set(
    entries.filter(([name]) => name === 'send').map(([, chunk, revision]) => `${chunk} ${revision}`),
  ).size;
}

/** Tries one room after the other, from nothing on, each `stride`th, until the job has enough. */
async function tryRooms(
  shortage: Shortage,
  commandIn: (folder: string) => Promise<Command>,
  { rows, stride }: { rows: number; stride: number },
): Promise<Played> {
  const service = await ProjectServer.start();
  const machine = new Machine();
  try {
    const command = await commandIn(machine.home);
    const numbers = recipients(0, rows);
    const trials: Trial[] = [];
    for (
      let room = shortage.step;
      trials.at(-1)?.exit !== 0 && trials.length < 100;
      room += shortage.step * stride
    )
      trials.push(await tryRoom(service, shortage, command, numbers, room));
    const wrong = trials.filter((trial) => trial.wrong.length > 0);
    const ended = trials.filter(({ exit }) => exit === 13).length;
    if (ended === 0) throw new Error('there was always room');
    return {
      measured: `${trials.length} sizes, up to one that is enough`,
      found: `${wrong.length} wrong${wrong[0] ? `: ${wrong[0].wrong[0]}` : ''}; ${ended} ended with 13, and then sent the rest`,
      wrong: wrong.length,
    };
  } finally {
    await service.close();
    machine.remove();
  }
}

/** The real command without room for what it records: it stops, and with room it goes on. */
export const disk = groupOf(
  'disk',
  { full: { rows: 600, stride: 1 }, small: { rows: 60, stride: 3 } },
  (sizes) =>
    shortages.map(
      (shortage): Row => ({
        name: shortage.name,
        unavailable: () => whyNot(shortage),
        play: () => tryRooms(shortage, async () => realCommand, sizes),
        controls: [
          {
            name: 'a journal that overlooks what the disk says',
            play: () => tryRooms(shortage, carelessCommand, sizes),
          },
        ],
      }),
    ),
);
