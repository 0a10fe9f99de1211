import type { Channel } from '../../../../contract/index.js';
import { viewJob } from '../../../bulk/job/open-job.js';
import type { MessageTemplates } from '../../../bulk/plan/composer.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { inputError, refusedError, usageError } from '../../../errors.js';
import { refuseOtherService } from '../base-url.js';
import { checkKey } from '../confirm/account.js';
import { type BulkOptions, isOnPurpose } from '../options.js';

/**
 * What `--like` does with an option: `kept` takes over its value; a `text` comes from the job's templates; the `limit` is
 * what the job and those like it leave of it; `own` is about one list, one run or one job.
 */
export const likeOf = {
  text: 'text',
  textFile: 'text',
  html: 'text',
  htmlFile: 'text',
  subject: 'text',
  fromName: 'text',
  replyTo: 'text',
  gsm: 'kept',
  toColumn: 'kept',
  // Without these, others would get the messages.
  where: 'kept',
  exclude: 'kept',
  excludeColumn: 'kept',
  allowRepeats: 'kept',
  skipInvalid: 'kept',
  skipSent: 'kept',
  allowPartial: 'kept',
  rate: 'kept',
  concurrency: 'kept',
  maxWait: 'kept',
  wait: 'kept',
  waitTimeout: 'kept',
  maxCredits: 'limit',
  // Another list has another form.
  encoding: 'own',
  delimiter: 'own',
  headerless: 'own',
  headerRow: 'own',
  sheet: 'own',
  visibleOnly: 'own',
  // These files contain the rows of one run.
  report: 'own',
  rejects: 'own',
  only: 'own',
  first: 'own',
  acceptDuplicates: 'own',
  // These are decided for one job.
  job: 'own',
  like: 'own',
  again: 'own',
  retryFailed: 'own',
  ifFinished: 'own',
  sameProject: 'own',
  dryRun: 'own',
  proof: 'own',
  proofRow: 'own',
  hold: 'own',
} as const satisfies Record<keyof BulkOptions, 'kept' | 'text' | 'limit' | 'own'>;

/** The options that a plan keeps for `--like`. */
export const keptOf = (options: Partial<BulkOptions>): Partial<BulkOptions> =>
  Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => value !== undefined && likeOf[name as keyof typeof likeOf] === 'kept',
    ),
  );

/** The job that a new one is like. */
export interface Source {
  templates: MessageTemplates;
  /** The job, and those that it is like. */
  jobs: NonNullable<PlanMeta['like']>;
  /** Whether the limit is theirs, and not given. */
  sharesLimit: boolean;
  /** The path of its list, or `-`, if `--first` left some of it for later. */
  restOf?: string | undefined;
}

/** A command with the options of `--like`; `source` is null without it. */
export interface Likened {
  options: BulkOptions;
  source: Source | null;
}

/**
 * Takes over the options of the job that `--like` names, except those that are typed. Throws CliError: exit 8 for a job
 * without them, 11 for one of another channel, service or project, 12 if there is none.
 */
export async function likened(
  context: Pick<Context, 'io' | 'config' | 'network' | 'signal'>,
  channel: Channel,
  given: BulkOptions,
  isTyped: (name: string) => boolean,
): Promise<Likened> {
  if (given.like === undefined) return { options: given, source: null };
  const { stateDirectory } = context.config;
  const job = await viewJob(stateDirectory, given.like);
  const { id, meta } = job;
  if (meta.channel !== channel) throw otherChannel(id, meta.channel);
  const { templates } = meta;
  if (templates === undefined || Object.keys(templates).length === 0) throw withoutTexts(id);
  await refuseOtherService(context, job);
  await checkKey(context, job, given);
  const typed = Object.entries(given).filter(([name]) => isTyped(name));
  const kept = keptOf(meta.options ?? {});
  if (isTyped('exclude')) delete kept.excludeColumn;
  else if (kept.exclude === '-') throw unnamedList(id);
  // Both are refused together.
  if (given.again || isOnPurpose(given.only)) delete kept.skipSent;
  return {
    options: { ...given, ...kept, ...Object.fromEntries(typed) },
    source: {
      templates,
      jobs: [{ job: id, digest: meta.digest }, ...(meta.like ?? [])],
      sharesLimit: given.maxCredits === undefined,
      restOf: meta.rest === undefined ? undefined : (meta.path ?? meta.source),
    },
  };
}

/** Typed texts replace those of the source; a typed text or HTML replaces both, which say the same. */
export function likenedTemplates(typed: MessageTemplates, source: Source | null): MessageTemplates {
  if (source === null) return typed;
  const { text, html, ...rest } = source.templates;
  const hasBody = typed.text !== undefined || typed.html !== undefined;
  const given = Object.entries(typed).filter(([, value]) => value !== undefined);
  return { ...rest, ...(hasBody ? {} : { text, html }), ...Object.fromEntries(given) };
}

const withoutTexts = (id: string) =>
  inputError(
    `the job ${id} was planned by an earlier version, which kept no texts`,
    'Nothing was sent. Without --like, give the texts and options again.',
  );

const unnamedList = (id: string) =>
  usageError(
    `the job ${id} read the recipients to leave out from standard input`,
    'Nothing was sent. Give them again: --exclude FILE.',
  );

const otherChannel = (id: string, channel: Channel) =>
  refusedError(
    'other_channel',
    `the job ${id} sends ${channel === 'sms' ? 'SMS' : 'email'}`,
    `Nothing was sent. Use it with ${channel} bulk, or name another job.`,
    { job: id },
  );
