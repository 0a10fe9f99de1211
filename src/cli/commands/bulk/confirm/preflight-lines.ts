import { basename } from 'node:path';
import type { Delimiter } from '../../../bulk/input/delimiter.js';
import { fileName } from '../../../bulk/input/input-error.js';
import type { RepairCounts, RepairKind } from '../../../bulk/input/repair.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { PreviewedMessage } from '../../../bulk/plan/preview.js';
import { wordsOfStop } from '../../../bulk/send/ending.js';
import type { Context } from '../../../context.js';
import { maskedText } from '../../../output/mask.js';
import { betweenWords } from '../../../terminal/wrap.js';
import { counted, duration, grouped } from '../../../text/wording.js';
import { sheetsText } from '../finish/workbook-report.js';
import type { BulkOptions } from '../options.js';
import { sentBeforeLine } from '../prepare/earlier-sends.js';
import type { Suppressed } from './do-not-send.js';
import {
  creditsLeft,
  creditsMissing,
  type Findings,
  maskedMessage,
  type Paid,
  type Preflight,
  preflightOf,
  type Remaining,
} from './preflight.js';

/** The preflight of a plan, or of what is left of its job, with its lines for people. */
export function previewOf(
  { printer, columns }: Pick<Context['io'], 'printer' | 'columns'>,
  plan: { job: string; meta: PlanMeta },
  findings: Findings,
  remaining: Remaining,
  options: Selecting,
): { preflight: Preflight; lines: string[] } {
  const { prices, earlier, outcome, proof, suppressed } = findings;
  const preflight = preflightOf(plan, findings, remaining, printer.mask);
  const { sinceHold } = earlier;
  const shown = { ...remaining, ...prices, columns, unfinished: earlier.unfinished, options };
  const { replaced, fallbacks, preview, repairs, rows } = outcome;
  const notGsm = printer.mask ? [] : (preview?.notGsm ?? []);
  const found = { sinceHold, fallbacks, replaced, notGsm, suppressed, rows, mask: printer.mask };
  const lines = preflightLines(preflight, repairs, { ...shown, ...found });
  return { preflight, lines: [...lines, ...(proof?.lines ?? [])] };
}

type Selecting = Pick<BulkOptions, 'report' | 'where' | 'exclude' | 'first'>;

interface Shown extends Pick<Remaining, 'paid' | 'rate'> {
  /** Whether the key may not read prices and balance. */
  isForbidden?: boolean;
  /** Width of the terminal. */
  columns: number;
  /** See EarlierSends. */
  unfinished?: number;
  sinceHold?: boolean | undefined;
  options?: Selecting;
  /** Of the list. */
  rows?: number;
  mask?: boolean;
  /** See PlanOutcome and Preview. */
  fallbacks?: PlanOutcome['fallbacks'];
  replaced?: number;
  notGsm?: readonly string[];
  suppressed?: Findings['suppressed'];
}

type Row = [label: string, ...values: string[]];

/** The preflight for people, at most 80 columns wide. */
export function preflightLines(
  preflight: Preflight,
  repairs: RepairCounts,
  {
    paid,
    rate,
    isForbidden = false,
    columns,
    unfinished,
    sinceHold,
    options = {},
    rows: ofList = 0,
    mask = false,
    fallbacks = [],
    replaced = 0,
    notGsm = [],
    suppressed = null,
  }: Shown,
): string[] {
  const { recipients, merged, rejected, repaired, requests, batches, singles } = preflight;
  const kinds = Object.entries(repairs).map(
    ([kind, count]) => `${grouped(count)} ${repairNames[kind as RepairKind]}`,
  );
  const sentBefore = sentBeforeLine(preflight.sent_before, preflight.skips_sent, unfinished, sinceHold);
  const sheets = sheetsText(options.report, preflight);
  const rows: Row[] = [
    ['Job', `${shortened(preflight.job, valueColumns - 8)} (${preflight.channel})`],
    ['Column', columnOf(preflight)],
    ...unreadRows(preflight),
    ...selectionRows(preflight, ofList, options, mask),
    [
      'Recipients',
      `${grouped(recipients)} (${grouped(merged)} merged, ${grouped(rejected)} rejected, ${grouped(repaired)} repaired)`,
    ],
    ...(sentBefore === undefined ? [] : [['Sent before', sentBefore] satisfies Row]),
    ...suppressedRows(suppressed),
    ...(kinds.length > 0 ? [['Repaired', kinds.join(', ')] satisfies Row] : []),
    ...(fallbacks.length > 0 ? [['Fallback', fallbacksText(fallbacks)] satisfies Row] : []),
    ...(replaced > 0 ? [['Replaced', replacedText(replaced)] satisfies Row] : []),
    ...messageRows(preflight),
    ...notGsm.map((why): Row => ['Not GSM', why]),
    ...preflight.cost.map((cost) => costRow(cost, preflight.credits !== null)),
    ['Requests', `${grouped(requests)} (${counted(batches, 'batch')}, ${counted(singles, 'single')})`],
    [
      'Time',
      `about ${duration(preflight.seconds)} at ${rate === undefined ? 'the rate limit' : `${rate}/s`}`,
    ],
    ...(sheets === null ? [] : [['Report', sheets] satisfies Row]),
    ['Credits', creditsText(preflight, paid, isForbidden)],
  ];
  return rows.flatMap((row) => linesOf(row, Math.min(columns, 80)));
}

function unreadRows({ nameless_columns: columns, short_rows: rows }: Preflight): Row[] {
  return [
    ...(columns > 0 ? [['Left out', `${counted(columns, 'column')} without a name`] satisfies Row] : []),
    ...(rows > 0
      ? [['Short rows', `${grouped(rows)}: the missing last fields are empty`] satisfies Row]
      : []),
  ];
}

/** What `--where`, `--exclude` and `--first` select. */
function selectionRows(
  { not_matched: notMatched, excluded, later, recipients }: Preflight,
  rows: number,
  { where = [], exclude, first }: Selecting,
  mask: boolean,
): Row[] {
  const conditions = where.map((each) => shortened(mask ? maskedText(each) : each, 40)).join(', ');
  const matched = `${conditions}: ${grouped(rows - notMatched)} of ${counted(rows, 'row')}`;
  const all = recipients + later;
  const taken =
    later > 0 ? `${grouped(recipients)} of ${counted(all, 'recipient')}` : `all ${counted(all, 'recipient')}`;
  return [
    ...(where.length > 0 ? [['Where', matched] satisfies Row] : []),
    ...(exclude === undefined
      ? []
      : [['Excluded', `${counted(excluded, 'row')} by ${fileName(basename(exclude))}`] satisfies Row]),
    ...(first === undefined && later === 0 ? [] : [['Only first', taken] satisfies Row]),
  ];
}

const fallbacksText = (fallbacks: PlanOutcome['fallbacks']) =>
  fallbacks.map(({ column, rows }) => `${shortened(column, 40)}: ${counted(rows, 'row')}`).join(', ');

const suppressedRows = (suppressed: Findings['suppressed']): Row[] => {
  const text = suppressed === null ? '' : suppressedText(suppressed);
  return text === '' ? [] : [['Suppressed', text]];
};

function suppressedText(suppressed: Suppressed): string {
  if ('unknown' in suppressed) {
    const why = suppressed.unknown === 'too_many' ? 'too many recipients' : wordsOfStop(suppressed.unknown);
    return `not counted (${why}); the service skips anyone on its do-not-send list`;
  }
  const { recipients, of, credits } = suppressed;
  if (recipients === 0) return '';
  const are = recipients === 1 ? 'is' : 'are';
  const back = credits === 0 ? '' : ` (${counted(credits, 'credit')} come back)`;
  return `${grouped(recipients)} of ${grouped(of)} ${are} on the do-not-send list and will be left out${back}`;
}

const replacedText = (messages: number) =>
  `quotes, dashes or blanks in ${counted(messages, 'message')} (--gsm)`;

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

function creditsText(preflight: Preflight, paid: Paid, isForbidden: boolean): string {
  const left = creditsLeft(preflight, paid);
  const { balance } = preflight;
  if (left === null && balance === null)
    return `Cost and balance unknown${isForbidden ? ': this key cannot read them' : ''}`;
  if (left === null) return `Cost unknown; the balance is ${grouped(balance ?? 0)}`;
  const doubt = paid.inDoubt === 0 ? '' : ` (${grouped(paid.inDoubt)} may be paid already)`;
  const cost = `${grouped(left)}${doubt}`;
  if (balance === null) return `${cost}; the balance is unknown`;
  const missing = creditsMissing(preflight, paid);
  return `${cost} of ${grouped(balance)}${missing === 0 ? '' : `: ${grouped(missing)} missing`}`;
}
