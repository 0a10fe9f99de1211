import { movedEntry } from '../../../bulk/job/moved-entry.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { messageHashOf, PairSet } from '../../../bulk/plan/pair-set.js';
import type { Context } from '../../../context.js';
import { counted } from '../../../text/wording.js';
import { otherJobs } from './sent-before.js';
import { requestsIn } from './taken-rows.js';

/**
 * Before `--retry-failed` retries failed rows, moves those whose message another job has sent since this one started
 * to that job, so that nobody gets it twice. Rows that another job has only planned stay.
 */
export async function moveSentElsewhere(
  context: Pick<Context, 'io' | 'config' | 'clock' | 'network'>,
  job: Job,
): Promise<void> {
  const { id, plan, state, journal } = job;
  const failed = new Map([...state.in('failed')].map((request) => [request, null]));
  if (failed.size === 0) return;
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
      const taker = pairs.sentBy(pairs.find(to, message));
      if (taker === null || removed.has(index)) continue;
      takers.set(taker, [...(takers.get(taker) ?? []), index]);
    }
    for (const [taker, indexes] of takers) {
      const entry = movedEntry(request, state, indexes, taker);
      if (entry === null) continue;
      await journal.append(entry);
      state.apply(entry);
      count += indexes.length;
    }
  }
  if (count === 0) return;
  const rows = counted(count, 'failed row');
  context.io.note(
    `${rows} left out: another job has the same message for them since. See: \`urtuu jobs show ${id}\``,
  );
}
