import { isSameBaseUrl } from '../../../contract/index.js';
import { type FrozenPlan, sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';

/** The base URL of a new plan; its job sends only there. */
export async function baseUrlOf(config: Context['config']): Promise<string> {
  return config.sandbox ? sandboxBaseUrl : (await config.settings()).baseUrl;
}

/** Throws CliError (exit 11) for a service other than the job's, where its idempotency keys mean nothing. */
export async function refuseOtherService(
  { config }: Pick<Context, 'config'>,
  job: { id: string; plan: Pick<FrozenPlan, 'meta'> },
): Promise<void> {
  const planned = job.plan.meta.baseUrl;
  const chosen = await baseUrlOf(config);
  if (isSameBaseUrl(planned, chosen)) return;
  throw new CliError(
    'other_service',
    exits.refused,
    `the job ${job.id} is for ${serviceAt(planned)}${planned === sandboxBaseUrl ? '' : `, not ${serviceAt(chosen)}`}`,
    {
      hint:
        planned === sandboxBaseUrl ? 'Add --sandbox.' : 'Use the --profile or --base-url of that service.',
      details: { job: job.id, base_url: planned },
    },
  );
}

/** A service, for people. */
export function serviceAt(baseUrl: string): string {
  return baseUrl === sandboxBaseUrl ? 'the embedded service (--sandbox)' : baseUrl;
}
