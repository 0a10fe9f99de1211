import type { Channel } from '../../../contract/index.js';
import { isSystemError } from '../../bulk/job/append-file.js';
import { readJobId } from '../../bulk/job/keys.js';
import { type JobView, jobIds, viewJob } from '../../bulk/job/open-job.js';
import type { Context } from '../../context.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';
import { resumeOf } from './next-command.js';

/** What a person asked to send. */
export interface Wish {
  channel: Channel;
  file: string;
  /** Of `--job`. */
  name: string | undefined;
}

/**
 * What this machine refused before anything was sent now. An earlier run of the same may have sent some, and its
 * plan is still there: then that is what goes on.
 */
export async function notKept(context: Context, error: unknown, wish: Wish): Promise<unknown> {
  const isOurs = isSystemError(error);
  if (!isOurs && !isFullDisk(error)) return error;
  const refused = isOurs ? `the job could not be kept (${error.code})` : error.message;
  const begun = await begunJob(context, wish).catch(() => null);
  if (begun !== null) return goesOn(context, `${refused}; nothing was sent now`, error, begun);
  return isOurs ? machineError(`${refused}; nothing was sent`, error) : error;
}

/** What an error of this machine was made of. */
function isFullDisk(error: unknown): error is CliError {
  if (!(error instanceof CliError) || error.exit !== exits.machine) return false;
  return ['ENOSPC', 'EDQUOT', 'EROFS'].includes(String(error.details.errno));
}

function goesOn(context: Context, refused: string, error: Error, job: JobView): CliError {
  const { accepted, in_doubt, pending } = job.table.tally;
  const earlier = `earlier, ${job.id} had ${grouped(accepted)} accepted, ${grouped(in_doubt)} in doubt, ${grouped(pending)} not sent yet`;
  const hint = `Make room, then go on with: ${resumeOf(context, job)}`;
  return machineError(`${refused}; ${earlier}`, error, hint);
}

/** The job that the same command began and did not finish: by its name, or else the latest of the same file. */
async function begunJob(context: Context, { channel, file, name }: Wish): Promise<JobView | null> {
  let found: JobView | null = null;
  for (const id of await jobIds(context.config.stateDirectory)) {
    if (name !== undefined && readJobId(id).base !== name) continue;
    const job = await viewJob(context.config.stateDirectory, id).catch(() => null);
    if (job === null || job.table.finished || job.table.untouched) continue;
    const { meta } = job;
    if (meta.channel !== channel || meta.source !== file) continue;
    if (found === null || meta.created_at > found.meta.created_at) found = job;
  }
  return found;
}
