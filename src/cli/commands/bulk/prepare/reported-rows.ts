import { jobIds } from '../../../bulk/job/jobs-folder.js';
import { type JobView, viewJob } from '../../../bulk/job/open-job.js';
import { openPlan } from '../../../bulk/plan/files/plan-reader.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { ReportedRows } from '../../../bulk/plan/reported-rows.js';
import { CliError, machineError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { type Outdated, verdictOf } from '../finish/report-verdict.js';
import { type ResumeContext, reportCommand, resumeOf } from '../next-command.js';
import { MovedRows, rowsText } from './moved-rows.js';
import { ifMissing, requestsIn, type TakenRows } from './taken-rows.js';

/**
 * Checks the rows of a new job that come from reports of other jobs. Returns those to take from their jobs before it
 * sends. Throws CliError (exit 11) if a job would still send such a row, or has sent it since the report.
 */
export async function checkReportedRows(
  context: ResumeContext,
  reported: ReportedRows,
  { taker, again = false }: { taker: string; again?: boolean | undefined },
): Promise<TakenRows[]> {
  const taken: TakenRows[] = [];
  const ids = await jobIds(context.config.stateDirectory);
  const newMoved = () => new MovedRows(taker, ids);
  for (const id of reported.jobs) {
    const statuses = reported.statusByLine(id);
    const job = await viewJob(context.config.stateDirectory, id).catch(ifMissing);
    if (job === null) {
      const pending = [...statuses.values()].filter((status) => status === 'pending').length;
      if (pending > 0 && !again) throw unknownJob(id, pending);
      continue;
    }
    const places = await placesToTake(context, job, statuses, again ? null : newMoved());
    if (places.length > 0) taken.push([id, places]);
  }
  return taken;
}

async function placesToTake(
  context: ResumeContext,
  job: JobView,
  statuses: ReadonlyMap<number, string>,
  /** Collects the rows that other jobs took; null to send to them again. */
  others: MovedRows | null,
): Promise<TakenRows[1]> {
  const { id, folder, state } = job;
  const plan = await openPlan(folder).catch((error: Error) => {
    throw machineError(`cannot read the job ${id}: ${error.message}`, error, 'Nothing was sent this time.');
  });
  const wanted = await placesOf(plan, statuses);
  const places: TakenRows[1] = [];
  const outdated: Record<Outdated, number> = { open: 0, sent: 0 };
  for await (const request of requestsIn(plan, wanted)) {
    const moved: number[] = [];
    for (const [index, status] of wanted.get(request.number) ?? []) {
      const verdict = verdictOf({ request, index, status, channel: plan.meta.channel }, state);
      if (verdict === 'move') moved.push(index);
      else if (verdict === 'moved') others?.add(state.removed(request.number).get(index));
      else if (verdict !== 'free') outdated[verdict] += 1;
    }
    if (moved.length > 0) places.push([request.number, moved]);
  }
  if (outdated.open > 0) throw stillOpen(context, job, outdated.open);
  if (outdated.sent > 0) throw sentSince(context, id, outdated.sent);
  if (others !== null && others.count > 0) throw others.refusal(context, id);
  return places;
}

/** The reported status of rows by request and index. */
async function placesOf(
  plan: FrozenPlan,
  statuses: ReadonlyMap<number, string>,
): Promise<Map<number, Map<number, string>>> {
  const places = new Map<number, Map<number, string>>();
  for await (const { line, place } of plan.rows()) {
    const status = statuses.get(line);
    if (status === undefined || place === null) continue;
    const ofRequest = places.get(place.request) ?? new Map<number, string>();
    places.set(place.request, ofRequest);
    ofRequest.set(place.index, status);
  }
  return places;
}

function stillOpen(context: ResumeContext, job: JobView, count: number): CliError {
  const { id } = job;
  return new CliError(
    'rows_open',
    exits.refused,
    `the job ${id} would still send ${rowsText(count)} itself`,
    {
      hint: `Nothing was sent this time. Write a new report once it has finished. To finish it: ${resumeOf(context, job)}`,
      details: { job: id, rows: count },
    },
  );
}

function sentSince(context: ResumeContext, id: string, count: number): CliError {
  const what = `the job ${id} has sent ${rowsText(count)} since the report`;
  return new CliError('rows_sent', exits.refused, what, {
    hint: `Nothing was sent this time. Write a new report: ${reportCommand(context, id)}`,
    details: { job: id, rows: count },
  });
}

function unknownJob(id: string, count: number): CliError {
  const what = `the job ${id} is not on this machine, and may still send ${rowsText(count)}`;
  return new CliError('rows_open', exits.refused, what, {
    hint: 'Finish it where it was started. If that is impossible, add --again to send these rows.',
    details: { job: id, rows: count },
  });
}
