import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { isAbsolute, parse, resolve } from 'node:path';
import type { Channel, Pricing } from '../../../contract/index.js';
import { delimiterNamed } from '../../bulk/input/delimiter.js';
import { jobIdOf, newRunId } from '../../bulk/job/keys.js';
import { folderForPlan, type Job, type JobView, jobIds, openJobOf } from '../../bulk/job/open-job.js';
import { buildPlan, type PlanOutcome } from '../../bulk/plan/build-plan.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { SentIndex } from '../../bulk/plan/sent-index.js';
import { summaryView } from '../../bulk/results/summary.js';
import { readError } from '../../bulk/send/answer.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { required, type Wanted } from '../../input/required.js';
import { readText } from '../../input/text.js';
import type { View } from '../../output/view.js';
import { visible } from '../../terminal/sanitise.js';
import { counted, grouped } from '../../wording.js';
import { accountNow } from './account.js';
import { askAboutInput } from './ask-about-input.js';
import { agree } from './confirm.js';
import { type LeftOut, resumeOf } from './next-command.js';
import { notKept } from './not-kept.js';
import type { BulkOptions } from './options.js';
import { type Preflight, preflightLines, preflightOf, preflightView } from './preflight.js';
import { rejectsPlaceIn, tellRejects } from './rejected-rows.js';
import { keepTaken, rowsToTake } from './reported-rows.js';
import { refuseSameFile } from './same-file.js';
import {
  countOf,
  endAllSent,
  isAllSent,
  refuseOpen,
  sentBefore,
  sentSince,
  tellFailed,
} from './sent-before.js';
import { stillToPay } from './still-to-pay.js';

/** What a bulk command shows. */
export const bulkView = ({ dryRun }: Record<string, unknown>): View<never> =>
  (dryRun ? preflightView : summaryView) as View<never>;

/** The base URL that a plan is made for and a job sends to. */
export async function baseUrlOf(context: Context): Promise<string> {
  return context.config.sandbox ? sandboxBaseUrl : (await context.config.settings()).baseUrl;
}

/** A job that may be sent, and the rows that were left out of it. */
export interface Started {
  job: Job;
  leftOut: LeftOut | null;
}

/**
 * Reads the file, freezes the plan, shows what would be sent and asks. Gives the job, which nobody else
 * works on; null after `--dry-run`, which leaves nothing behind.
 */
export async function startJob(
  context: Context,
  channel: Channel,
  given: string | undefined,
  options: BulkOptions,
): Promise<Started | null> {
  await context.io.files.checkWritable(options.report, options.rejects);
  const { file, templates } = await complete(context, channel, given, options);
  refuseSameFile(context.config, file, options);
  const client = await context.network.client();
  const pricing = await optional(() => client.pricing.get());
  const { stateDirectory } = context.config;
  const unique = `${process.pid}-${Math.floor(context.network.random() * 2 ** 32).toString(36)}`;
  const wish = { channel, file, name: options.job };
  const folder = await folderForPlan(stateDirectory, unique, context.clock.now()).catch(async (error) => {
    throw await notKept(context, error, wish);
  });
  try {
    const wanted = { channel, baseUrl: await baseUrlOf(context), name: options.job };
    const recent = await sentBefore(context, wanted, options);
    const made = { templates, pricing, folder, recent };
    const outcome = await plan(context, channel, file, options, made);
    tellInput(context, outcome);
    const { plan: frozen } = outcome;
    if (options.skipSent) tellFailed(context, recent);
    if (frozen === null && isAllSent(outcome)) return endAllSent(context, outcome, recent, options);
    if (frozen === null) throw refuseBadRows(outcome);
    // The same plan is the same job, which says itself what it has sent.
    const known = await jobIds(stateDirectory);
    const taken = await rowsToTake(context, outcome.origins, options.again ?? false);
    const isKnown = known.includes(jobIdOf(frozen.meta));
    const met = isKnown ? null : (recent?.met ?? (await sentSince(context, wanted, outcome, options)));
    const skipped = options.skipSent ?? false;
    const before = { sentBefore: met === null ? 0 : countOf(met, skipped), skipped };
    const named = options.job !== undefined;
    const balance = (await optional(() => client.balance.get()))?.balance ?? null;
    const money = { priced: pricing !== null, balance };
    if (options.dryRun) {
      const id = options.job ?? jobIdOf(frozen.meta);
      const still = { requests: frozen.meta.requests, spent: 0, rate: options.rate };
      const preflight = preflightOf(id, frozen.meta, money, still, outcome, before);
      await printPreflight(context, preflight, preflightLines(preflight, outcome.repairs, still));
      return null;
    }
    const isNew = !known.includes(options.job ?? '');
    if (met !== null && (!named || (skipped && isNew))) refuseOpen(context, met);
    await keepTaken(frozen.folder, taken);
    const goOn = (job: JobView) => resumeOf(context, job);
    const job = await openJobOf(stateDirectory, frozen, { name: options.job, again: options.again, goOn });
    try {
      const spent = job.plan.meta.credits - (await stillToPay(job, frozen.meta, options));
      const still = { requests: job.table.open, spent, rate: options.rate };
      const preflight = preflightOf(job.id, job.plan.meta, money, still, outcome, before);
      const lines = preflightLines(preflight, outcome.repairs, still);
      const repeated = named || before.skipped ? 0 : before.sentBefore;
      await agree(context, job, { preflight, lines, spent: still.spent, repeated }, options);
      const { file: rejects } = outcome.rejects;
      const leftOut = rejects === null ? null : { channel, file: rejects, templates, options };
      return { job, leftOut };
    } catch (error) {
      if (job.table.untouched) await job.discard().catch(({ message }) => context.io.warn(message));
      else await job.close();
      throw error;
    }
  } catch (error) {
    throw await notKept(context, error, wish);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function templatesOf(context: Context, options: BulkOptions): Promise<MessageTemplates> {
  const text = { value: options.text, file: options.textFile, name: '--text', fileOption: '--text-file' };
  const html = { value: options.html, file: options.htmlFile, name: '--html', fileOption: '--html-file' };
  return {
    text: await readText(context.io.files, text),
    html: await readText(context.io.files, html),
    subject: options.subject,
    fromName: options.fromName,
    replyTo: options.replyTo,
  };
}

/** What no job can do without is asked for where there is a terminal; elsewhere an error names all of it. */
async function complete(
  context: Context,
  channel: Channel,
  given: string | undefined,
  options: BulkOptions,
): Promise<{ file: string; templates: MessageTemplates }> {
  const templates = await templatesOf(context, options);
  const { text, html, subject } = templates;
  const wanted: Record<string, Wanted> = { file: { value: given, name: '<file>', question: 'CSV file:' } };
  if (channel === 'email') wanted.subject = { value: subject, name: '--subject', question: 'Subject:' };
  if (html === undefined) {
    const name = channel === 'sms' ? '--text' : '--text or --html';
    wanted.text = { value: text, name, question: 'Text:' };
  }
  const agreed = context.options.yes || options.dryRun || context.io.canPrompt;
  // Alone it is missed only after the preflight, which it answers.
  if (!agreed && Object.values(wanted).some(({ value }) => value === undefined)) {
    wanted.agreed = { value: undefined, name: '--yes or --dry-run', question: '' };
  }
  const { file = '', agreed: _, ...rest } = await required(context.io, wanted);
  return { file, templates: { ...templates, ...rest } };
}

/** What a plan is made of, besides the file and the options. */
interface Made {
  templates: MessageTemplates;
  pricing: Pricing | null;
  folder: string;
  recent: SentIndex | null;
}

async function plan(
  context: Context,
  channel: Channel,
  file: string,
  options: BulkOptions,
  { recent, ...made }: Made,
): Promise<PlanOutcome> {
  const delimiter = options.delimiter === undefined ? undefined : delimiterNamed(options.delimiter);
  if (delimiter === null) throw usageError(`'${options.delimiter}' is no delimiter`);
  try {
    const outcome = await context.io.withProgress('Reading the file', async () =>
      buildPlan(
        { bytes: context.io.files.bytes(file), source: file },
        {
          ...made,
          channel,
          baseUrl: await baseUrlOf(context),
          createdAt: new Date(context.clock.now()).toISOString(),
          toColumn: options.toColumn,
          encoding: options.encoding,
          delimiter,
          run: options.again ? newRunId() : null,
          account: await accountNow(context),
          headerless: options.headerless,
          sheet: options.sheet,
          only: options.only,
          allowRepeats: options.allowRepeats,
          skipInvalid: options.skipInvalid,
          sentBefore: recent === null ? null : { index: recent, skip: options.skipSent ?? false },
          rejects: rejectsPlace(context, file, options),
          signal: context.signal,
        },
      ),
    );
    if (options.rejects !== undefined && outcome.rejects.file !== null) {
      await context.io.files.write(options.rejects, createReadStream(outcome.rejects.file, 'utf8'));
      const { rejects } = options;
      outcome.rejects.file = isAbsolute(rejects) ? rejects : resolve(context.config.cwd, rejects);
    }
    return outcome;
  } catch (error) {
    const answer = await askAboutInput(context, error, file, options);
    return plan(context, channel, file, { ...options, ...answer }, { recent, ...made });
  }
}

/** A person's own choice is written from what the plan's folder has. */
function rejectsPlace(context: Context, file: string, { rejects, job }: BulkOptions) {
  if (rejects !== undefined) return undefined;
  const name = job ?? (file === '-' ? 'stdin' : parse(file).name);
  return rejectsPlaceIn(context.config.stateDirectory, name, context.clock.now());
}

/** What was found in the file that a person should know of. */
function tellInput(
  context: Context,
  { plan, rejects, notChosen, delimiter, sheet, hiddenRows, meta, toColumn }: PlanOutcome,
): void {
  tellRejects(context, rejects, toColumn);
  if (notChosen > 0) context.io.note(`--only leaves out ${counted(notChosen, 'row')}`);
  if (hiddenRows > 0)
    context.io.warn(
      `the sheet ${sheet} has ${counted(hiddenRows, 'hidden row')}, which ${hiddenRows === 1 ? 'is' : 'are'} read like the others`,
    );
  // The preflight says it where there is one.
  if (plan === null && delimiter !== ',' && meta.columns.length > 1)
    context.io.note(`The delimiter is ${JSON.stringify(delimiter)}`);
}

function refuseBadRows({ meta, rejects }: PlanOutcome): CliError {
  const all = meta.rejected + meta.recipients + meta.merged;
  const rows = `${grouped(meta.rejected)} of ${counted(all, 'row')} cannot be sent`;
  return new CliError('bad_rows', exits.input, `${rows}; nothing was sent`, {
    hint: `They are in ${rejects.file}. Fix them, or send the others with --skip-invalid.`,
    details: { rejected: meta.rejected, rejects_file: rejects.file },
  });
}

/** With --dry-run: the same block for people, and figures for programs. */
async function printPreflight(context: Context, preflight: Preflight, lines: string[]): Promise<void> {
  const { options } = context;
  const { printer } = context.io;
  if (printer.isMachine || options.columns !== undefined) return context.io.print(preflightView, preflight);
  await printer.text(lines.map((line) => `${visible(line)}\n`).join(''));
}

/** What is nice to know: null when the service does not say. A wrong key is told at once. */
async function optional<T>(read: () => Promise<T>): Promise<T | null> {
  for (let tries = 1; tries <= 3; tries += 1) {
    try {
      return await read();
    } catch (error) {
      const answer = readError(error);
      if (answer.kind === 'refusal' && answer.status === 401) throw error;
      if (answer.kind === 'refusal') return null;
    }
  }
  return null;
}

/** A job goes on only at the service that its plan was made for: elsewhere its keys mean nothing. */
export async function refuseOtherService(context: Context, job: Job): Promise<void> {
  const [planned, here] = [job.plan.meta.baseUrl, await baseUrlOf(context)];
  if (planned === here) return;
  throw new CliError('other_service', exits.refused, `the job ${job.id} is for ${planned}, this is ${here}`, {
    hint: 'Choose the --profile, --base-url or --sandbox that it was started with.',
    details: { job: job.id, base_url: planned },
  });
}
