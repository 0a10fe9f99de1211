import { movedEntry } from '../../../bulk/job/moved-entry.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { type MessageHash, messageHashOf } from '../../../bulk/plan/sent-index.js';
import { counted } from '../../../text/wording.js';
import { addSends, type RecentContext, type Sends } from './recent-sends.js';
import { requestsIn } from './taken-rows.js';

/**
 * Before `--retry-failed` retries failed rows, moves those whose message another job has sent since this one started
 * to that job, so that nobody gets it twice. Rows that another job has only planned stay.
 */
export async function moveSentElsewhere(context: RecentContext, job: Job): Promise<void> {
  const { id, plan, state, journal } = job;
  const failed = new Map([...state.in('failed')].map((request) => [request, null]));
  if (failed.size === 0) return;
  const { channel, baseUrl, created_at: at } = plan.meta;
  const sent = new SentBy();
  for await (const request of requestsIn(plan, failed)) {
    const message = messageHashOf(request);
    for (const to of request.to) sent.watch(to, message);
  }
  const hasId = (other: string) => other !== id;
  await addSends(context, { channel, baseUrl, name: undefined }, sent, { hasId, since: Date.parse(at) });
  let count = 0;
  for await (const request of requestsIn(plan, failed)) {
    const message = messageHashOf(request);
    const removed = state.removed(request.number);
    const takers = new Map<string, number[]>();
    for (const [index, to] of request.to.entries()) {
      const taker = sent.by(to, message);
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

/** Which job sent the watched messages. */
class SentBy implements Sends {
  /** '' if no job has. */
  readonly #jobs = new Map<string, string>();

  watch(recipient: string, message: MessageHash): void {
    this.#jobs.set(keyOf(recipient, message), '');
  }

  addSent(recipient: string, message: MessageHash, job: string): void {
    const key = keyOf(recipient, message);
    if (this.#jobs.has(key)) this.#jobs.set(key, job);
  }

  addUncertain(recipient: string, message: MessageHash, job: string): void {
    this.addSent(recipient, message, job);
  }

  addOpen(): void {}

  by(recipient: string, message: MessageHash): string | null {
    return this.#jobs.get(keyOf(recipient, message)) || null;
  }
}

const keyOf = (recipient: string, { a, b }: MessageHash) => `${recipient} ${a} ${b}`;
