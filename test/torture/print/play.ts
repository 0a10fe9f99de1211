import type { Printed } from '../../support/printed-commands.js';
import { printedIn } from '../../support/printed-commands.js';
import { seededRandom } from '../../support/random.js';
import { type Request, refusal } from '../../support/run.js';
import { doubtful, drawSetup, type Setup } from './setup.js';
import { World } from './world.js';

export interface PrintResult {
  games: number;
  pasted: number;
  /** Commands that reached somebody, spent something or led somewhere that the run which printed them would not. */
  wrong: number;
  /** Those of the first game that has some, which is the last; null for none. */
  failure: string | null;
}

/** What is done to a line before it is pasted: nothing, or an option is left out. */
export type Change = (line: string) => string;

/** Plays arbitrary runs, and pastes every command that they print in another shell. */
export async function playPrint(options: {
  seed: number;
  games: number;
  change?: Change;
}): Promise<PrintResult> {
  const { seed, games, change = (line) => line } = options;
  const random = seededRandom(seed);
  const result: PrintResult = { games: 0, pasted: 0, wrong: 0, failure: null };
  while (result.games < games && result.failure === null) {
    const setup = drawSetup(random);
    result.games += 1;
    const { pasted, problems } = await playGame(setup, change);
    result.pasted += pasted;
    result.wrong += problems.length;
    if (problems.length > 0) result.failure = `game ${result.games}: ${problems.join('; ')}`;
  }
  return result;
}

interface Game {
  setup: Setup;
  world: World;
  /** Whom the runs would reach that print the commands, and how often. */
  allowed: ReadonlyMap<string, number>;
  /** Credits that they may spend. */
  limit: number;
}

async function playGame(setup: Setup, change: Change): Promise<{ pasted: number; problems: string[] }> {
  const allowed = await wouldReach(withBothLimits(setup));
  const world = new World(setup.way);
  try {
    const earlier = await playEarlier(world, setup);
    const lines = await playRuns(world, setup);
    for (const [to, count] of world.project.received())
      allowed.set(to, Math.max(count, allowed.get(to) ?? 0));
    const limit = limitOf(withBothLimits(setup), lines, spentIn(world) - world.spentEarlier);
    const game = { setup, world, allowed, limit };
    // The rows of a report belong to the job before, too, whose command may come first or last.
    const ofBoth = setup.kind === 'report' ? earlier.map((each) => [each, true] as const) : [];
    const ofRun = lines.map((each) => [each, false] as const);
    const all = setup.earlierFirst ? [...ofBoth, ...ofRun] : [...ofRun, ...ofBoth];
    for (const [printed, isEarlier] of all) {
      const problems = await paste(game, printed, change, isEarlier);
      if (problems.length > 0) return { pasted: all.length, problems };
    }
    return { pasted: all.length, problems: [] };
  } finally {
    world.remove();
  }
}

/** Plays the command and those after it; returns the commands that they print. */
async function playRuns(world: World, setup: Setup): Promise<Printed[]> {
  const nobody = setup.bad.map(() => 'nobody');
  writeInput(world, setup, nobody);
  fail(world, setup);
  const lines = new Map<string, Printed>();
  for (const words of [wordsOf(setup, true), ...followWords(setup)]) {
    const { code, stderr } = await world.first(words);
    // A job that was removed is forgotten, whatever was printed of it.
    if (words[1] === 'remove' && code === 0) lines.clear();
    for (const each of printedIn(stderr).filter(isPasted)) lines.set(each.line, each);
  }
  heal(world);
  return [...lines.values()];
}

/** What sends, and what writes the report that another one reads. */
const isPasted = ({ words: [first = '', second = ''] }: Printed) =>
  ['sms bulk', 'sms send', 'jobs resume', 'jobs report'].includes(`${first} ${second}`);

/** What is typed again without a name is another job where it leaves out who was sent to, with the limit that it has. */
const withBothLimits = (setup: Setup): Setup =>
  setup.follow === 'again' &&
  !setup.named &&
  setup.maxCredits !== null &&
  setup.options.includes('--skip-sent')
    ? { ...setup, maxCredits: 2 * setup.maxCredits }
    : setup;

/** A command that is printed to go on with a higher limit has that, and the job had spent some before it was lowered. */
function limitOf({ follow, maxCredits }: Setup, lines: readonly Printed[], spent: number): number {
  if (follow !== 'lower') return maxCredits ?? Infinity;
  const printed = lines.flatMap(({ words }) =>
    words.includes('--max-credits') ? Number(words[words.indexOf('--max-credits') + 1]) : [],
  );
  return Math.max(...printed, maxCredits ?? Infinity, spent);
}

/** Pastes one command, and says what is wrong then. */
async function paste(
  { setup, world, allowed, limit }: Game,
  printed: Printed,
  change: Change,
  isEarlier: boolean,
): Promise<string[]> {
  const { project, elsewhere } = world;
  if (printed.words[1] === 'bulk') world.fix(printed.words[2] ?? '', setup.bad);
  const posts = project.sends.length;
  const spentBefore = spentIn(world);
  const line = change(printed.line);
  const result = await world.pasted(line, setup.hasKey);
  if (result === null) return setup.hasKey ? [`a shell refuses it: ${line}`] : [];
  const { code, slept, stderr } = result;
  const problems: string[] = [];
  if ([1, 2, 12, 13].includes(code as number)) problems.push(`it ended with ${code}: ${stderr}`);
  if (elsewhere.service.requests.length > 0) problems.push('another project was asked');
  for (const [to, count] of project.received())
    if (count > (allowed.get(to) ?? 0)) problems.push(`${to} got ${count}`);
  if (isEarlier) world.spentEarlier += spentIn(world) - spentBefore;
  const spent = spentIn(world) - world.spentEarlier;
  if (spent > limit) problems.push(`${spent} credits were spent, and the limit was ${limit}`);
  const sent = project.sends.length - posts;
  if (!isEarlier && setup.rate !== null && slept < ((sent - 2) / setup.rate) * 1_000)
    problems.push(`${sent} requests went out in ${slept} ms`);
  return problems.map((problem) => `${problem}, after: ${line}`);
}

/** Whom the same command reaches where nothing goes wrong, with its bad rows as they are and made right. */
async function wouldReach(setup: Setup): Promise<Map<string, number>> {
  // Where the job before ends well, it reaches all of its list.
  const most = new Map(setup.earlier.map((to) => [to, 1]));
  for (const bad of [setup.bad, setup.bad.map(() => 'nobody')]) {
    const world = new World(setup.way);
    try {
      await playEarlier(world, setup);
      writeInput(world, setup, bad);
      await world.first(wordsOf(setup, false));
      for (const [to, count] of world.project.received()) most.set(to, Math.max(count, most.get(to) ?? 0));
    } finally {
      world.remove();
    }
  }
  return most;
}

/** Plays the job before; returns the commands that it printed. */
async function playEarlier(world: World, setup: Setup): Promise<Printed[]> {
  if (setup.earlier.length === 0) return [];
  world.write('one.csv', ['phone,name', ...setup.earlier.map(rowOf)]);
  world.project.options.failing = new Set(setup.earlierFailed);
  const options = ['--job', 'one', '--report', 'one report.csv', '--yes'];
  const { stderr } = await world.first(['sms', 'bulk', 'one.csv', '--text', textOf(setup), ...options]);
  world.project.options.failing = new Set();
  world.spentEarlier = spentIn(world);
  return printedIn(stderr).filter(isPasted);
}

const rowOf = (number: string) => `${number},Bat ${number.slice(-2)}`;
const textOf = ({ personal, kind }: Setup) =>
  personal || kind === 'report' ? "Hi {name}, it's $5" : "It's $5";

/** The list, or the report of the job before, with `bad` in place of the last, or the first, numbers. */
function writeInput(world: World, setup: Setup, bad: readonly string[]): void {
  if (setup.kind === 'report') {
    if (bad[0] === 'nobody') world.blank('one report.csv', bad.length);
    return;
  }
  const ofBad = bad.map((number, at) => rowOf(setup.bad[at] ?? '').replace(/^\d+/, number));
  const header = setup.headerless ? [] : ['phone,name'];
  const rows = [...header, ...setup.good.map(rowOf), ...ofBad];
  world.write('list.csv', setup.semicolons ? rows.map((row) => row.replace(',', ';')) : rows);
}

/** `givesUp` at the first doubt: the fault would be tried again for long. */
function wordsOf(setup: Setup, givesUp: boolean): string[] {
  const { kind, good, options, named, maxCredits, rate, headerless, semicolons } = setup;
  const text = textOf(setup);
  if (kind === 'single') return ['sms', 'send', good[0] ?? '', text, '--max-retries', '0'];
  const file = kind === 'report' ? ['one report.csv', '--only', 'failed'] : ['list.csv'];
  return [
    ...['sms', 'bulk', ...file, '--text', text, ...options, '--yes'],
    ...(headerless ? ['--headerless', '--to-column', '1'] : []),
    ...(semicolons ? ['--delimiter', 'semicolon'] : []),
    ...(named ? ['--job', 'two'] : []),
    ...(maxCredits === null ? [] : ['--max-credits', String(maxCredits)]),
    ...(rate === null ? [] : ['--rate', String(rate)]),
    ...(givesUp && doubtful.includes(setup.fault) ? ['--max-wait', '0s'] : []),
  ];
}

function followWords(setup: Setup): string[][] {
  switch (setup.follow) {
    case 'none':
      return [];
    case 'again':
      return [wordsOf(setup, true)];
    case 'lower':
      return [['jobs', 'resume', 'two', '--max-credits', '10']];
    default:
      return [['jobs', setup.follow, 'two']];
  }
}

function fail({ project }: World, { fault, good }: Setup): void {
  if (fault === 'short') project.balance = 20;
  if (fault === 'failing') project.options.failing = new Set(good.slice(0, 1));
  if (fault === 'refused') project.options.unsupported = new Set(good.slice(0, 1));
  const instead = {
    reset: () => new Error('ECONNRESET'),
    unavailable: () => refusal(503, 'unavailable'),
    // It is accepted, and the answer is lost.
    lost: ({ body, headers }: Request) => {
      project.post('sms', body?.to as string | string[], headers['Idempotency-Key'] ?? '');
      return new Error('ECONNRESET');
    },
  };
  if (fault in instead) {
    const answer = instead[fault as keyof typeof instead];
    project.options.instead = (request) => (request.method === 'POST' ? answer(request) : undefined);
  }
}

function heal({ project }: World): void {
  project.balance = 1_000_000;
  project.options.failing = new Set();
  project.options.unsupported = new Set();
  delete project.options.instead;
}

const spentIn = ({ project }: World) => project.messages.reduce((sum, { credits }) => sum + credits, 0);
