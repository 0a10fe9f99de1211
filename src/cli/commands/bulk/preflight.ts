import { requestRates } from '../../../contract/index.js';
import type { Delimiter } from '../../bulk/input/delimiter.js';
import type { RepairCounts, RepairKind } from '../../bulk/input/repair.js';
import type { PlanMeta } from '../../bulk/plan/plan.js';
import { field, type View } from '../../output/view.js';
import { counted, duration, grouped } from '../../wording.js';
import { sentBeforeLine } from './sent-before.js';

/** What a job would do, before it does anything. */
export interface Preflight {
  job: string;
  channel: string;
  /** The column that was found to hold the recipients, and what divides the columns. */
  to_column: string;
  delimiter: Delimiter;
  /** Of a workbook; null for CSV. */
  sheet: string | null;
  recipients: number;
  merged: number;
  rejected: number;
  repaired: number;
  requests: number;
  batches: number;
  singles: number;
  cost: PlanMeta['cost'];
  /** Parts of all messages. */
  parts: number;
  /** Credits of the whole job; null when the service does not say its prices. */
  credits: number | null;
  balance: number | null;
  /** Recipients who got the same message from this machine lately. */
  sent_before: number;
  /** Whether they are left out. */
  skips_sent: boolean;
  /** Expected time of what is still to be sent. */
  seconds: number;
}

/** What earlier runs of the job have left, and how fast it is sent. */
export interface StillToSend {
  requests: number;
  /** How much of the plan's credits is not to be paid any more; below 0 where the rest has become dearer. */
  spent: number;
  /** Requests a second; the documented allowance when absent. */
  rate?: number | undefined;
}

export function preflightOf(
  job: string,
  meta: PlanMeta,
  money: { priced: boolean; balance: number | null },
  still: Pick<StillToSend, 'requests' | 'rate'>,
  { toColumn, delimiter, sheet }: { toColumn: string; delimiter: Delimiter; sheet: string | null },
  { sentBefore, skipped }: { sentBefore: number; skipped: boolean } = { sentBefore: 0, skipped: false },
): Preflight {
  const { channel, recipients, merged, rejected, repaired, requests, batches, singles, cost } = meta;
  const { burst, perSecond } = requestRates.sending;
  const speed = still.rate ?? perSecond;
  return {
    job,
    channel,
    to_column: toColumn,
    delimiter,
    sheet,
    recipients,
    merged,
    rejected,
    repaired,
    requests,
    batches,
    singles,
    cost,
    parts: cost.reduce((sum, { parts }) => sum + parts, 0),
    credits: money.priced ? meta.credits : null,
    balance: money.balance,
    sent_before: sentBefore,
    skips_sent: skipped,
    seconds: Math.ceil(Math.max(0, still.requests - (burst * speed) / perSecond) / speed),
  };
}

/** The block that is shown before anything is sent, at most 80 columns wide. */
export function preflightLines(plan: Preflight, repairs: RepairCounts, still: StillToSend): string[] {
  const { recipients, merged, rejected, repaired, requests, batches, singles } = plan;
  const kinds = Object.entries(repairs).map(
    ([kind, count]) => `${grouped(count)} ${repairNames[kind as RepairKind]}`,
  );
  const before = sentBeforeLine(plan.sent_before, plan.skips_sent);
  const rows: [label: string, value: string][] = [
    ['Job', `${shortened(plan.job, valueColumns - 8)} (${plan.channel})`],
    ['Column', columnOf(plan)],
    [
      'Recipients',
      `${grouped(recipients)} (${grouped(merged)} merged, ${grouped(rejected)} rejected, ${grouped(repaired)} repaired)`,
    ],
    ...(before === undefined ? [] : [['Sent before', before] as [string, string]]),
    ...(kinds.length > 0 ? [['Repaired', kinds.join(', ')] as [string, string]] : []),
    ...plan.cost.map((cost) => costRow(cost, plan.credits !== null)),
    ['Requests', `${grouped(requests)} (${counted(batches, 'batch')}, ${counted(singles, 'single')})`],
    [
      'Time',
      `about ${duration(plan.seconds)} at ${still.rate === undefined ? 'the allowed rate' : `${still.rate}/s`}`,
    ],
    ['Credits', creditsOf(plan, still.spent)],
  ];
  return rows.flatMap(([label, value]) =>
    wrapped(value).map((text, index) => (index === 0 ? label : '').padEnd(labelColumns) + text),
  );
}

/** Where the recipients are. */
function columnOf({ to_column, delimiter, sheet }: Preflight): string {
  const name = shortened(to_column, valueColumns - 24);
  if (sheet === null) return `${name} (delimiter: ${delimiterNames[delimiter]})`;
  return `${name} (sheet: ${shortened(sheet, Math.max(12, valueColumns - name.length - 10))})`;
}

const delimiterNames = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
} satisfies Record<Delimiter, string>;

const repairNames = {
  separators: 'with separators',
  country_code: 'with a country code',
  invisible: 'with invisible characters',
  full_width: 'with full-width characters',
  apostrophe: 'with an apostrophe',
  formula: 'written as a formula',
  decimals: 'with decimals',
  exponent: 'with an exponent',
} satisfies Record<RepairKind, string>;

const labelColumns = 12;
const valueColumns = 80 - labelColumns;

function wrapped(value: string): string[] {
  const lines: string[] = [];
  for (const word of value.split(' ')) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= valueColumns;
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function shortened(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

const kindNames = { latin: 'Latin', cyrillic: 'Cyrillic', email: 'Emails' } as const;

function costRow(
  { kind, recipients, parts, credits }: PlanMeta['cost'][number],
  priced: boolean,
): [string, string] {
  const size = kind === 'email' ? '' : `, ${counted(parts, 'part')}`;
  const price = priced ? `, ${counted(credits, 'credit')}` : '';
  return [kindNames[kind], `${counted(recipients, 'recipient')}${size}${price}`];
}

/** What is still to be paid. */
export function creditsLeft({ credits }: Preflight, spent: number): number | null {
  return credits === null ? null : Math.max(0, credits - spent);
}

/** How far the balance is from what is still to be paid; 0 where one of them is not known. */
export function creditsMissing(plan: Preflight, spent: number): number {
  const left = creditsLeft(plan, spent);
  return left === null || plan.balance === null ? 0 : Math.max(0, left - plan.balance);
}

function creditsOf(plan: Preflight, spent: number): string {
  const left = creditsLeft(plan, spent);
  const cost = left === null ? 'unknown' : grouped(left);
  const balance = plan.balance === null ? 'an unknown balance' : grouped(plan.balance);
  return `${cost} of ${balance}${shortage(plan, spent)}`;
}

function shortage(plan: Preflight, spent: number): string {
  const missing = creditsMissing(plan, spent);
  return missing === 0 ? '' : `: ${grouped(missing)} missing`;
}

export const preflightView: View<Preflight> = {
  columns: [
    field('job'),
    field('channel'),
    field('to_column'),
    field('delimiter'),
    field('sheet'),
    field('recipients', { kind: 'number' }),
    field('merged', { kind: 'number' }),
    field('rejected', { kind: 'number' }),
    field('repaired', { kind: 'number' }),
    field('requests', { kind: 'number' }),
    field('batches', { kind: 'number' }),
    field('singles', { kind: 'number' }),
    {
      name: 'cost',
      value: ({ cost }) => cost.map(({ kind, credits }) => `${kind} ${credits}`).join(', '),
      detail: true,
    },
    field('parts', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('balance', { kind: 'number' }),
    field('sent_before', { kind: 'number' }),
    field('skips_sent'),
    field('seconds', { kind: 'number' }),
  ],
  record: (plan) => plan,
};
