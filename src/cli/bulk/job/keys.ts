import { createHash, randomBytes } from 'node:crypto';
import type { Channel } from '../../../contract/index.js';
import type { PlanMeta } from '../plan/plan.js';

export const longestName = 100;
const name = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const runSuffix = /\.[0-9]+$/;

/** Whether a name is valid for `--job`: a safe file name that does not look like a repeat (`x.2`). */
export function isJobName(value: string): boolean {
  return value.length <= longestName && name.test(value) && !runSuffix.test(value) && !value.endsWith('.');
}

/** The id of a job without `--job`: on every machine the same for the same service, channel and plan. */
export function jobIdOf(plan: { baseUrl: string; channel: Channel; digest: string }): string {
  return `${plan.channel}-${sha256([plan.baseUrl, plan.channel, plan.digest]).digest('hex').slice(0, 20)}`;
}

/** The id of a deliberate repeat: `x`, `x.2`, `x.3` ... */
export function repeatId(base: string, run: number): string {
  return run === 1 ? base : `${base}.${run}`;
}

export function readJobId(id: string): { base: string; run: number } {
  const suffix = runSuffix.exec(id)?.[0];
  return suffix === undefined
    ? { base: id, run: 1 }
    : { base: id.slice(0, -suffix.length), run: Number(suffix.slice(1)) };
}

export type KeyedPlan = Pick<PlanMeta, 'version' | 'baseUrl' | 'channel' | 'digest' | 'run'>;

export type RequestKey = (request: number, revision: number) => string;

/**
 * The idempotency keys of a job. The job's name and the plan determine them on every machine, so a lost journal costs a
 * replay and not a second message, and another list or text has other keys. Keys of a repeat (`--again`) use the random
 * id of its run instead of its number, which is reused once its folder is removed. Jobs with plan version 1 keep their
 * keys.
 */
export function requestKeys(jobId: string, plan: KeyedPlan): RequestKey {
  const { base } = readJobId(jobId);
  const { version, baseUrl, channel, digest, run } = plan;
  return (request, revision) => {
    const place = [String(request), String(revision)];
    const parts =
      version === 1
        ? [jobId, ...place]
        : [base, baseUrl, channel, digest, ...place, ...(run === null ? [] : [run])];
    return `bulk-${sha256(parts).digest('base64url')}`;
  };
}

/** The idempotency key of a proof: that of a row of a plan, to somebody else. */
export function proofKey({ baseUrl, channel, digest, run }: KeyedPlan, row: number, to: string): string {
  const parts = [baseUrl, channel, digest, String(row), to, ...(run === null ? [] : [run])];
  return `proof-${sha256(parts).digest('base64url')}`;
}

/** The random id of a repeat (`--again`). Equal ids would mean the same run, so it never comes from a test's seed. */
export function newRunId(): string {
  return randomBytes(16).toString('hex');
}

function sha256(parts: readonly string[]) {
  return createHash('sha256').update(JSON.stringify(parts));
}
