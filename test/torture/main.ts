import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { groups } from './groups.js';
import { type Group, type Played, playControl, type Row, type Sizes } from './row.js';

const usage = `npm run torture -- [group...] [--seed N] [--only <part of a name>] [--quick] [--<size> N]

groups and their sizes:
${groups.map(({ name, full }) => `  ${name}: ${sizesSaid(full)}`).join('\n')}
`;

function sizesSaid(sizes: Sizes): string {
  return Object.entries(sizes)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

interface Wish {
  chosen: Group[];
  seed: number;
  only: string;
  quick: boolean;
  given: Sizes;
}

function readWish(): Wish {
  const text = { type: 'string' } as const;
  const sizeOptions = groups.flatMap(({ full }) => Object.keys(full).map((name) => [name, text] as const));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...Object.fromEntries(sizeOptions),
      seed: { ...text, default: String(Date.now() % 1_000_000) },
      only: { ...text, default: '' },
      quick: { type: 'boolean', default: false },
    },
  });
  const { seed, only, quick, ...given } = values;
  const strange = positionals.find((name) => groups.every((group) => group.name !== name));
  if (strange !== undefined) throw new TypeError(`there is no group '${strange}'`);
  const chosen = groups.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const numbers = Object.entries({ ...given, seed }).map(([name, value]) => [name, Number(value)] as const);
  for (const [name, value] of numbers)
    if (!(value >= 0)) throw new TypeError(`--${name} must be a number of 0 or more`);
  const { seed: number = 0, ...sizes } = Object.fromEntries(numbers);
  return { chosen, seed: number, only, quick, given: sizes };
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const table = new Table({
  head: ['what', 'measured', 'found', 's'],
  colWidths: [36, 44, 44, 7],
  wordWrap: true,
  style: { head: [], border: [] },
});

/** The whole text is printed above the table, which wraps a long one for over half an hour. */
const shortened = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}...` : text);

/** Plays one line of the table. An error is something that was found, but it shows nothing of a control. */
async function line(name: string, play: () => Promise<Played>, wrongWhenThrown: 0 | 1): Promise<Played> {
  const started = Date.now();
  const played = await play().catch((error: unknown) => {
    print(error instanceof Error && error.stack ? error.stack : String(error));
    return { measured: 'not to its end', found: String(error), wrong: wrongWhenThrown };
  });
  const seconds = ((Date.now() - started) / 1_000).toFixed(0);
  print(`${name}: ${played.measured}: ${played.found} (${seconds} s)`);
  table.push([name, played.measured, shortened(played.found), seconds]);
  return played;
}

/** Whether nothing was found, and something by each control. */
async function playRow({ name, play, controls, unavailable }: Row, seed: number): Promise<boolean> {
  const reason = unavailable?.() ?? null;
  if (reason !== null) {
    print(`${name}: left out: ${reason}`);
    table.push([name, `left out: ${reason}`, '', '']);
    return true;
  }
  let right = (await line(name, () => play(seed), 1)).wrong === 0;
  for (const control of controls) {
    const play = async () => {
      const played = await playControl(control, seed);
      return played.wrong === 0 ? { ...played, found: `${played.found}: PROVES NOTHING` } : played;
    };
    const { wrong } = await line(`control: ${control.name}`, play, 0);
    right &&= wrong > 0;
  }
  return right;
}

async function main({ chosen, seed, only, quick, given }: Wish): Promise<number> {
  print(`seed ${seed}`);
  let right = true;
  let rows = 0;
  for (const group of chosen) {
    for (const row of group.rows(quick ? 'small' : 'full', given)) {
      if (!row.name.includes(only) && !group.name.includes(only)) continue;
      if (quick && row.takesMinutes && only === '') continue;
      rows += 1;
      right = (await playRow(row, seed)) && right;
    }
  }
  if (rows === 0) throw new TypeError(`no row has '${only}' in its name`);
  print(table.toString());
  print(right ? `seed ${seed}: nothing wrong, and every control noticed` : `seed ${seed}: FAILED`);
  return right ? 0 : 1;
}

Promise.resolve()
  .then(() => main(readWish()))
  .then(
    (code) => process.exit(code),
    (error: unknown) => {
      const isUsage = error instanceof TypeError;
      process.stderr.write(isUsage ? `${error.message}\n\n${usage}` : `${(error as Error).stack}\n`);
      process.exit(isUsage ? 2 : 1);
    },
  );
