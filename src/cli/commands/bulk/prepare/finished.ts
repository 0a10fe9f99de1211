import type { Job } from '../../../bulk/job/open-job.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import { summaryOf } from '../../../bulk/results/summary.js';
import type { Context } from '../../../context.js';
import { type CliError, Ended, refusedError, refusedSend } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { localTime } from '../../../output/cells.js';
import { counted, grouped } from '../../../text/wording.js';
import { isForeign } from '../confirm/account.js';
import { conclude, endWith } from '../finish/conclude.js';
import { writeReport } from '../finish/report.js';
import { summaryView } from '../finish/summary-view.js';
import { type JobInput, keptOptions, reportCommand, retryCommand } from '../next-command.js';
import { laterStep, stepsAfter } from '../next-steps.js';
import type { BulkOptions, CarryOutOptions } from '../options.js';
import { judgeJob, notRun } from '../verdict.js';
import { lately } from './earlier-sends.js';
import type { PlanSource } from './plan-list.js';
import type { Comparison } from './sent-before.js';

/** Whether a job has nothing left to do with these options. */
export function isDone({ state }: Job, { wait }: CarryOutOptions): boolean {
  return state.finished && !(wait && !state.final);
}

/** Throws CliError (exit 11) unless `--if-finished ok` was given. */
export async function endFinished(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  input: JobInput | null,
): Promise<void> {
  const { id, state } = job;
  const foreign = !options.sameProject && (await isForeign(context, job));
  if (options.ifFinished !== 'ok' || foreign) {
    throw state.ranElsewhere && !foreign
      ? ranElsewhere(job)
      : alreadyDone(context, { job, options, input }, foreign);
  }
  // The file may be from another run.
  const reported = await writeReport(context, job, options);
  const facts = { allowsReplays: true, leftOut: input?.leftOut, reported, finishedBefore: id };
  const verdict = judgeJob(state, notRun, facts);
  // The balance of that time says nothing about now.
  const summary = { ...summaryOf(job), balance: null };
  await context.io.print(summaryView, { ...summary, exit: verdict.exit });
  const steps = stepsAfter(context, { job, options, input }, notRun);
  conclude(context, verdict, steps.slice(0, 1));
  endWith(context, verdict);
}

/** Exit 11 for a finished job; the hint has the commands that send again. */
function alreadyDone(
  context: Context,
  { job, options, input }: { job: Job; options: CarryOutOptions; input: JobInput | null },
  foreign: boolean,
): CliError {
  const { id, state } = job;
  const { counts, ended } = state;
  const doubt = counts.in_doubt > 0 ? `, ${grouped(counts.in_doubt)} in doubt` : '';
  const at = ended === null ? '' : ` at ${localTime(ended.at)}`;
  const under = foreign ? ', under another API key' : '';
  const later = laterStep(context, { job, options, input });
  const hints = [
    `${grouped(counts.accepted)} of ${grouped(counts.planned)} were accepted${doubt}, and nothing was sent this time.`,
    !foreign && movedHint(context, state),
    !foreign && doubt !== '' && `Its report names those in doubt (${reportCommand(context, id)}).`,
    !foreign && later !== null && `${later[0]} (${later[1]}).`,
    `To send to everyone again${doubt === '' ? '' : ', also to those who got it'}, add --again to the bulk command.`,
    !foreign && failedHint(context, { id, state }, options),
  ];
  const hint = hints.filter((each) => each !== false).join(' ');
  const details = { job: id, ended_at: ended?.at ?? null, ...counts };
  return refusedError('job_done', `the job ${id} finished${at}${under}`, hint, details);
}

function failedHint(
  context: Context,
  { id, state }: Pick<Job, 'id' | 'state'>,
  options: CarryOutOptions,
): string | false {
  if (state.counts.failed === 0) return false;
  const failed = counted(state.counts.failed, 'failed message');
  return `To send only the ${failed} again: ${retryCommand(context, id, keptOptions(options))}`;
}

const movedHint = ({ config }: Context, { counts, movedTo }: Job['state']): string | false =>
  movedTo[0] !== undefined &&
  `${grouped(counts.moved)} moved to ${movedTo.join(' or ')} (${config.commandLine(['jobs', 'show', movedTo[0]])}).`;

/** Exit 11 for a job whose acceptances all repeat earlier ones. */
export function ranElsewhere({ id, state }: Job): CliError {
  const at = state.ranAt === null ? '' : ` at ${localTime(state.ranAt)}`;
  return refusedError(
    'job_done',
    `the job ${id} already ran${at}, elsewhere or before its record was lost; nothing new was sent`,
    'To exit with 0, add --if-finished ok; to send to everyone again, add --again to the bulk command.',
    { job: id, ended_at: state.ranAt, ...state.counts },
  );
}

/** Whether `--skip-sent` has left out everyone. */
export const isAllSent = ({ alreadySent, meta }: PlanOutcome) => alreadySent > 0 && meta.rejected === 0;

/** Ends a command that has nobody to send to. Throws CliError (exit 11) without `--if-finished ok`. */
export function endAllSent(
  io: Context['io'],
  { alreadySent }: PlanOutcome,
  { uncertain }: Comparison,
  { ifFinished }: BulkOptions,
  { file, rows }: PlanSource,
): null {
  if (ifFinished !== 'ok')
    throw rows === undefined ? everyoneSent(alreadySent, uncertain) : sentSince(alreadySent, file);
  if (uncertain > 0) {
    io.conclude('Everyone in this list was in an earlier job; nothing was sent this time.');
    throw new Ended(exits.partly);
  }
  io.note('Everyone in this list was sent the message before; nothing was sent this time.');
  return null;
}

function everyoneSent(count: number, uncertain: number): CliError {
  const was = uncertain > 0 ? 'was in an earlier job' : 'was sent the same message from this machine';
  const what = `everyone in this list ${was} ${lately}`;
  return refusedSend('job_done', what, 'Add --again to send to them again.', { recipients: count });
}

function sentSince(count: number, job: string): CliError {
  const what = `another job has since sent the message of ${job} to all of these recipients`;
  return refusedSend('job_done', what, 'See: `urtuu jobs list`', { job, recipients: count });
}
