import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { numbers } from '../../cli/bulk/memory-plan.js';
import { Machine, type Outcome } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { testKey } from '../../support/run.js';
import type { Played } from '../row.js';
import { startLyingServer } from './lying-server.js';

const attemptTimeout = 150;
/** Its start, three tries with their backoff, one under way when the time is up, and a busy machine. */
const slack = 8_000;
const atOnce = 4;

interface Figures {
  planned: number;
  accepted: number;
  rejected: number;
  in_doubt: number;
  pending: number;
}

interface Wrong {
  runs: number;
  recipients: number;
  twice: number;
  lost: number;
  late: number;
  lies: number;
}

/** The same with the real command over real sockets, and a server whose lost answers it may call a 429. */
export async function playRealDoubt(seed: number, games: number, honest: boolean): Promise<Played> {
  const sum: Wrong = { runs: 0, recipients: 0, twice: 0, lost: 0, late: 0, lies: 0 };
  let next = 0;
  const worker = async () => {
    while (next < games) {
      next += 1;
      const wrong = await playGame(seededRandom(seed * 100_003 + next), honest);
      for (const name of Object.keys(sum) as (keyof Wrong)[]) sum[name] += wrong[name];
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, games) }, worker));
  const { runs, recipients, twice, lost, late, lies } = sum;
  return {
    measured: `${games} games, ${runs} runs, ${recipients} recipients`,
    found: `${lost} lost, ${twice} twice, ${lies} said wrongly, ${late} ended too late`,
    wrong: lost + twice + late + lies,
  };
}

async function playGame(random: () => number, honest: boolean): Promise<Wrong> {
  const machine = new Machine();
  const server = await startLyingServer(random, { timeout: attemptTimeout, honest });
  const all = numbers(3 + Math.floor(random() * 6));
  const file = join(machine.home, 'list.csv');
  // Two texts that several share, and one that a recipient has alone.
  writeFileSync(
    file,
    `phone,text\n${all.map((to, index) => `${to},${index === 0 ? 'alone' : index % 2}\n`).join('')}`,
  );
  const wrong: Wrong = { runs: 0, recipients: all.length, twice: 0, lost: 0, late: 0, lies: 0 };
  let last: Figures | null = null;

  const run = async (maxWait: number) => {
    wrong.runs += 1;
    const started = Date.now();
    const end = await machine.run(
      [
        ...[
          'sms',
          'bulk',
          file,
          '--text',
          'Hello {text}',
          '--job',
          'j',
          '--yes',
          '--allow-partial',
          '--json',
          '--quiet',
        ],
        ...['--timeout', `${attemptTimeout}ms`, '--max-wait', `${maxWait}ms`, '--base-url', server.baseUrl],
      ],
      { env: { URTUU_API_KEY: testKey } },
    );
    if (Date.now() - started > maxWait + slack) wrong.late += 1;
    const figures = figuresOf(end);
    if (figures === null) return;
    last = figures;
    const { accepted, in_doubt, planned } = figures;
    const isTrue = () => {
      const arrived = server.service.accepted.size;
      return accepted <= arrived && arrived <= accepted + in_doubt;
    };
    if (!isTrue()) wrong.lies += 1;
    if (random() < 0.5) server.way.arriveAll();
    if (!isTrue()) wrong.lies += 1;
    if (end.code === 0 && accepted !== planned) wrong.lies += 1;
    if (in_doubt > 0 && end.code !== 6) wrong.lies += 1;
  };
  const isDone = () => last !== null && last.pending + last.in_doubt === 0;

  try {
    const runs = 1 + Math.floor(random() * 2);
    for (let each = 0; each < runs && !isDone(); each += 1) await run(random() < 0.3 ? 0 : 4_000 * random());
    server.way.calm();
    for (let each = 0; each < 3 && !isDone(); each += 1) await run(5_000);
    server.way.arriveAll();
    const times = all.map((to) => server.service.accepted.get(to) ?? 0);
    wrong.twice = times.filter((count) => count > 1).length;
    const { rejected } = last ?? { rejected: 0 };
    wrong.lost = Math.max(0, times.filter((count) => count === 0).length - rejected);
    return wrong;
  } finally {
    await server.close();
    machine.remove();
  }
}

/** Null when the command refused to begin: nothing was sent then, and nothing is claimed. */
function figuresOf({ stdout }: Outcome): Figures | null {
  return stdout === '' ? null : (JSON.parse(stdout) as Figures);
}
