import { requestRates } from '../../../../contract/index.js';
import type { Delimiter } from '../../../bulk/input/delimiter.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { SharedLimit } from '../../../bulk/job/shared-limit.js';
import type { ShownOutcome } from '../../../bulk/plan/build-plan.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { PreviewedMessage } from '../../../bulk/plan/preview.js';
import { masked, maskedText } from '../../../output/mask.js';
import { type Column, field, type View } from '../../../output/view.js';
import type { EarlierSends } from '../prepare/earlier-sends.js';
import type { Suppressed } from './do-not-send.js';

const planFigures = [
  'recipients',
  'merged',
  'rejected',
  'repaired',
  'requests',
  'batches',
  'singles',
] as const;

/** What a job will send, and its price. */
export interface Preflight extends Pick<PlanMeta, (typeof planFigures)[number] | 'cost'> {
  job: string;
  channel: string;
  /** The detected recipient column and delimiter; a sheet has no delimiter. */
  to_column: string;
  delimiter: Delimiter | null;
  /** Null for CSV. */
  sheet: string | null;
  /** Parts of all messages. */
  parts: number;
  /** Credits of the whole job; null without a price list. */
  credits: number | null;
  balance: number | null;
  /** Recipients who were sent the same message from this machine recently, or may get it from an unfinished job. */
  sent_before: number;
  /** Whether they are skipped. */
  skips_sent: boolean;
  /** Expected time of the remaining requests. */
  seconds: number;
  /** The number of different messages. */
  messages: number;
  /** As delivered. Null only if the plan could not be read again. */
  first_message: PreviewedMessage | null;
  longest_message: PreviewedMessage | null;
  /** Rows that `--where` and `--exclude` left out, and recipients that `--first` leaves for later. */
  not_matched: number;
  excluded: number;
  later: number;
  /** Columns that have no name in the header, and are left out. */
  nameless_columns: number;
  /** Rows without their last fields, which are empty. */
  short_rows: number;
  /** Recipients on the service's do-not-send list; null if that is not known. */
  suppressed: number | null;
}

/** Credits of the plan. */
export interface Paid {
  /** Certainly not to be paid any more; negative if prices have risen. */
  certain: number;
  /** For requests in doubt: perhaps already paid, perhaps still to be paid. */
  inDoubt: number;
}

/** What was found out about a plan. */
export interface Findings {
  /** The limit of `--like`; null without it. */
  shared: SharedLimit | null;
  outcome: ShownOutcome;
  earlier: EarlierSends;
  /** `isForbidden`: the key may not read them. */
  prices: { known: boolean; balance: number | null; isForbidden: boolean };
  /** Of a proof: its lines after those of the job, and its question in place of the job's. */
  proof?: { lines: readonly string[]; question: string };
}

/** `rate`: the value of `--rate`. `mask`: whether recipients and texts are masked. */
export function preflightOf(
  { job, meta }: { job: string; meta: PlanMeta },
  { outcome: input, earlier, prices, suppressed }: Findings & { suppressed: Suppressed | null },
  remaining: { requests: number; rate?: number | undefined },
  mask: boolean,
): Preflight {
  const shown = (message: PreviewedMessage | undefined) =>
    message === undefined ? null : mask ? maskedMessage(message) : message;
  const { channel, recipients, merged, rejected, repaired, requests, batches, singles, cost } = meta;
  const { burst, perSecond } = requestRates.sending;
  const rate = remaining.rate ?? perSecond;
  return {
    job,
    channel,
    to_column: input.toColumn,
    delimiter: input.delimiter,
    sheet: input.sheet,
    ...{ recipients, merged, rejected, repaired, requests, batches, singles, cost },
    parts: cost.reduce((sum, { parts }) => sum + parts, 0),
    credits: prices.known ? meta.credits : null,
    balance: prices.balance,
    sent_before: earlier.recipients,
    skips_sent: earlier.skipped,
    seconds: Math.ceil(Math.max(0, remaining.requests - (burst * rate) / perSecond) / rate),
    messages: input.preview?.messages ?? 0,
    first_message: shown(input.preview?.first),
    longest_message: shown(input.preview?.longest),
    not_matched: input.leftOut.where,
    excluded: input.leftOut.exclude,
    later: input.later,
    nameless_columns: input.unread.columns,
    short_rows: input.unread.shortRows,
    suppressed: suppressed !== null && 'recipients' in suppressed ? suppressed.recipients : null,
  };
}

export function maskedMessage({ to, subject, text, parts }: PreviewedMessage): PreviewedMessage {
  return {
    to: masked(to),
    subject: subject === null ? null : maskedText(subject),
    text: maskedText(text),
    parts,
  };
}

/**
 * The part of a job that is paid, at current prices, which are those of `current`, a new plan of the same input. Texts of
 * an earlier version may be more or longer, so their own prices count.
 */
export async function paidOf(
  { plan, state }: Pick<Job, 'plan' | 'state'>,
  current: Pick<PlanMeta, 'digest' | 'credits'>,
): Promise<Paid> {
  const { meta } = plan;
  const isOther = meta.credits > 0 && meta.digest !== current.digest;
  const price = isOther ? meta.credits : current.credits;
  if (state.untouched) return { certain: meta.credits - price, inDoubt: 0 };
  let planned = 0;
  let doubtful = 0;
  for await (const request of plan.requests(state.firstOpen())) {
    if (!state.isOpen(request.number)) continue;
    const all = request.to.length;
    // A plan without prices counts the same for every recipient.
    const whole = meta.credits > 0 ? request.credits : all;
    const rest = (whole * (all - state.removed(request.number).size)) / all;
    planned += rest;
    if (state.phase(request.number) === 'doubt') doubtful += rest;
  }
  const ofAll = meta.credits > 0 ? meta.credits : meta.recipients;
  const priceOf = (part: number) => Math.ceil((part * price) / Math.max(1, ofAll));
  return { certain: meta.credits - priceOf(planned), inDoubt: priceOf(doubtful) };
}

/** Credits that are still to be paid. */
export interface Due {
  /** The maximum; null without a price list. */
  left: number | null;
  /** How many of them may have been paid. */
  inDoubt: number;
  /** By how many the balance is certainly too low; 0 if price or balance is unknown. */
  missing: number;
}

export function dueOf({ credits, balance }: Preflight, { certain, inDoubt }: Paid): Due {
  const left = credits === null ? null : Math.max(0, credits - certain);
  const missing = left === null || balance === null ? 0 : Math.max(0, left - inDoubt - balance);
  return { left, inDoubt, missing };
}

/** On one line: the recipient, then subject and text. */
const message = (name: 'first_message' | 'longest_message'): Column<Preflight> => ({
  name,
  value: ({ [name]: message }) =>
    message && `${message.to}: ${message.subject === null ? '' : `${message.subject}: `}${message.text}`,
});

const number = (name: keyof Preflight & string) => field<Preflight>(name, { kind: 'number' });

export const preflightView: View<Preflight> = {
  columns: [
    field('job'),
    field('channel'),
    field('to_column'),
    field('delimiter'),
    field('sheet'),
    ...planFigures.map(number),
    {
      name: 'cost',
      value: ({ cost }) => cost.map(({ kind, credits }) => `${kind} ${credits}`).join(', '),
      detail: true,
    },
    ...(['parts', 'credits', 'balance', 'sent_before'] as const).map(number),
    field('skips_sent'),
    number('seconds'),
    number('messages'),
    message('first_message'),
    message('longest_message'),
    ...(['not_matched', 'excluded', 'later'] as const).map(number),
    number('nameless_columns'),
    number('short_rows'),
    number('suppressed'),
  ],
  record: (preflight) => preflight,
};
