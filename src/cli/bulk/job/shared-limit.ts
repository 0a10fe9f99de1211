import { existsSync } from 'node:fs';
import { machineError } from '../../errors.js';
import { readPlanMeta } from '../plan/files/plan-reader.js';
import type { PlanMeta } from '../plan/plan.js';
import { folderOf, jobIds } from './jobs-folder.js';
import { viewJobIfAny } from './open-job.js';

/** What is left of a limit that jobs share. */
export interface SharedLimit {
  /** Credits. */
  left: number;
  /** The job whose limit it is. */
  of: string;
  limit: number;
  /** Unfinished jobs, without held ones; the limits of both are kept for them. */
  unfinished: string[];
}

type Like = NonNullable<PlanMeta['like']>;

/**
 * The lowest that the limits of the jobs of `like` leave for the job `taker`: of each limit, what its job and all jobs
 * that name it have spent and may spend is taken off. Only under the start lock is it still true when `taker` records it.
 * Null without a limit. Throws CliError (exit 13) if a job cannot be read, because it may have spent some of it.
 */
export async function sharedLimit(
  stateDirectory: string,
  like: Like,
  taker: string,
): Promise<SharedLimit | null> {
  const jobs = new Map<string, Spender>();
  const add = async (id: string) => {
    const job = jobs.get(id) ?? (await readSpender(stateDirectory, id));
    if (job !== null) jobs.set(id, job);
  };
  for (const { job } of like) await add(job);
  const sources = [...jobs.values()].filter((job) => job.limit !== null && names(like, job));
  if (sources.length === 0) return null;
  for (const id of await jobIds(stateDirectory)) {
    const ofOther = await likeOf(stateDirectory, id);
    if (sources.some((source) => names(ofOther, source))) await add(id);
  }
  const shares = sources.map((source): SharedLimit => {
    const others = [...jobs.values()].filter(
      (job) => job.id !== taker && (job === source || names(job.like, source)),
    );
    const limit = source.limit ?? 0;
    const taken = others.reduce((sum, job) => sum + job.taken, 0);
    const unfinished = others.filter((job) => job.isUnfinished && !job.isHeld).map(({ id }) => id);
    return { left: Math.max(0, limit - taken), of: source.id, limit, unfinished };
  });
  return shares.reduce((lowest, share) => (share.left < lowest.left ? share : lowest));
}

/** Another plan is an earlier job of the same name. */
const names = (like: Like, { id, digest }: Pick<Spender, 'id' | 'digest'>) =>
  like.some((each) => each.job === id && each.digest === digest);

/** The little that is kept of a job, because there may be many large ones. */
interface Spender {
  id: string;
  digest: string;
  like: Like;
  limit: number | null;
  /** What it has spent; if it is unfinished, what it may spend in all, even if prices rise. */
  taken: number;
  isUnfinished: boolean;
  isHeld: boolean;
}

/** Null for a job that was removed. */
async function readSpender(stateDirectory: string, id: string): Promise<Spender | null> {
  const job = await viewJobIfAny(stateDirectory, id);
  if (job === null) return null;
  const { digest, like = [], credits: planned } = job.meta;
  const { credits, limit, finished, counts, held: isHeld } = job.state;
  // What is in doubt may have been charged.
  const isUnfinished = !finished || counts.in_doubt > 0;
  const taken = isUnfinished ? Math.max(credits, limit ?? planned) : credits;
  return { id, digest, like, limit, taken, isUnfinished, isHeld };
}

async function likeOf(stateDirectory: string, id: string): Promise<Like> {
  const folder = folderOf(stateDirectory, id);
  try {
    return (await readPlanMeta(folder)).like ?? [];
  } catch (error) {
    if (!existsSync(folder)) return [];
    const hint = 'Remove that job, or set --max-credits here.';
    const what = `cannot read what the job ${id} has spent: ${(error as Error).message}`;
    throw machineError(what, error, hint);
  }
}
