import type { Job } from '../../../bulk/job/open-job.js';
import { summaryOf } from '../../../bulk/results/summary.js';
import type { Context } from '../../../context.js';
import { CliError, Ended } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { localTime } from '../../../output/cells.js';
import { counted, grouped } from '../../../text/wording.js';
import { isForeign } from '../confirm/account.js';
import {
  attachFinalDoubt,
  exitOfJob,
  exitWithReport,
  exitWithRows,
  type Reported,
} from '../finish/outcome.js';
import { stepsAfter } from '../finish/outcome-step.js';
import { report } from '../finish/report.js';
import { summaryView } from '../finish/summary-view.js';
import { openJobRuntime } from '../job-runtime.js';
import { inOne, type JobInput, keptOptions, reportCommand, resumeCommand } from '../next-command.js';
import type { CarryOutOptions } from '../options.js';

/** Whether a job has nothing left to do with these options. */
export function isDone({ state }: Job, { retryFailed, wait }: CarryOutOptions): boolean {
  return state.finished && !(retryFailed && state.has('failed')) && !(wait && !state.final);
}

/** Throws CliError (exit 11) unless `--if-finished ok` was given. */
export async function endFinished(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  input: JobInput | null,
): Promise<void> {
  const { id, plan, state, journal } = job;
  const foreign = !options.sameProject && (await isForeign(context, job));
  if (options.ifFinished !== 'ok' || foreign) {
    throw state.ranElsewhere && !foreign ? ranElsewhere(job) : alreadyDone(context, job, options, foreign);
  }
  const reported = await reportFinished(context, job, options);
  const ended = exitOfJob(state, { stopped: null, waited: null }, { ranElsewhere: 'ok' });
  const exit = exitWithReport(exitWithRows(ended, input), reported);
  // The balance of that time says nothing about now.
  const summary = { ...(await summaryOf(id, plan.meta, state, journal)), balance: null };
  await context.io.print(summaryView, { ...summary, exit });
  const { unknown, in_doubt: doubt } = state.counts;
  const open = [
    ...(unknown > 0 ? [`${grouped(unknown)} unknown`] : []),
    ...(doubt > 0 ? [`${grouped(doubt)} in doubt`] : []),
  ];
  const withOpen = open.length > 0 ? ` with ${open.join(' and ')}` : '';
  const said = `The job ${id} finished before${withOpen}; nothing was sent this time.`;
  if (exit === exits.ok) return context.io.note(said);
  const ending = { stopped: null, waited: null };
  const [next] = stepsAfter(context, job, options, ending, input);
  attachFinalDoubt(context, state, exit);
  context.io.conclude(said, next);
  throw new Ended(exit);
}

/** Also writes the report of a finished job, since the file may be from another run. */
async function reportFinished(context: Context, job: Job, options: CarryOutOptions): Promise<Reported> {
  if (options.report === undefined) return 'written';
  const runtime = await openJobRuntime(context, options);
  try {
    return await report(context, job, options.report, {
      runtime,
      timeout: options.waitTimeout,
      warn: (...line) => context.io.warn(...inOne(line)),
    });
  } finally {
    runtime.close();
  }
}

/** Exit 11 for a finished job; the hint has the commands that send again. */
function alreadyDone(
  context: Context,
  { id, state }: Job,
  options: CarryOutOptions,
  foreign: boolean,
): CliError {
  const { counts, ended } = state;
  const doubt = counts.in_doubt > 0 ? `, ${grouped(counts.in_doubt)} in doubt` : '';
  const at = ended === null ? '' : ` at ${localTime(ended.at)}`;
  const under = foreign ? ', under another API key' : '';
  return new CliError('job_done', exits.refused, `the job ${id} finished${at}${under}`, {
    hint: [
      `${grouped(counts.accepted)} of ${grouped(counts.planned)} were accepted${doubt}, and nothing was sent this time.`,
      ...(foreign ? [] : movedHint(context, state)),
      ...(foreign || doubt === ''
        ? []
        : [`Its report names those in doubt (${reportCommand(context, id)}).`]),
      doubt === ''
        ? 'To send to everyone again, add --again to the bulk command.'
        : 'To send to everyone again, also to those who got it, add --again to the bulk command.',
      ...(foreign ? [] : failedHint(context, { id, state }, options)),
    ].join(' '),
    details: { job: id, ended_at: ended?.at ?? null, ...counts },
  });
}

function failedHint(
  context: Context,
  { id, state }: Pick<Job, 'id' | 'state'>,
  options: CarryOutOptions,
): string[] {
  if (state.counts.failed === 0) return [];
  const failed = counted(state.counts.failed, 'failed message');
  if (state.has('failed')) {
    const retry = resumeCommand(context, id, { ...keptOptions(options), '--retry-failed': true });
    return [`To try only the ${failed} again: ${retry}`];
  }
  return [
    `To send to the ${failed} only, use --only failed with the report of: ${reportCommand(context, id)}`,
  ];
}

function movedHint({ config }: Context, { counts, movedTo }: Job['state']): string[] {
  const [job] = movedTo;
  if (job === undefined) return [];
  return [
    `${grouped(counts.moved)} moved to ${movedTo.join(' or ')} (${config.commandLine(['jobs', 'show', job])}).`,
  ];
}

/** Exit 11 for a job whose acceptances all repeat earlier ones. */
export function ranElsewhere({ id, state }: Job): CliError {
  const at = state.ranAt === null ? '' : ` at ${localTime(state.ranAt)}`;
  return new CliError(
    'job_done',
    exits.refused,
    `the job ${id} already ran${at}, elsewhere or before its record was lost; nothing new was sent`,
    {
      hint: 'To exit with 0, add --if-finished ok; to send to everyone again, add --again to the bulk command.',
      details: { job: id, ended_at: state.ranAt, ...state.counts },
    },
  );
}
