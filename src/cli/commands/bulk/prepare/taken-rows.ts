import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jobIds } from '../../../bulk/job/jobs-folder.js';
import { movedEntry } from '../../../bulk/job/moved-entry.js';
import { type Job, openJob } from '../../../bulk/job/open-job.js';
import { checksummedText, readChecksummedText } from '../../../bulk/plan/files/checksummed-text.js';
import type { FrozenPlan, PlannedRequest } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { CliError, machineError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { syncFolder } from '../../../platform/sync-folder.js';
import { writePrivateFile } from '../../../platform/write-private-file.js';
import { verdictOf } from '../finish/report-verdict.js';
import { MovedRows, rowsText } from './moved-rows.js';

type TakeContext = Pick<Context, 'config'>;

/** Rows that a job takes from another one, as places in its requests. */
export type TakenRows = [job: string, places: [request: number, indexes: number[]][]];

const takenFile = 'taken';
const takenKind = 'urtuu-taken';
const takenVersion = 1;

/** Records the rows to take, in the folder of a plan before it becomes a job, and before the first request. */
export async function recordTakenRows(
  folder: string,
  taken: readonly TakenRows[],
  sync: (folder: string) => Promise<void> = syncFolder,
): Promise<void> {
  if (taken.length === 0) return;
  const text = taken.map((each) => `${JSON.stringify(each)}\n`).join('');
  await writePrivateFile(join(folder, takenFile), checksummedText(takenKind, takenVersion, text));
  await sync(folder);
}

/**
 * Takes the recorded rows from their jobs, which then never send them; called at every start of the job until it
 * succeeds. Throws CliError (exit 11) if a row could be sent twice.
 */
export async function takeRows(context: TakeContext, { id: taker, folder }: Job): Promise<void> {
  const path = join(folder, takenFile);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw machineError(`cannot read ${path}`, error);
  });
  if (bytes === null) return;
  const known = await jobIds(context.config.stateDirectory);
  for (const [id, places] of parse(path, bytes)) {
    const job = await openJob(context.config.stateDirectory, id).catch(ifMissing);
    if (job === null) continue;
    try {
      await takeFrom(context, { taker, known }, job, new Map(places));
    } finally {
      await job.close();
    }
  }
  await rm(path, { force: true });
}

async function takeFrom(
  context: TakeContext,
  { taker, known }: { taker: string; known: readonly string[] },
  { id, plan, state, journal }: Job,
  places: ReadonlyMap<number, number[]>,
): Promise<void> {
  const { channel } = plan.meta;
  const entries = [];
  const others = new MovedRows(taker, known);
  let open = 0;
  for await (const request of requestsIn(plan, places)) {
    const indexes = places.get(request.number) ?? [];
    for (const index of indexes) {
      const verdict = verdictOf({ request, index, status: 'failed', channel }, state);
      if (verdict === 'moved') others.add(state.removed(request.number).get(index));
      else if (verdict !== 'move') open += 1;
    }
    if (open + others.count === 0) entries.push(movedEntry(request, state, indexes, taker));
  }
  if (open > 0) throw triedAgain(taker, id, open);
  if (others.count > 0) throw others.refusal(context, id);
  await Promise.all(entries.map((entry) => entry && journal.append(entry)));
}

/** The requests of a plan that have a place. */
export async function* requestsIn(
  plan: FrozenPlan,
  places: ReadonlyMap<number, unknown>,
): AsyncGenerator<PlannedRequest, void> {
  if (places.size === 0) return;
  for await (const request of plan.requests()) if (places.has(request.number)) yield request;
}

export function ifMissing(error: unknown): null {
  if (error instanceof CliError && error.exit === exits.missing) return null;
  throw error;
}

function parse(path: string, bytes: Buffer): TakenRows[] {
  const { kind, version, text } = readChecksummedText(bytes);
  if (kind !== takenKind || version !== String(takenVersion) || text === null) {
    throw new CliError('job_damaged', exits.machine, `${path} is damaged`, {
      hint: 'Remove this job, and start again with a new report of the job that its rows are from.',
    });
  }
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as TakenRows]));
}

function triedAgain(taker: string, id: string, count: number): CliError {
  const what = `the job ${id} has tried ${rowsText(count)} again since ${taker} took them`;
  return new CliError('rows_open', exits.refused, what, {
    hint: `Nothing was sent this time. Remove ${taker}, and start again with a new report of ${id}. To remove it: \`urtuu jobs remove ${taker} --force\``,
    details: { job: taker, from: id, rows: count },
  });
}
