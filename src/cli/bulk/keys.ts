import { createHash } from 'node:crypto';
import type { Channel } from '../../contract/index.js';

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

/**
 * The idempotency key of a chunk. Nothing in it is random or of this machine: whoever has the job's id and
 * the plan makes the same key, so that a lost journal costs a replay and not a second message.
 */
export function chunkKey(jobId: string, chunk: number, revision: number): string {
  return `bulk-${sha256([jobId, String(chunk), String(revision)]).digest('base64url')}`;
}

function sha256(parts: readonly string[]) {
  return createHash('sha256').update(JSON.stringify(parts));
}
