import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { grouped } from '../../../src/cli/text/wording.js';
import { Machine, type Outcome, outcomeOf } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { Centre } from '../carriers/centre.js';
import { momentToDie } from '../carriers/kills.js';
import type { Played } from '../row.js';
import { type Account, openAccounts } from '../service/books.js';
import { type Server, scripted, served } from '../service/server.js';
import type { Break } from '../service/service-main.js';
import { wrongClock } from '../wrong-clock.js';

/** Submissions of the route that are under way at once: what a kill may leave unknown. */
const window = 10;
/** Milliseconds, past every doubt. */
const afterDoubts = 20 * 60_000;
/** Milliseconds in which the job ends then. */
const longestEnd = 240_000;
/** One in so many has a text of its own, and is a request of its own. */
const single = 50;

interface Figures {
  sent: number;
  unknown: number;
  failed: number;
}

interface Wrong {
  /** Said to be sent, and the operator never had it; or to have failed, and it has. */
  lies: number;
  twice: number;
  /** Places that say other figures than the job, or another end. */
  disagreements: string[];
}

export interface KilledService {
  seed: number;
  recipients: number;
  kills: number;
  service: 'urtuu serve' | Break;
}

/**
 * A job that waits, over a service that is killed in the middle of its sends to an operator: what the command says of
 * each recipient is compared with what the operator took.
 */
export async function playKilledService({
  seed,
  recipients,
  kills,
  service,
}: KilledService): Promise<Played> {
  const random = seededRandom(seed);
  const machine = new Machine();
  const centre = new Centre({
    name: 'Mobicom',
    prefix: '99',
    random,
    window,
    receipts: 'none',
    bind: 'transceiver',
  });
  let server: Server | undefined;
  try {
    await centre.listen();
    const environment: NodeJS.ProcessEnv = { PASSWORD: 'secret', ...wrongClock(0) };
    const directory = join(machine.home, 'service');
    const [account] = (await openAccounts(directory, 1)) as [Account];
    const file = join(machine.home, 'service.json');
    writeFileSync(file, JSON.stringify({ email: 'off', sms: { routes: [centre.route] } }));
    server =
      service === 'urtuu serve'
        ? served(machine, directory, environment, ['--config', file])
        : await scripted(machine, directory, service, environment, file);
    await server.start();
    const people = Array.from({ length: recipients }, (_, index) => String(99_100_000 + index));
    const job = startJob(machine, server.url, account, people);
    for (let kill = 0; kill < kills; kill += 1) {
      await momentToDie([centre], random, recipients / kills);
      await server.end('SIGKILL');
      await server.start();
    }
    // By the clock of the next process the doubts of all kills are over.
    await server.end('SIGTERM');
    Object.assign(environment, wrongClock(afterDoubts));
    await server.start();
    const end = await withinTime(job);
    const figures = JSON.parse(end.stdout) as Figures;
    const { lies, twice, disagreements } = await judge(machine, server, account, { centre, people, end });
    const tooMany = Math.max(0, figures.unknown - window * kills);
    return {
      measured: `${kills} kills, ${recipients} recipients`,
      found: `${lies} said wrongly, ${twice} twice, ${figures.unknown} unknown (at most ${window * kills}), ${figures.failed} failed, ${disagreements.length} disagreements${disagreements.map((each) => `; ${each}`).join('')}`,
      wrong: lies + twice + tooMany + disagreements.length,
    };
  } finally {
    await server?.end('SIGKILL');
    await centre.close();
    machine.remove();
  }
}

/** With one text for most, in batches, and one of their own for some. */
function startJob(
  machine: Machine,
  baseUrl: string,
  { keys }: Account,
  people: readonly string[],
): Promise<Outcome> {
  const list = join(machine.home, 'list.csv');
  const textOf = (index: number) => (index % single === 0 ? `Hello ${index}` : 'Hello');
  writeFileSync(list, `phone,text\n${people.map((to, index) => `${to},${textOf(index)}\n`).join('')}`);
  const args = ['sms', 'bulk', list, '--text', '{text}', '--job', 'j', '--yes', '--json', '--quiet'];
  const waits = ['--wait', '--wait-timeout', '1h', '--max-wait', '1h', '--report', reportOf(machine)];
  const env = { URTUU_BASE_URL: baseUrl, URTUU_API_KEY: keys[0] };
  return outcomeOf(machine.start([...args, ...waits], { env }));
}

const reportOf = (machine: Machine) => join(machine.home, 'report.csv');

async function withinTime(job: Promise<Outcome>): Promise<Outcome> {
  const late = sleep(longestEnd, null, { ref: false });
  const end = await Promise.race([job, late]);
  if (end === null) throw new Error('the job does not end');
  return end;
}

interface Seen {
  centre: Centre;
  people: readonly string[];
  end: Outcome;
}

/** Compares the command's word on each recipient with the operator's, and every place that has figures with the others. */
async function judge(
  machine: Machine,
  server: Server,
  { keys }: Account,
  { centre, people, end }: Seen,
): Promise<Wrong> {
  const figures = JSON.parse(end.stdout) as Figures & { batches: { id: string }[] };
  const reported: Figures = { sent: 0, unknown: 0, failed: 0 };
  const said = outcomesIn(reportOf(machine));
  let lies = 0;
  for (const to of people) {
    const outcome = said.get(to);
    if (outcome === undefined) {
      lies += 1;
      continue;
    }
    reported[outcome] += 1;
    const taken = centre.takenOf(to);
    if (outcome === 'sent' && taken === 0) lies += 1;
    if (outcome === 'failed' && taken > 0) lies += 1;
  }
  const twice = people.reduce((sum, to) => sum + centre.twiceOf(to), 0);
  const env = { URTUU_BASE_URL: server.url, URTUU_API_KEY: keys[0] };
  const urtuu = async (...args: string[]) => (await machine.run(args, { env })).stdout;
  const ids = figures.batches.map(({ id }) => id);
  const batches = JSON.parse(await urtuu('batches', 'get', ...ids, '--array', '--json')) as Figures[];
  const ofBatches = (name: keyof Figures) => batches.reduce((sum, batch) => sum + batch[name], 0);
  const shown = JSON.parse(await urtuu('jobs', 'show', 'j', '--json')) as Figures;
  const listed = (
    await urtuu('messages', 'list', '--delivery', 'unknown', '--limit', '100000', '-o', 'ndjson')
  )
    .split('\n')
    .filter(Boolean).length;
  const { code, stderr } = await machine.run(['jobs', 'watch', 'j'], { env });
  const { sent, unknown, failed } = figures;
  const exit = unknown + failed > 0 ? 3 : 0;
  const singles = (name: keyof Figures) =>
    people.filter((to, index) => index % single === 0 && said.get(to) === name).length;
  const places: [place: string, is: unknown, ought: unknown][] = [
    ['the report', reported, { sent, unknown, failed }],
    ['all of them', sent + unknown + failed, people.length],
    ['jobs show', [shown.sent, shown.unknown, shown.failed], [sent, unknown, failed]],
    ['the batches: unknown', ofBatches('unknown') + singles('unknown'), unknown],
    ['the batches: failed', ofBatches('failed') + singles('failed'), failed],
    ['the list of messages', listed, unknown],
    ['the exits', [end.code, code], [exit, exit]],
    ['the summary', stderr.includes(`${grouped(sent)} sent`), true],
    ['what to do', / unknown: .* To see who they are: .*urtuu jobs report j /.test(stderr), unknown > 0],
    ['Every outcome is known', stderr.includes('Every outcome is known'), unknown === 0],
  ];
  const disagreements = places.flatMap(([place, is, ought]) =>
    JSON.stringify(is) === JSON.stringify(ought)
      ? []
      : [`${place}: ${JSON.stringify(is)}, not ${JSON.stringify(ought)}`],
  );
  return { lies, twice, disagreements };
}

/** By recipient; none where the report has no end of it. */
function outcomesIn(report: string): Map<string, keyof Figures> {
  const [header = '', ...rows] = readFileSync(report, 'utf8').trimEnd().split('\r\n');
  const names = header.split(',');
  const status = names.indexOf('status');
  const delivery = names.indexOf('delivery');
  const outcomes = new Map<string, keyof Figures>();
  for (const row of rows) {
    const cells = row.split(',');
    const is = cells[status];
    if (is === 'failed') outcomes.set(cells[0] ?? '', 'failed');
    if (is === 'sent') outcomes.set(cells[0] ?? '', cells[delivery] === 'unknown' ? 'unknown' : 'sent');
  }
  return outcomes;
}
