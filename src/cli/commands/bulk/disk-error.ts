import type { Channel } from '../../../contract/index.js';
import { jobIds } from '../../bulk/job/jobs-folder.js';
import { readJobId } from '../../bulk/job/keys.js';
import { type JobView, viewJob } from '../../bulk/job/open-job.js';
import { isSystemError } from '../../bulk/job/system-error.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { grouped } from '../../text/wording.js';
import { type ResumeContext, resumeOf } from './next-command.js';

interface RequestedJob {
  channel: Channel;
  file: string;
  /** The value of `--job`. */
  name: string | undefined;
}

/**
 * The error of a job that could not be written to disk: exit 13, nothing was sent this time. If an earlier run of the
 * same job sent something, it names the command to resume it. Other errors are passed on.
 */
export async function explainDiskError(
  context: ResumeContext,
  error: unknown,
  requested: RequestedJob,
): Promise<unknown> {
  const isSystem = isSystemError(error);
  if (!isSystem && !isRefusedByDisk(error)) return error;
  const what = isSystem ? `cannot save the job (${error.code})` : error.message;
  const earlier = await unfinishedJob(context.config.stateDirectory, requested).catch(() => null);
  if (earlier !== null) return resumable(context, `${what}; nothing was sent this time`, error, earlier);
  return isSystem ? machineError(`${what}; nothing was sent`, error) : error;
}

function isRefusedByDisk(error: unknown): error is CliError {
  if (!(error instanceof CliError) || error.exit !== exits.machine) return false;
  return ['ENOSPC', 'EDQUOT', 'EROFS'].includes(String(error.details.errno));
}

function resumable(context: ResumeContext, what: string, error: Error, job: JobView): CliError {
  const { accepted, in_doubt, pending } = job.state.counts;
  const earlier = `earlier, ${job.id} had ${grouped(accepted)} accepted, ${grouped(in_doubt)} in doubt, ${grouped(pending)} not sent yet`;
  return machineError(`${what}; ${earlier}`, error, `Make room, then resume with: ${resumeOf(context, job)}`);
}

/** The unfinished job of the same name, or the newest one of the same file. */
async function unfinishedJob(
  stateDirectory: string,
  { channel, file, name }: RequestedJob,
): Promise<JobView | null> {
  let found: JobView | null = null;
  for (const id of await jobIds(stateDirectory)) {
    if (name !== undefined && readJobId(id).base !== name) continue;
    const job = await viewJob(stateDirectory, id).catch(() => null);
    if (job === null || job.state.finished || job.state.untouched) continue;
    const { meta } = job;
    if (meta.channel !== channel || meta.source !== file) continue;
    if (found === null || meta.created_at > found.meta.created_at) found = job;
  }
  return found;
}
