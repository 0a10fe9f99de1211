import { type Command, InvalidArgumentError, type Option } from 'commander';
import { type Delimiter, delimiterNamed } from '../../bulk/input/delimiter.js';
import { type ReceiptStatus, receiptStatuses } from '../../bulk/results/receipt-columns.js';
import { usageError } from '../../errors.js';
import { readDuration } from '../../input/duration.js';
import { readChoice, readCount } from '../../options.js';

/** Options of sending a job, for the first time or when it is resumed. */
export interface CarryOutOptions {
  concurrency: number;
  /** Milliseconds. */
  maxWait: number;
  maxCredits?: number;
  rate?: number;
  retryFailed?: boolean;
  wait?: boolean;
  /** Milliseconds. */
  waitTimeout: number;
  report?: string;
  ifFinished: 'refuse' | 'ok';
  sameProject?: boolean;
}

export const carryOutDefaults = { concurrency: 8, maxWait: 600_000, waitTimeout: 600_000 } as const;

/** A value of `--only`. */
export type Selected = ReceiptStatus | 'undelivered' | 'unknown';

/** Options of planning a file and sending it. */
export interface BulkOptions extends CarryOutOptions {
  text?: string;
  textFile?: string;
  subject?: string;
  html?: string;
  htmlFile?: string;
  fromName?: string;
  replyTo?: string;
  gsm?: boolean;
  toColumn?: string;
  encoding?: string;
  delimiter?: string;
  headerless?: boolean;
  headerRow?: number;
  visibleOnly?: boolean;
  sheet?: string;
  where?: string[];
  exclude?: string;
  excludeColumn?: string;
  first?: number;
  only?: Selected[];
  acceptDuplicates?: boolean;
  allowRepeats?: boolean;
  skipInvalid?: boolean;
  rejects?: string;
  job?: string;
  like?: string;
  again?: boolean;
  allowPartial?: boolean;
  skipSent?: boolean;
  dryRun?: boolean;
  proof?: string;
  proofRow?: number;
  hold?: boolean;
}

/** `isRetry`: for a job of failed messages, which does not retry its own. */
export function addCarryOutOptions(command: Command, { isRetry = false } = {}): Command {
  command
    .optionsGroup('Sending:')
    .option('--max-credits <n>', 'spend at most this many credits', readCount)
    .addOption(
      tenMinutes(command, '--max-wait <duration>', 'try one request for this long; replaces --max-retries'),
    )
    .option(
      '--concurrency <n>',
      'send up to this many requests at once',
      readConcurrency,
      carryOutDefaults.concurrency,
    )
    .option('--rate <n>', 'send up to this many requests a second', readRate);
  if (!isRetry)
    command.option(
      '--retry-failed',
      'once the job is finished, send its failed messages again: see jobs retry',
    );
  command
    .optionsGroup('Outcome:')
    .option('--wait', 'wait until every message is sent or failed')
    .addOption(tenMinutes(command, '--wait-timeout <duration>', 'stop waiting after this long'))
    .option(
      '--report <file>',
      'write the outcome of every row to a CSV file, or to a workbook if it ends in .xlsx',
    );
  return command
    .addOption(
      command
        .createOption(
          '--if-finished <how>',
          'exit code for a finished job: refuse (11), or ok (0; 3 or 9 with failures)',
        )
        .argParser(readChoice('refuse', 'ok'))
        .default('refuse'),
    )
    .option('--same-project', 'resume with another API key of the same project');
}

function tenMinutes(command: Command, flags: string, description: string): Option {
  return command.createOption(flags, description).argParser(readDuration).default(carryOutDefaults.maxWait);
}

export function addInputOptions(command: Command): Command {
  return command
    .optionsGroup('List:')
    .option('--to-column <name>', 'recipient column (default: detected by its name)')
    .option('--encoding <name>', 'encoding of the file, such as windows-1251 (default: UTF-8 or UTF-16)')
    .option('--delimiter <mark>', 'comma, semicolon, tab or pipe (default: detected)')
    .option('--headerless', 'the file has no header')
    .option('--header-row <n>', 'row with the column names (default: the first)', readRowNumber)
    .option('--sheet <name>', 'sheet of an Excel workbook (default: the only one with rows)')
    .option('--visible-only', 'skip hidden rows of an Excel workbook, such as filtered ones')
    .option(
      '--where <condition>',
      'send only the rows where column=value, or column!=value; repeatable',
      readConditions,
    )
    .option('--exclude <file>', 'leave out the recipients of another list')
    .option('--exclude-column <name>', 'recipient column of that list (default: detected by its name)')
    .option('--first <n>', 'send only to the first n recipients who are left', readFirst)
    .option(
      '--only <statuses>',
      'send only the rows of a report with these statuses, such as failed,pending; or undelivered, unknown',
      readStatuses,
    )
    .option('--accept-duplicates', 'with --only unknown: some may get the message twice')
    .option('--allow-repeats', 'send a recipient several messages if they differ')
    .option('--skip-invalid', 'send the valid rows even if others are invalid')
    .option('--rejects <file>', 'write the invalid rows to this CSV file (default: beside the list)')
    .optionsGroup('Job:')
    .option('--job <name>', 'job name (default: derived from the file and the message)')
    .option('--like <job>', 'reuse the texts and options of an earlier job, except those set here')
    .option('--again', 'send a finished job to everyone again')
    .option('--skip-sent', 'skip recipients who were sent the same message by a job here in the last 7 days')
    .option('--allow-partial', 'if the balance is too low, send as far as it goes')
    .option('--dry-run', 'show the messages and the price without sending')
    .option('--proof <recipient>', 'send only the first and the longest message, and only to this recipient')
    .option('--proof-row <n>', 'with --proof, send the message of this row instead', readRowNumber)
    .option('--hold', 'plan and save the job without sending; jobs resume --plan sends it');
}

function readConcurrency(written: string): number {
  const value = readCount(written);
  if (value < 1 || value > 256) throw new InvalidArgumentError(`'${written}' is not between 1 and 256`);
  return value;
}

function readRowNumber(written: string): number {
  const value = readCount(written);
  if (value < 1) throw new InvalidArgumentError('rows are counted from 1');
  return value;
}

function readFirst(written: string): number {
  const value = readCount(written);
  if (value < 1) throw new InvalidArgumentError('it is at least 1');
  return value;
}

function readConditions(written: string, before: readonly string[] = []): string[] {
  const [column = '', value] = written.split(/!?=/);
  if (column.trim() !== '' && value !== undefined) return [...before, written];
  throw new InvalidArgumentError(`'${written}' is neither column=value nor column!=value`);
}

function readRate(written: string): number {
  const value = Number(written);
  if (!(value > 0 && value <= 100_000))
    throw new InvalidArgumentError(`'${written}' is not a rate: write a number over 0, up to 100000`);
  return value;
}

const selectable: readonly Selected[] = [...receiptStatuses, 'undelivered', 'unknown'];
/** Rows that only their own job, or another job, may send again. */
const notSelectable: Partial<Record<Selected, readonly [message: string, hint: string]>> = {
  in_doubt: [
    '--only in_doubt is not possible: a new job could send the rows twice',
    'Resume their job instead. See: `urtuu jobs list`',
  ],
  suppressed: [
    '--only suppressed is not possible: they are on the do-not-send list of the service',
    'Once they are off it, send the list again with --skip-sent and another --job name.',
  ],
  moved: [
    '--only moved is not possible: another job took the rows',
    'Use the report of that job, which error_code names.',
  ],
};

function readStatuses(written: string): Selected[] {
  return written.split(',').map((each) => {
    const status = selectable.find((name) => name === each.trim());
    const refusal = status && notSelectable[status];
    if (refusal !== undefined) throw usageError(...refusal);
    if (status === undefined) {
      const known = selectable.filter((name) => notSelectable[name] === undefined).join(', ');
      throw usageError(`unknown status '${each.trim()}'`, `The statuses are ${known}.`);
    }
    return status;
  });
}

/** The rows of a report that were not sent. */
export const selectsUnsent = (only: BulkOptions['only']) =>
  only !== undefined && !only.includes('sent') && !only.includes('queued');

/**
 * A report knows more than the jobs, so its unsent rows are sent on purpose. But a rejected row was fixed, perhaps to
 * the recipient of another row.
 */
export const isOnPurpose = (only: BulkOptions['only']) =>
  selectsUnsent(only) && only?.some((each) => each !== 'rejected') === true;

/** Throws CliError (exit 2) for an unknown one. */
export function delimiterOf({ delimiter }: BulkOptions): Delimiter | undefined {
  const known = delimiter === undefined ? undefined : delimiterNamed(delimiter);
  if (known !== null) return known;
  throw usageError(`unknown delimiter '${delimiter}'`, 'Use comma, semicolon, tab or pipe.');
}
