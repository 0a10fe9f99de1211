import { isSameBaseUrl } from '../../../contract/index.js';
import type { JobView } from '../../bulk/job/open-job.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { Context } from '../../context.js';
import { refusedError } from '../../errors.js';

/** The base URL of a new plan; its job sends only there. */
export async function baseUrlOf(config: Context['config']): Promise<string> {
  return config.sandbox ? sandboxBaseUrl : (await config.settings()).baseUrl;
}

/** Throws CliError (exit 11) for a service other than the job's, where its idempotency keys mean nothing. */
export async function refuseOtherService(
  { config }: Pick<Context, 'config'>,
  job: Pick<JobView, 'id' | 'meta'>,
): Promise<void> {
  const planned = job.meta.baseUrl;
  const chosen = await baseUrlOf(config);
  if (isSameBaseUrl(planned, chosen)) return;
  const isSandbox = planned === sandboxBaseUrl;
  throw refusedError(
    'other_service',
    `the job ${job.id} is for ${serviceAt(planned)}${isSandbox ? '' : `, not ${serviceAt(chosen)}`}`,
    isSandbox ? 'Add --sandbox.' : 'Use the --profile or --base-url of that service.',
    { job: job.id, base_url: planned },
  );
}

/** A service, for people. */
export function serviceAt(baseUrl: string): string {
  return baseUrl === sandboxBaseUrl ? 'the embedded service (--sandbox)' : baseUrl;
}
