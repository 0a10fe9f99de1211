import { basename } from 'node:path';
import type { Delimiter } from '../../../bulk/input/delimiter.js';
import { fileName } from '../../../bulk/input/input-error.js';
import type { RepairKind } from '../../../bulk/input/repair.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { PlanMeta, PlannedRequest } from '../../../bulk/plan/plan.js';
import type { PreviewedMessage } from '../../../bulk/plan/preview.js';
import { wordsOfStop } from '../../../bulk/send/ending.js';
import type { Context } from '../../../context.js';
import { maskedText } from '../../../output/mask.js';
import { betweenWords } from '../../../terminal/wrap.js';
import { counted, duration, grouped } from '../../../text/wording.js';
import { sheetsText } from '../finish/workbook-report.js';
import type { BulkOptions } from '../options.js';
import { sentBeforeLine } from '../prepare/earlier-sends.js';
import { askDoNotSend, type Suppressed } from './do-not-send.js';
import {
  type Due,
  dueOf,
  type Findings,
  maskedMessage,
  type Paid,
  type Preflight,
  preflightOf,
} from './preflight.js';

type PreviewOptions = Pick<BulkOptions, 'report' | 'where' | 'exclude' | 'first' | 'rate'>;

interface Left {
  /** What earlier runs have paid of it. */
  paid?: Paid;
  /** Whether to ask for the do-not-send list of the service. */
  asks?: boolean;
}

/** The preflight of a plan, or of what is left of its job, with its lines for people. */
export async function previewOf(
  context: Pick<Context, 'io' | 'network' | 'clock'>,
  { id, plan, state }: Pick<Job, 'id' | 'plan'> & Partial<Pick<Job, 'state'>>,
  findings: Findings,
  options: PreviewOptions,
  { paid = { certain: 0, inDoubt: 0 }, asks = true }: Left = {},
): Promise<{ preflight: Preflight; due: Due; lines: string[] }> {
  const { printer, columns } = context.io;
  const { mask } = printer;
  const isLeft = ({ number }: PlannedRequest) => state?.isOpen(number) ?? true;
  const suppressed = asks ? await askDoNotSend(context, plan, isLeft) : null;
  const remaining = { requests: state?.open ?? plan.meta.requests, rate: options.rate };
  const preflight = preflightOf({ job: id, meta: plan.meta }, { ...findings, suppressed }, remaining, mask);
  const due = dueOf(preflight, paid);
  const lines = preflightLines(preflight, { ...findings, suppressed, due, options, columns, mask });
  return { preflight, due, lines: [...lines, ...(findings.proof?.lines ?? [])] };
}

interface Shown extends Pick<Findings, 'outcome' | 'earlier' | 'prices'> {
  suppressed: Suppressed | null;
  due: Due;
  options: PreviewOptions;
  /** Width of the terminal. */
  columns: number;
  mask: boolean;
}

type Row = [label: string, ...values: string[]];

/** None without a text. */
const rowIf = (label: string, text: string | null | undefined): Row[] => (text ? [[label, text]] : []);

/** The preflight for people, at most 80 columns wide. */
export function preflightLines(preflight: Preflight, shown: Shown): string[] {
  const { recipients, merged, rejected, repaired, requests, batches, singles } = preflight;
  const { outcome, earlier, prices, suppressed, due, options, columns, mask } = shown;
  const { rate, report } = options;
  const kinds = Object.entries(outcome.repairs).map(
    ([kind, count]) => `${grouped(count)} ${repairNames[kind as RepairKind]}`,
  );
  const { sent_before: before, skips_sent: skips, nameless_columns: nameless, short_rows: short } = preflight;
  const rows: Row[] = [
    ['Job', `${shortened(preflight.job, valueColumns - 8)} (${preflight.channel})`],
    ['Column', columnOf(preflight)],
    ...rowIf('Left out', nameless > 0 ? `${counted(nameless, 'column')} without a name` : null),
    ...rowIf('Short rows', short > 0 ? `${grouped(short)}: the missing last fields are empty` : null),
    ...selectionRows(preflight, outcome.rows, options, mask),
    [
      'Recipients',
      `${grouped(recipients)} (${grouped(merged)} merged, ${grouped(rejected)} rejected, ${grouped(repaired)} repaired)`,
    ],
    ...rowIf('Sent before', sentBeforeLine(before, skips, earlier.unfinished, earlier.sinceHold)),
    ...rowIf('Suppressed', suppressedText(suppressed)),
    ...rowIf('Repaired', kinds.join(', ')),
    ...rowIf('Fallback', fallbacksText(outcome.fallbacks)),
    ...rowIf('Replaced', replacedText(outcome.replaced)),
    ...messageRows(preflight),
    ...(mask ? [] : (outcome.preview?.notGsm ?? [])).map((why): Row => ['Not GSM', why]),
    ...preflight.cost.map((cost) => costRow(cost, preflight.credits !== null)),
    ['Requests', `${grouped(requests)} (${counted(batches, 'batch')}, ${counted(singles, 'single')})`],
    [
      'Time',
      `about ${duration(preflight.seconds)} at ${rate === undefined ? 'the rate limit' : `${rate}/s`}`,
    ],
    ...rowIf('Report', sheetsText(report, preflight)),
    ['Credits', creditsText(preflight, due, prices.isForbidden)],
  ];
  return rows.flatMap((row) => linesOf(row, Math.min(columns, 80)));
}

/** What `--where`, `--exclude` and `--first` select. */
function selectionRows(
  { not_matched: notMatched, excluded, later, recipients }: Preflight,
  rows: number,
  { where = [], exclude, first }: PreviewOptions,
  mask: boolean,
): Row[] {
  const conditions = where.map((each) => shortened(mask ? maskedText(each) : each, 40)).join(', ');
  const matched = `${conditions}: ${grouped(rows - notMatched)} of ${counted(rows, 'row')}`;
  const all = counted(recipients + later, 'recipient');
  const taken = later > 0 ? `${grouped(recipients)} of ${all}` : `all ${all}`;
  return [
    ...rowIf('Where', where.length > 0 ? matched : null),
    ...rowIf('Excluded', exclude && `${counted(excluded, 'row')} by ${fileName(basename(exclude))}`),
    ...rowIf('Only first', first === undefined && later === 0 ? null : taken),
  ];
}

const fallbacksText = (fallbacks: PlanOutcome['fallbacks']) =>
  fallbacks.map(({ column, rows }) => `${shortened(column, 40)}: ${counted(rows, 'row')}`).join(', ');

function suppressedText(suppressed: Suppressed | null): string | null {
  if (suppressed === null) return null;
  if ('unknown' in suppressed) {
    const why = suppressed.unknown === 'too_many' ? 'too many recipients' : wordsOfStop(suppressed.unknown);
    return `not counted (${why}); the service skips anyone on its do-not-send list`;
  }
  const { recipients, of, credits } = suppressed;
  if (recipients === 0) return null;
  const are = recipients === 1 ? 'is' : 'are';
  const back = credits === 0 ? '' : ` (${counted(credits, 'credit')} come back)`;
  return `${grouped(recipients)} of ${grouped(of)} ${are} on the do-not-send list and will be left out${back}`;
}

const replacedText = (messages: number) =>
  messages > 0 ? `quotes, dashes or blanks in ${counted(messages, 'message')} (--gsm)` : null;

/** The values beside their label, or below it if a word would be broken there. */
function linesOf([label, ...values]: Row, columns: number): string[] {
  const longest = Math.max(...values.flatMap((value) => value.split(' ').map((word) => word.length)));
  const isBelow = longest > columns - labelColumns && longest <= columns - belowColumns;
  const left = isBelow ? belowColumns : labelColumns;
  const lines = values.flatMap((value) => wrapped(value, Math.max(leastColumns, columns - left)));
  const beside = (index: number) => (index === 0 && !isBelow ? label : '').padEnd(left);
  return [...(isBelow ? [label] : []), ...lines.map((text, index) => (beside(index) + text).trimEnd())];
}

/** The first message and the longest one, or the only one. */
function messageRows({ messages, first_message: first, longest_message: longest }: Preflight): Row[] {
  if (first === null || longest === null) return [];
  if (messages === 1) return [messageRow('Message', first)];
  const isSame = first.to === longest.to && first.subject === longest.subject && first.text === longest.text;
  if (isSame) return [messageRow('First', first, ', also the longest')];
  return [messageRow('First', first), messageRow('Longest', longest)];
}

/** The lines of a proof; `message`: that of its `row`, which the preflight does not have. */
export function proofLines(
  { printer, columns }: Pick<Context['io'], 'printer' | 'columns'>,
  size: string,
  row: number | undefined,
  message: PreviewedMessage,
): string[] {
  const shown = printer.mask ? maskedMessage(message) : message;
  const rows: Row[] = [['Proof', size], ...(row === undefined ? [] : [messageRow(`Row ${row}`, shown)])];
  return rows.flatMap((each) => linesOf(each, Math.min(columns, 80)));
}

const mostCharacters = 800;
const mostLines = 12;

function messageRow(label: string, { to, subject, text, parts }: PreviewedMessage, remark = ''): Row {
  const head = `to ${to}${parts === null ? '' : `, ${counted(parts, 'part')}`}${remark}`;
  const empty = parts === null ? '(no text)' : '(not sent: only links, which this operator does not carry)';
  const whole = text.replace(/\r\n?/g, '\n') || empty;
  const shown = whole
    .slice(0, mostCharacters)
    .replace(/[\ud800-\udbff]$/, '')
    .split('\n')
    .slice(0, mostLines)
    .join('\n');
  const left = whole.length - shown.length;
  const lines = left > 0 ? `${shown}… (${counted(left, 'more character')})` : shown;
  return [label, head, ...(subject === null ? [] : [subject]), ...lines.split('\n')];
}

function columnOf({ to_column, delimiter, sheet }: Preflight): string {
  const name = shortened(to_column, valueColumns - 24);
  if (delimiter !== null) return `${name} (delimiter: ${delimiterNames[delimiter]})`;
  return `${name} (sheet: ${shortened(sheet ?? '', Math.max(12, valueColumns - name.length - 10))})`;
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
  blanks: 'with blanks around a value',
  decomposed: 'with decomposed letters',
} satisfies Record<RepairKind, string>;

const labelColumns = 12;
const belowColumns = 2;
const valueColumns = 80 - labelColumns;
/** With fewer columns, the terminal itself wraps. */
const leastColumns = 20;

function wrapped(value: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of value.split(betweenWords)) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= room;
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

function creditsText({ balance }: Preflight, { left, inDoubt, missing }: Due, isForbidden: boolean): string {
  if (left === null && balance === null)
    return `Cost and balance unknown${isForbidden ? ': this key cannot read them' : ''}`;
  if (left === null) return `Cost unknown; the balance is ${grouped(balance ?? 0)}`;
  const doubt = inDoubt === 0 ? '' : ` (${grouped(inDoubt)} may be paid already)`;
  const cost = `${grouped(left)}${doubt}`;
  if (balance === null) return `${cost}; the balance is unknown`;
  return `${cost} of ${grouped(balance)}${missing === 0 ? '' : `: ${grouped(missing)} missing`}`;
}
