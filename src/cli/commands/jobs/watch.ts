import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import { countsOf } from '../../bulk/job/counts.js';
import { type FollowedJob, followJob, type JobView, onJob } from '../../bulk/job/open-job.js';
import { runningOf } from '../../bulk/job/run-note.js';
import { summaryOf } from '../../bulk/results/summary.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import type { ExitCode } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { summaryExample } from '../../output/examples.js';
import { partOf, progressWords } from '../bulk/display.js';
import { conclude, endWith } from '../bulk/finish/conclude.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { stepAfterLook } from '../bulk/next-steps.js';
import { judgeJob, notRun } from '../bulk/verdict.js';
import { chosenJob } from './choose-job.js';

export const jobsWatch: CommandBody = (command, context) => {
  command
    .description('Follow a job until its process ends, print its summary, and exit as it did. Sends nothing.')
    .argument('[job]', 'name or id of the job (default: the only running one)');
  addHelp(command, {
    view: summaryView,
    effects: ['reads'],
    examples: [
      ['urtuu jobs watch july-offer', 'its progress, from another terminal'],
      ['urtuu jobs watch july-offer --quiet && echo done', 'in a script'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (given: string | undefined) => {
    const id =
      given ?? (await chosenJob(context, { verb: 'watch', fits: ({ state }) => state === 'running' }));
    const job = await followJob(context.config.stateDirectory, id);
    await showUntilEnded(context, job);
    await endAs(context, job);
  });
};

const lookEvery = 1_000;

/** Shows the progress of a job until no process runs it. */
async function showUntilEnded({ io, clock }: Pick<Context, 'io' | 'clock'>, job: FollowedJob): Promise<void> {
  const progress = io.progress();
  try {
    for (;;) {
      const { state, folder } = job;
      const running = await onJob(job, runningOf(folder, state, clock.now()));
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
async function endAs(context: Pick<Context, 'io' | 'config' | 'options'>, job: JobView): Promise<void> {
  const { state } = job;
  const isCancelled = !state.finished && (await cancelMarks(job)).length > 0;
  const ending = isCancelled ? { ...notRun, stopped: { by: 'cancel' as const } } : notRun;
  const verdict = judgeJob(state, ending, { lastExit: (state.ended?.exit ?? null) as ExitCode | null });
  await context.io.print(summaryView, { ...summaryOf(job), exit: verdict.exit });
  conclude(context, verdict, stepAfterLook(context, job));
  endWith(context, verdict);
}
