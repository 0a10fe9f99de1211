import { isMoved } from '../../../bulk/job/counts.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { moveTaken, Takers } from '../../../bulk/job/takers.js';
import { messageHashOf, PairSet } from '../../../bulk/plan/pair-set.js';
import type { FrozenPlan, PlannedRequest } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { counted } from '../../../text/wording.js';
import { otherJobs } from './sent-before.js';
import { refuseUnread } from './take.js';

/**
 * Before `--retry-failed` retries failed rows, moves those whose message another job has sent since this one started
 * to that job, so that nobody gets it twice. Rows that another job has only planned stay.
 */
export async function moveSentElsewhere(
  context: Pick<Context, 'io' | 'config' | 'clock' | 'network'>,
  job: Job,
): Promise<void> {
  const { id, plan, state, journal } = job;
  const failed = new Set(state.in('failed'));
  if (failed.size === 0) return;
  const takers = await Takers.in(context.config.stateDirectory);
  await moveTaken(job, takers);
  refuseUnread(takers);
  const { channel, baseUrl, created_at: at } = plan.meta;
  const pairs = new PairSet();
  for await (const request of requestsIn(plan, failed)) {
    const message = messageHashOf(request);
    for (const to of request.to) pairs.add(to, message);
  }
  const isOther = (other: string) => other !== id;
  await otherJobs(context, { channel, baseUrl, isOther, since: Date.parse(at) }).mark(pairs);
  let count = 0;
  for await (const request of requestsIn(plan, failed)) {
    const message = messageHashOf(request);
    const removed = state.removed(request.number);
    const takers = new Map<string, number[]>();
    for (const [index, to] of request.to.entries()) {
      const removal = removed.get(index);
      // Recorded here, since a request keeps its members for ever, and the other job may be removed.
      const taker = isMoved(removal) ? removal.to : pairs.sentBy(pairs.find(to, message));
      if (taker === null || (removal !== undefined && !isMoved(removal))) continue;
      takers.set(taker, [...(takers.get(taker) ?? []), index]);
    }
    for (const [taker, indexes] of takers) {
      count += indexes.filter((index) => !removed.has(index)).length;
      const { number } = request;
      const [revision, recipients] = [state.revision(number), request.to.length - removed.size];
      const entry = { type: 'moved', request: number, revision, indexes, recipients, job: taker } as const;
      await journal.append(entry);
      state.apply(entry);
    }
  }
  if (count === 0) return;
  const rows = counted(count, 'failed row');
  context.io.note(
    `${rows} left out: another job has the same message for them since. See: \`urtuu jobs show ${id}\``,
  );
}

/** The requests of a plan with these numbers. */
async function* requestsIn(
  plan: FrozenPlan,
  numbers: ReadonlySet<number>,
): AsyncGenerator<PlannedRequest, void> {
  for await (const request of plan.requests()) if (numbers.has(request.number)) yield request;
}
