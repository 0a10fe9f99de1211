import type { Command, Option } from 'commander';
import { type ReceiptStatus, receiptStatuses } from '../../bulk/results/receipts.js';
import { usageError } from '../../errors.js';
import { readDuration } from '../../input/duration.js';
import { readChoice, readCount } from '../../options.js';

/** What says how a job is carried out, now or at a resume. */
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
  /** What a job that was finished before ends with. */
  ifFinished: 'refuse' | 'ok';
  /** The API key in use is of the project that the job was started in. */
  sameProject?: boolean;
}

export const carryOutDefaults = { concurrency: 8, maxWait: 600_000, waitTimeout: 600_000 } as const;

/** What makes a job of a file. */
export interface BulkOptions extends CarryOutOptions {
  text?: string;
  textFile?: string;
  subject?: string;
  html?: string;
  htmlFile?: string;
  fromName?: string;
  replyTo?: string;
  toColumn?: string;
  encoding?: string;
  delimiter?: string;
  headerless?: boolean;
  sheet?: string;
  only?: ReceiptStatus[];
  allowRepeats?: boolean;
  skipInvalid?: boolean;
  rejects?: string;
  job?: string;
  again?: boolean;
  allowPartial?: boolean;
  skipSent?: boolean;
  dryRun?: boolean;
}

export function addCarryOutOptions(command: Command): Command {
  return command
    .option('--max-credits <n>', 'spend no more than this', readCount)
    .addOption(
      tenMinutes(
        command,
        '--max-wait <duration>',
        'how long one request is tried; --max-retries does not count',
      ),
    )
    .option('--concurrency <n>', 'requests in flight at once', readConcurrency, carryOutDefaults.concurrency)
    .option('--rate <n>', 'requests a second, where the project allows more or should have less', readRate)
    .option(
      '--retry-failed',
      'send singles that the operator did not take once more; for others: --only failed',
    )
    .option('--wait', 'wait until every message is sent or failed')
    .addOption(
      tenMinutes(command, '--wait-timeout <duration>', 'how long --wait waits once everything is sent'),
    )
    .option('--report <file>', 'write what became of every row to a CSV file')
    .addOption(
      command
        .createOption(
          '--if-finished <how>',
          'what a job that had finished before ends with: refuse (11), ok (0, or 3 and 9 with failures)',
        )
        .argParser(readChoice('refuse', 'ok'))
        .default('refuse'),
    )
    .option('--same-project', 'go on with another API key of the same project');
}

function tenMinutes(command: Command, flags: string, description: string): Option {
  return command.createOption(flags, description).argParser(readDuration).default(carryOutDefaults.maxWait);
}

export function addInputOptions(command: Command): Command {
  return command
    .option('--to-column <name>', 'the column with the recipients; known names are found without it')
    .option('--encoding <name>', 'of a file that is neither UTF-8 nor UTF-16, such as windows-1251')
    .option('--delimiter <mark>', 'comma, semicolon, tab or pipe; found without it')
    .option('--headerless', 'the file is a bare list without column names')
    .option('--sheet <name>', 'the sheet of an Excel workbook; needed only when several have rows')
    .option(
      '--only <statuses>',
      'only rows with one of these in their status column, as a report has it',
      readStatuses,
    )
    .option('--allow-repeats', 'send a recipient each of its different messages')
    .option('--skip-invalid', 'send the good rows although there are bad ones')
    .option('--rejects <file>', 'where bad rows are written')
    .option('--job <name>', 'name the job; by default the file and message name it')
    .option('--again', 'send a finished job to everyone again')
    .option('--skip-sent', 'leave out who got the same message in the last 7 days')
    .option('--allow-partial', 'send as far as the balance goes when it is too low for everyone')
    .option('--dry-run', 'show what would be sent and what it costs; send nothing');
}

function readConcurrency(written: string): number {
  const value = readCount(written);
  if (value < 1 || value > 256) throw usageError(`'${written}' is not between 1 and 256`);
  return value;
}

function readRate(written: string): number {
  const value = Number(written);
  if (!(value > 0 && value <= 100_000)) throw usageError(`'${written}' is no number of requests a second`);
  return value;
}

function readStatuses(written: string): ReceiptStatus[] {
  return written.split(',').map((each) => {
    const status = receiptStatuses.find((name) => name === each.trim());
    if (status === 'in_doubt') {
      throw usageError(
        'what is in doubt cannot be chosen: as a new job it could be sent twice',
        'Only its own job can settle it: urtuu jobs resume',
      );
    }
    if (status === undefined) throw usageError(`there is no status '${each.trim()}'`);
    return status;
  });
}
