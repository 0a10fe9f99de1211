import { createHash, randomBytes } from 'node:crypto';
import type { Channel } from '../../../contract/index.js';
import type { PlanMeta } from '../plan/plan.js';

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const runSuffix = /\.[0-9]+$/;

/** Whether a person may give a job this name: a safe file name that does not look like a repeat (`x.2`). */
export function isJobName(value: string): boolean {
  return name.test(value) && !runSuffix.test(value) && !value.endsWith('.');
}

/** The job's id when nobody named it: the same service, channel and plan give the same id everywhere. */
export function jobIdOf(plan: { baseUrl: string; channel: Channel; digest: string }): string {
  return `${plan.channel}-${sha256([plan.baseUrl, plan.channel, plan.digest]).digest('hex').slice(0, 20)}`;
}

/** The id of a deliberate repeat: `x`, `x.2`, `x.3` ... */
export function repeatId(base: string, run: number): string {
  return run === 1 ? base : `${base}.${run}`;
}

/** Which job and which of its runs an id names. */
export function readJobId(id: string): { base: string; run: number } {
  const suffix = runSuffix.exec(id)?.[0];
  return suffix === undefined
    ? { base: id, run: 1 }
    : { base: id.slice(0, -suffix.length), run: Number(suffix.slice(1)) };
}

/** What the idempotency keys of a job are made of, besides its id. */
export type KeyedPlan = Pick<PlanMeta, 'version' | 'baseUrl' | 'channel' | 'digest' | 'run'>;

/** The idempotency key of a request in one of its revisions. */
export type RequestKey = (request: number, revision: number) => string;

/**
 * The idempotency keys of a job. Nothing of this machine is in them: whoever has the job's name and the plan
 * makes the same keys, so that a lost journal costs a replay and not a second message, and another list or
 * text never meets them. A repeat (`--again`) has the random id of its run in them, and not its number, which
 * comes again when its folder goes. Jobs begun before version 2 of the plan keep the keys they began with.
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

/** The random id of a run that `--again` asked for. Two that meet would be one run, so the system makes it. */
export function newRunId(): string {
  return randomBytes(16).toString('hex');
}

function sha256(parts: readonly string[]) {
  return createHash('sha256').update(JSON.stringify(parts));
}
