import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import { countsOf } from '../../bulk/job/counts.js';
import { type FollowedJob, type JobView, jobError } from '../../bulk/job/open-job.js';
import { runningOf } from '../../bulk/job/run-note.js';
import { summaryOfView } from '../../bulk/results/summary.js';
import type { Ending } from '../../bulk/send/ending.js';
import type { NextStep } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { Ended } from '../../errors.js';
import { type ExitCode, exits } from '../../exit-codes.js';
import { partOf, progressWords } from '../bulk/display.js';
import { attachFinalDoubt, exitOfJob, lastLine } from '../bulk/finish/outcome.js';
import { outcomeStep } from '../bulk/finish/outcome-step.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { failedSteps, inOne, resumeOf, stepsOfFinished } from '../bulk/next-command.js';

const lookEvery = 1_000;

/** Shows the progress of a job until no process runs it. */
export async function showUntilEnded(
  { io, clock }: Pick<Context, 'io' | 'clock'>,
  job: FollowedJob,
): Promise<void> {
  const progress = io.progress();
  try {
    for (;;) {
      const { state, folder } = job;
      const running = await runningOf(folder, state, clock.now()).catch((error) => {
        throw jobError(job, error);
      });
      // The process may have recorded its end after the last read.
      if (running === null) return await job.update();
      const waits = state.finished && !state.final;
      const { rate, seconds_left: secondsLeft } = running;
      // Requests in flight are in doubt only if their process was killed.
      const counts = countsOf(state, state.unanswered);
      const words = progressWords({ counts, credits: state.credits }, { waits, rate, secondsLeft });
      progress.update(words, partOf(counts, waits));
      await clock.sleep(lookEvery);
      await job.update();
    }
  } finally {
    progress.stop();
  }
}

/** Prints the summary of a job that no process runs, and ends with its exit code. */
export async function endAs(
  context: Pick<Context, 'io' | 'config' | 'options'>,
  job: JobView,
): Promise<void> {
  const { io } = context;
  const { state } = job;
  const isCancelled = !state.finished && (await cancelMarks(job)).length > 0;
  const ending: Ending = { stopped: isCancelled ? { by: 'cancel' } : null, waited: null };
  const exit = exitOf(state, ending);
  await io.print(summaryView, { ...summaryOfView(job), exit });
  const next: NextStep | null = state.finished
    ? (outcomeStep(context, job, ending) ??
      stepsOfFinished(context, job, null, null)[0] ??
      failedSteps(context, job, undefined, null)[0] ??
      null)
    : ['Resume with:', resumeOf(context, job)];
  const line = lastLine(state, ending, next);
  if (exit === exits.ok) return io.note(...inOne(line));
  attachFinalDoubt(context, state, exit);
  io.conclude(...line);
  throw new Ended(exit);
}

/**
 * The exit code of the last run, unless the state says more: a later run may have been killed, a report may have
 * raised an alarm, a receipt may have arrived, and another job may have taken failed rows.
 */
function exitOf(state: JobView['state'], ending: Ending): ExitCode {
  const ended = state.ended?.exit as ExitCode | undefined;
  if (ended === undefined) return exitOfJob(state, ending);
  const now = exitOfJob(state, ending, { ranElsewhere: endsJob.has(ended) ? 'ok' : 'refused' });
  const isOutdated = now === exits.doubt || endsJob.has(ended);
  return isOutdated ? now : ended;
}

/** The exit codes of a finished job. */
const endsJob: ReadonlySet<ExitCode> = new Set([exits.ok, exits.partly, exits.input, exits.notSent]);
