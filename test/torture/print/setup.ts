import { numbers } from '../../cli/bulk/memory-plan.js';
import { ways } from './ways.js';

/** What is wrong while the first command runs. */
export type Fault = 'none' | 'reset' | 'lost' | 'unavailable' | 'short' | 'failing' | 'refused';
/** A command after it, which prints another one. */
export type Follow = 'none' | 'again' | 'cancel' | 'watch' | 'remove' | 'lower';
/** A list, the failed rows of an earlier list's report, or one message. */
export type Kind = 'list' | 'report' | 'single';

export interface Setup {
  way: (typeof ways)[number];
  /** Whether the other shell has the key of the environment, where the way has one. */
  hasKey: boolean;
  kind: Kind;
  fault: Fault;
  follow: Follow;
  /** Recipients of an earlier job with the same text, and those of them whose messages failed. */
  earlier: string[];
  earlierFailed: string[];
  /** The list, and what its bad rows should have been. */
  good: string[];
  bad: string[];
  /** Its command is pasted before those of the run, not after them. */
  earlierFirst: boolean;
  personal: boolean;
  headerless: boolean;
  semicolons: boolean;
  named: boolean;
  /** Of the command; those of the files and the way come to them. */
  options: string[];
  maxCredits: number | null;
  rate: number | null;
}

const pool = numbers(10);
const price = 10;

/** An arbitrary run, its surroundings and what happens to it. */
export function drawSetup(random: () => number): Setup {
  const chance = (share: number) => random() < share;
  const one = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const some = (count: number) =>
    [...pool]
      .map((each) => [random(), each] as const)
      .sort()
      .slice(0, count)
      .map(([, each]) => each);
  const kind = one<Kind>(['list', 'list', 'list', 'report', 'single']);
  const isList = kind === 'list';
  const isBulk = kind !== 'single';
  const earlier = kind === 'report' ? some(5) : chance(0.5) ? some(3) : [];
  const earlierFailed = kind === 'report' ? earlier.slice(0, 4) : [];
  const good = kind === 'report' ? earlierFailed.slice(2) : some(4);
  const bad = kind === 'report' ? earlierFailed.slice(0, 2) : chance(0.6) ? some(2) : [];
  const fault = one<Fault>(['none', 'short', 'failing', 'refused', ...doubtful]);
  const named = chance(0.5);
  const headerless = isList && chance(0.15);
  const follows: readonly Follow[] = ['none', 'none', 'again', ...(named ? inJobs : [])];
  const lower: readonly Follow[] = named && !doubtful.includes(fault) ? ['lower'] : [];
  return {
    way: one(ways),
    hasKey: chance(0.7),
    kind,
    fault,
    follow: isBulk ? one([...follows, ...lower]) : 'none',
    earlier,
    earlierFailed,
    earlierFirst: chance(0.5),
    good,
    bad,
    personal: !headerless && chance(0.6),
    headerless,
    semicolons: isList && chance(0.2),
    named,
    maxCredits: isBulk
      ? one([null, null, price * good.length, price * (good.length + bad.length), 1_000])
      : null,
    rate: isBulk && chance(0.25) ? 0.5 : null,
    options: [
      ...(bad.length > 0 && chance(0.9) ? ['--skip-invalid'] : []),
      ...(isList && chance(0.5) ? ['--skip-sent'] : []),
      ...(fault === 'short' && chance(0.8) ? ['--allow-partial'] : []),
      ...(chance(0.3) ? ['--report', 'the report.csv'] : []),
      ...(chance(0.2) ? ['--wait'] : []),
      ...(chance(0.5) ? ['--rejects', 'rejected rows.csv'] : []),
    ],
  };
}

const inJobs: readonly Follow[] = ['cancel', 'watch', 'remove'];
/** After them requests are in doubt: those are sent again whatever the limit is. */
export const doubtful: readonly Fault[] = ['reset', 'lost', 'unavailable'];
