import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Job, openJob, viewJob } from '../../bulk/job/open-job.js';
import { movedEntry } from '../../bulk/job/taken-rows.js';
import type { PlannedRequest } from '../../bulk/plan/plan.js';
import { openPlan } from '../../bulk/plan/plan-reader.js';
import type { Origins } from '../../bulk/plan/reported-rows.js';
import type { Context } from '../../context.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';
import { resumeOf } from './next-command.js';
import { type Outdated, verdictOf } from './report-verdict.js';

/** Rows of another job that this one takes over: places in its requests. */
type Taken = [job: string, places: [request: number, indexes: number[]][]];

const takenFile = 'taken';
const mark = 'urtuu-taken 1';

/**
 * Checks the rows of reports that a new job takes: none may be one that its own job would still send, or has sent
 * since. Gives those that have to be taken from their jobs before this one sends. Throws CliError (exit 11).
 */
export async function rowsToTake(context: Context, origins: Origins, again: boolean): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (const id of origins.jobs) {
    const statuses = origins.statusByLine(id);
    const job = await viewJob(context.config.stateDirectory, id).catch(ifMissing);
    if (job === null) {
      const pending = [...statuses.values()].filter((status) => status === 'pending').length;
      if (pending > 0 && !again) throw unknownJob(id, pending);
      continue;
    }
    const plan = await openPlan(job.folder).catch((error: Error) => {
      throw machineError(`the job ${id} cannot be read: ${error.message}`, error, 'Nothing was sent now.');
    });
    const wanted = new Map<number, Map<number, string>>();
    for await (const { line, place } of plan.rows()) {
      const status = statuses.get(line);
      if (status === undefined || place === null) continue;
      const ofRequest = wanted.get(place.request) ?? new Map<number, string>();
      wanted.set(place.request, ofRequest);
      ofRequest.set(place.index, status);
    }
    const places: Taken[1] = [];
    const outdated: Record<Outdated, number> = { open: 0, sent: 0 };
    for await (const request of requestsIn(plan.requests(), wanted)) {
      const moved: number[] = [];
      for (const [index, status] of wanted.get(request.number) ?? []) {
        const verdict = verdictOf({ request, index, status, channel: plan.meta.channel }, job.table);
        if (verdict === 'move') moved.push(index);
        else if (verdict !== 'free') outdated[verdict] += 1;
      }
      if (moved.length > 0) places.push([request.number, moved]);
    }
    if (outdated.open > 0) throw stillOpen(context, id, outdated.open, resumeOf(context, job));
    if (outdated.sent > 0) throw sentSince(context, id, outdated.sent);
    if (places.length > 0) taken.push([id, places]);
  }
  return taken;
}

/** Writes down, beside a plan that is no job yet, what its job has to take before it sends. */
export async function keepTaken(folder: string, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return;
  const text = taken.map((each) => `${JSON.stringify(each)}\n`).join('');
  await writeFile(join(folder, takenFile), `${mark} ${checksum(text)}\n${text}`, {
    mode: 0o600,
    flush: true,
  });
}

/**
 * Takes the rows from their jobs: after it these never send them. Before the first request of the new job, at
 * every start of it until it has succeeded. Throws CliError (exit 11) when one of them would be sent twice.
 */
export async function takeRows(context: Context, { id: taker, folder }: Job): Promise<void> {
  const path = join(folder, takenFile);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw machineError(`${path} could not be read`, error);
  });
  if (text === null) return;
  for (const [id, places] of parse(path, text)) {
    const job = await openJob(context.config.stateDirectory, id).catch(ifMissing);
    if (job === null) continue;
    try {
      await takeFrom(context, taker, job, new Map(places));
    } finally {
      await job.close();
    }
  }
  await rm(path, { force: true });
}

async function takeFrom(
  context: Context,
  taker: string,
  { id, plan, table, journal }: Job,
  places: ReadonlyMap<number, number[]>,
): Promise<void> {
  const entries = [];
  let open = 0;
  for await (const request of requestsIn(plan.requests(), places)) {
    const { number } = request;
    const indexes = places.get(number) ?? [];
    const phase = table.phase(number);
    const left = indexes.filter((index) => !table.removed(number).has(index));
    if (phase !== 'failed' && phase !== 'rejected') open += left.length;
    const entry = phase === 'failed' ? movedEntry(request, table, indexes) : null;
    if (entry !== null) entries.push(entry);
  }
  if (open > 0) throw notTaken(context, taker, id, open);
  await Promise.all(entries.map((entry) => journal.append(entry)));
}

async function* requestsIn(
  requests: AsyncIterable<PlannedRequest>,
  wanted: ReadonlyMap<number, unknown>,
): AsyncGenerator<PlannedRequest, void> {
  if (wanted.size > 0) for await (const request of requests) if (wanted.has(request.number)) yield request;
}

function ifMissing(error: unknown): null {
  if (error instanceof CliError && error.exit === exits.missing) return null;
  throw error;
}

function parse(path: string, text: string): Taken[] {
  const end = text.indexOf('\n') + 1;
  const rest = text.slice(end);
  if (text.slice(0, end) !== `${mark} ${checksum(rest)}\n`) {
    throw new CliError('job_damaged', exits.machine, `${path} is not as it was written`, {
      hint: 'Remove this job, and make a new report of the one that its rows are from.',
    });
  }
  return rest.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Taken]));
}

const checksum = (text: string) => createHash('sha256').update(text).digest('hex');

const rowsOf = (count: number) => `${grouped(count)} of these rows`;

function stillOpen(context: Context, id: string, count: number, goOn: string): CliError {
  const report = context.config.commandLine(['jobs', 'report', id], { '--report': `${id}.csv` });
  return new CliError('rows_open', exits.refused, `the job ${id} itself would still send ${rowsOf(count)}`, {
    hint: `Nothing was sent now. Write a new report once it has finished (${report}); to finish it: ${goOn}`,
    details: { job: id, rows: count },
  });
}

function notTaken(context: Context, taker: string, id: string, count: number): CliError {
  const report = context.config.commandLine(['jobs', 'report', id], { '--report': `${id}.csv` });
  return new CliError(
    'rows_open',
    exits.refused,
    `the job ${id} has tried ${rowsOf(count)} again since ${taker} took them`,
    {
      hint: `Nothing was sent now. Remove ${taker} (urtuu jobs remove ${taker} --force) and begin with a new report: ${report}`,
      details: { job: taker, from: id, rows: count },
    },
  );
}

function sentSince(context: Context, id: string, count: number): CliError {
  return new CliError(
    'rows_sent',
    exits.refused,
    `the job ${id} has sent ${rowsOf(count)} since the report`,
    {
      hint: `Nothing was sent now. Write a new report: ${context.config.commandLine(['jobs', 'report', id], { '--report': `${id}.csv` })}`,
      details: { job: id, rows: count },
    },
  );
}

function unknownJob(id: string, count: number): CliError {
  return new CliError(
    'rows_open',
    exits.refused,
    `the job ${id} is not on this machine, and may still send ${rowsOf(count)}`,
    {
      hint: 'Finish it where it was started. Where that cannot be any more, add --again to send these rows.',
      details: { job: id, rows: count },
    },
  );
}
