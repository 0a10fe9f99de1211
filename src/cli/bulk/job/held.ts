import { type CliError, refusedSend } from '../../errors.js';
import type { JobView } from './open-job.js';

/** How people name a plan: the first characters of its digest. */
export const planName = (digest: string): string => digest.slice(0, 8);

/** Exit 11 for a held job: only a command with its name and plan starts it. `command`: that one. */
export function jobHeld(
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
  command: string,
): CliError {
  const details = { job: id, plan: planName(meta.digest), ...state.counts };
  return refusedSend('job_held', `the job ${id} is held`, `To send it: ${command}`, details);
}
